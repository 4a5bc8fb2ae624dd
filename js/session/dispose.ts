declare global {
  // From lib.esnext.disposable, for projects that compile against an older one.
  interface SymbolConstructor {
    readonly dispose: unique symbol
    readonly asyncDispose: unique symbol
  }
}

/**
 * Lets `using` free the objects of a class, in engines that support it.
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

/**
 * Lets `await using` save an object and then free it, in engines that support it. An object that the block freed is
 * not saved, and one that cannot be saved is not freed.
 * @internal
 */
export function makeAsyncDisposable(prototype: {
  save(): Promise<void>
  free(): void
  readonly isFreed: boolean
}): void {
  if (typeof Symbol.asyncDispose !== 'symbol') return
  Object.defineProperty(prototype, Symbol.asyncDispose, {
    async value(this: typeof prototype) {
      if (this.isFreed) return
      await this.save()
      this.free()
    },
    configurable: true,
    writable: true,
  })
}
