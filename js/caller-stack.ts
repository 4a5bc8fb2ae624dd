import { SessionError } from './errors.js'

type Callable = (...args: never[]) => unknown
type Constructor = abstract new (...args: never[]) => unknown

/** Errors whose stack begins at their caller already, such as those from a call in a callback of the user. */
const pointed = new WeakSet<SessionError>()

/** The frames of this file that are above that of a wrapper. */
const OWN_FRAMES = 3

/**
 * Wraps a public function so that the stack of an error of this package begins at the caller: the frames of the module
 * and of the glue would hide that line, since engines keep only a few. The error of a returned promise is treated likewise.
 *
 * @internal
 */
export function withCallerStack<F extends Callable>(name: string, original: F): F {
  function wrapper(this: unknown, ...args: never[]): unknown {
    let result: unknown
    try {
      result = original.apply(this, args)
    } catch (error) {
      throw pointAtCaller(error, wrapper)
    }
    return result instanceof Promise ? rejectingAtCaller(result, wrapper) : result
  }
  Object.defineProperty(wrapper, 'name', { value: name, configurable: true })
  Object.defineProperty(wrapper, 'length', { value: original.length, configurable: true })
  return wrapper as unknown as F
}

/**
 * Wraps the methods and accessors of a class, or the methods of an object, as {@link withCallerStack} does; `except` names
 * those that only the package itself calls.
 *
 * @internal
 */
export function wrapMethods<T extends object>(target: T, except: readonly string[] = []): T {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(target))) {
    if (name === 'constructor' || except.includes(name) || descriptor.configurable !== true) continue
    const { value, get, set } = descriptor
    if (typeof value === 'function') descriptor.value = withCallerStack(name, value)
    if (get !== undefined) descriptor.get = withCallerStack(`get ${name}`, get)
    if (set !== undefined) descriptor.set = withCallerStack(`set ${name}`, set)
    Object.defineProperty(target, name, descriptor)
  }
  if (typeof target === 'function') wrapMethods((target as { readonly prototype: object }).prototype, except)
  return target
}

/**
 * Runs the part of a constructor that may fail, so that its errors point at the caller of the constructor.
 *
 * @internal
 */
export function constructing<T>(callee: Constructor, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw pointAtCaller(error, callee)
  }
}

function pointAtCaller(error: unknown, callee: Callable | Constructor): unknown {
  if (error instanceof SessionError && !pointed.has(error)) setFrames(error, framesAbove(callee))
  return error
}

/** The frames are captured at the call: once the promise is rejected, the caller is no longer on the stack. */
function rejectingAtCaller(promise: Promise<unknown>, callee: Callable): Promise<unknown> {
  const frames = framesAbove(callee)
  return promise.catch((error: unknown) => {
    if (error instanceof SessionError && !pointed.has(error)) setFrames(error, frames)
    throw error
  })
}

/** Holds the frames above a function. In V8 they become text only when `stack` is read. */
function framesAbove(callee: Callable | Constructor): { readonly stack?: unknown } {
  if (typeof Error.captureStackTrace === 'function') {
    const holder: { stack?: unknown } = {}
    Error.captureStackTrace(holder, callee)
    return holder
  }
  const lines = (new Error().stack ?? '').split('\n')
  // Some engines put the error itself in front.
  if (lines[0] === 'Error') lines.shift()
  return { stack: lines.slice(OWN_FRAMES).join('\n') }
}

function setFrames(error: SessionError, { stack }: { readonly stack?: unknown }): void {
  // Where `Error.prepareStackTrace` is replaced, the stack may be anything.
  if (typeof stack !== 'string') return
  pointed.add(error)
  const frames = stack.search(/^\s+at /m)
  error.stack = frames === -1 ? stack : `${error.name}: ${error.message}\n${stack.slice(frames)}`
}
