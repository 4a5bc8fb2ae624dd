/** A case of the conformance suite rejects with this error if the adapter does not meet the requirement. */
export class ConformanceError extends Error {
  override name = 'ConformanceError'
}

export function expect(isRight: boolean, message: string): asserts isRight {
  if (!isRight) throw new ConformanceError(message)
}

export function expectBytes(found: unknown, expected: Uint8Array, what: string): void {
  expect(found instanceof Uint8Array, `${what}: expected a Uint8Array, found ${kindOf(found)}`)
  expect(found.length === expected.length, `${what}: expected ${expected.length} bytes, found ${found.length}`)
  const difference = found.findIndex((byte, index) => byte !== expected[index])
  expect(difference === -1, `${what}: byte ${difference} is ${found[difference]}, not ${expected[difference]}`)
}

/** Expects an array with these names, in any order. */
export function expectNames(found: unknown, expected: readonly string[], what: string): void {
  expect(Array.isArray(found), `${what}: expected an array, found ${kindOf(found)}`)
  const shown = (names: readonly unknown[]) => JSON.stringify([...names].sort())
  expect(shown(found) === shown(expected), `${what}: expected ${shown(expected)}, found ${shown(found)}`)
}

/** Returns what a promise rejects with, and fails if it is fulfilled. */
export async function failureOf(work: Promise<unknown>, what: string): Promise<unknown> {
  let value: unknown
  try {
    value = await work
  } catch (error) {
    return error
  }
  throw new ConformanceError(`${what}: expected a failure, found ${kindOf(value)}`)
}

/** Fails if a promise is not settled within a few seconds. */
export async function withinSeconds<T>(seconds: number, work: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConformanceError(`${what}: not done after ${seconds} s`)), seconds * 1000)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}

export function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value
}
