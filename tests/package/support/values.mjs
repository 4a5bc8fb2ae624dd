// Values that tests pass to the package.

export const text = (content, fields = {}) => ({ role: 'user', content: [{ type: 'text', text: content }], ...fields })

/** Lists nested this deep: `[[[]]]` is 3. */
export function nested(depth) {
  let value = []
  for (let level = 1; level < depth; level++) value = [value]
  return value
}

/** The JSON text of `nested(depth)`, of any depth. */
export const nestedText = (depth) => '['.repeat(depth) + ']'.repeat(depth)

/** Values that are not non-negative integers. */
export const NO_COUNTS = [
  ...[-1, -1e-9, 0.5, NaN, Infinity, -Infinity, 2 ** 53, 1e300],
  ...['5', '', null, undefined, true, [], [5], {}, 5n, Symbol('5')],
  ...[() => 5, new Number(5), { valueOf: () => 5 }],
]

/** Values that are not strings. */
export const NO_STRINGS = [
  ...[0, NaN, null, true, [], ['x'], {}, 5n, Symbol('x')],
  ...[() => 'x', new String('x'), { toString: () => 'x' }],
]

/** Strings that are not plain file names. */
export const NO_IDS = [
  ...['', '.', '..', '../x', '../../etc/passwd', '/etc/passwd', 'a/b', 'a/', '/', 'a\\b', '\\', '..\\x'],
  ...['a\0b', '\0', 'x'.repeat(5000)],
]

/** An object that throws a TypeError at every use. */
export function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** A short description of a value for a failed assertion; never throws. */
export function shown(value) {
  try {
    return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value)
  } catch {
    return 'a value that cannot be shown'
  }
}
