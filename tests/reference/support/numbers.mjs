// Doubles that a writer may get wrong, and their spellings in a file.
import { fc, nth } from '../../package/support/property.mjs'

/** The spellings of a number in a file. */
export function spellings(number) {
  const texts = [String(number), number.toExponential(), number.toExponential(20), number.toPrecision(17)]
  if (Number.isInteger(number) && Math.abs(number) < 1e21) texts.push(number.toFixed(1), number.toFixed(0))
  return texts.flatMap((text) => [text, text.replace('e', 'E'), text.replace('e+', 'e')])
}

/** Powers of ten and limits with the doubles next to them, of both signs. */
export function formChanges() {
  const numbers = []
  for (let exponent = -30; exponent <= 30; exponent++) numbers.push(...neighbours(Number(`1e${exponent}`)))
  const limits = [5e-324, 2.2250738585072014e-308, Number.MAX_VALUE, 2 ** 53, 2 ** 63, 2 ** 64]
  numbers.push(...limits.flatMap(neighbours).filter(Number.isFinite))
  return [...numbers, ...numbers.map((number) => -number)]
}

function neighbours(number) {
  const bits = new BigInt64Array(new Float64Array([number]).buffer)[0]
  return [bits - 1n, bits, bits + 1n].map((near) => new Float64Array(new BigInt64Array([near]).buffer)[0])
}

/** Doubles of random bits: every exponent is as likely as any other. */
export const anyDouble = fc
  .noBias(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
  .map((bits) => new Float64Array(new BigUint64Array([bits]).buffer)[0])
  .filter(Number.isFinite)

const whole = fc
  .tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.integer({ min: 1, max: 9 }))
  .map(([share, digits]) => Math.round(share * 10 ** digits))

/** Halves, tenths, multiples of powers, and eighths, which often lie halfway between two decimal numbers. */
export const inBetween = fc.oneof(
  whole.map((number) => number + 0.5),
  whole.map((number) => number / 10),
  whole.map((number) => number * 1e5),
  fc.tuple(whole, fc.nat({ max: 60 })).map(([number, power]) => number * 2 ** power),
  fc.noBias(fc.bigInt({ min: 0n, max: 2n ** 50n })).map((eighths) => Number(eighths) / 8),
)

/** Numbers of an arbitrary, each as text in one of its spellings. */
export const spelled = (numbers) =>
  fc.tuple(numbers, fc.nat()).map(([number, choice]) => nth(spellings(number), choice))
