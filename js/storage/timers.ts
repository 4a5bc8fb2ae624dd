// The timers as they were when this package was loaded: test frameworks replace the global ones by timers that only a
// test advances, and a lock that waits must not depend on that.
const { setTimeout, clearTimeout } = globalThis

export { clearTimeout, setTimeout }
