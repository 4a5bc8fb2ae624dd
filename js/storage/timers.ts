// The timers as they were when this package was loaded. Test frameworks replace the global ones with timers that only a test
// advances, and a waiting lock must not depend on that.
const { setTimeout, clearTimeout } = globalThis

export { clearTimeout, setTimeout }
