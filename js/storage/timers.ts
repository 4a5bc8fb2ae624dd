// The timers as they were when this package was loaded. Test frameworks replace the global ones with timers that only a test
// advances, and a waiting lock must not depend on that.
const { setTimeout, clearTimeout } = globalThis

export { clearTimeout }

/** The longest delay of a timer. A longer one would be taken for none. */
const LONGEST = 2 ** 31 - 1

/** Calls `work` after a time in milliseconds, unless `clearTimeout` is called before. */
export function startTimer(milliseconds: number, work: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(work, Math.min(milliseconds, LONGEST))
}

/** Lets the process end before the timer does. Timers of browsers and of test frameworks have no such method. */
export function unref(timer: unknown): void {
  const { unref } = Object(timer) as { unref?: () => void }
  unref?.call(timer)
}
