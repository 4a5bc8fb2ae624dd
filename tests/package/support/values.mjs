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

/** Texts of numbers that a reader or writer may get wrong. */
export const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '1.0',
  '-0.0',
  '1e16',
  '1E16',
  '1e+16',
  '1e-7',
  '0.1',
  '1.10',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  '-9223372036854775809',
  '123456789012345678901234567890',
  '5e-324',
  '1.7976931348623157e308',
  '1e400',
  '-1e400',
  '3.141592653589793238462643383279',
  '100000000000000000000.5',
]
