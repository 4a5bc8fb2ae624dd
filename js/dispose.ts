/**
 * Lets `using` free the objects of a class, in engines that know it.
 * @internal
 */
export function makeDisposable(prototype: { free(): void }): void {
  if (typeof Symbol.dispose !== 'symbol') return
  Object.defineProperty(prototype, Symbol.dispose, {
    value(this: { free(): void }) {
      this.free()
    },
    configurable: true,
    writable: true,
  })
}
