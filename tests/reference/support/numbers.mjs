// Doubles that a writer may get wrong, and the texts that a file may have them as.

/** A number as text in the ways that a file may have it. */
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

/** A double of random bits: every exponent is as likely as any other. */
export function anyDouble(random) {
  const halves = new Uint32Array([random.integer(0, 0xffffffff), random.integer(0, 0xffffffff)])
  const number = new Float64Array(halves.buffer)[0]
  return Number.isFinite(number) ? number : 0
}

/** Halves, tenths, multiples of powers, and eighths, which often lie halfway between two decimal numbers. */
export function inBetween(random) {
  const whole = random.integer(-(10 ** random.integer(1, 9)), 10 ** random.integer(1, 9))
  const eighths = random.integer(0, 2 ** 25) * 2 ** 25 + random.integer(0, 2 ** 25)
  return [whole + 0.5, whole / 10, whole * 1e5, whole * 2 ** random.integer(0, 60), eighths / 8]
}
