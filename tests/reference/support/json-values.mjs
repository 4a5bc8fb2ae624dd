// Generated JSON texts: values as in files, with numbers and strings that a reader or writer may get wrong.
import { fc, list } from '../../package/support/property.mjs'

const SCRIPTS = [
  'The quick brown fox jumps over the lazy dog. ',
  'naïve façade — “déjà vu”… ',
  'Zürich, Łódź, İstanbul, ǆ ',
  'Съешь ещё этих мягких французских булок. ',
  'الأنظمة الموزعة تفشل جزئياً ',
  'בראשית ברא אלהים ',
  'नमस्ते दुनिया, क्षत्रिय ',
  'สวัสดีชาวโลก ',
  '日本語のテキスト、カタカナ。',
  '你好，世界。分词器',
  '안녕하세요 세계 ',
  'ქართული ',
  '𐍈𝔘𝕟𝕚𝕔𝕠𝕕𝕖 ',
  'e\u0301 a\u0308\u0323 ',
  '👩‍👩‍👧‍👦👍🏽🏳️‍🌈🇩🇪 ',
  '☃\ufe0f❤️‍🔥',
  '\u0000\u0001\u0007\b\t\v\f\r\n\u001b[0m\u001f',
  '\u007f\u0080\u0085\u009f',
  '\u2028\u2029',
  '\ufeff\u200b\u200e\u202e\u00ad',
  '\uffff\ufdd0\ue000\u{10ffff}',
  '"quoted" \\backslash\\ /slash/ \\u0041 ',
  "it's 'single' `back` ",
  '{"json": [1, 2.50, null]}',
  '```js\nconst x = () => `${y}`\n```\n',
  '<|endoftext|><|fim_prefix|><|im_start|>',
  'https://example.org/a?b=c&d=%20#e ',
  '1234567890 3.14159 1e16 0x1F ',
  '\n\n\n',
  '\r\n\t\t  ',
  '        ',
  '--------',
  'SCREAMING_SNAKE camelCase kebab-case ',
  "I'll we've they'd IT'S ",
  '…‥—–',
  '½⅓①²₃',
  'ﬁﬂ㎏',
  '\u3000全角　空白',
]
const RUNS = ['a', ' ', '\n', '0', '=', 'ab', 'é', '漢', '😀', '\\', '"', '\u0000', '\u2028', '- ', '👍🏽']
const KEYS = [
  '',
  'a',
  '1',
  '0',
  '10',
  '__proto__',
  'constructor',
  'toString',
  'ключ',
  'a.b',
  'with space',
  '"',
  '\\',
  '\u2028',
  '😀',
  'id',
  'messages',
  '_x',
  'metadata',
  '$serde_json::private::Number',
  '$serde_json::private::RawValue',
  'k'.repeat(60),
]
const NUMBERS = `
  0 -0 1 -1 42 1e16 1E16 1e+16 9999999999999998.0 5e-324 -5e-324 -0.0 0.0 1.0 100.0 0.1 1e5 1E-5
  0.0001 0.00001 123456789.123456789 1.7976931348623157e308 2.2250738585072014e-308 9007199254740993
  9223372036854775807 9223372036854775808 -9223372036854775809 18446744073709551616
  123456789012345678901234567890 1e22 1e21 123456789012345680000 0.30000000000000004 1.50 2.5e-7 1e-7
  4.35 1e100 1e400 -1e400`
  .trim()
  .split(/\s+/)

const pick = (values) => fc.constantFrom(...values)

export const keys = pick(KEYS)

/** Any text, of every script, and long runs of one character. */
export const texts = fc.oneof(
  { weight: 96, arbitrary: list(0, 5, pick(SCRIPTS)).map((parts) => parts.join('')) },
  {
    weight: 4,
    arbitrary: fc.tuple(pick(RUNS), fc.integer({ min: 50, max: 600 })).map(([run, count]) => run.repeat(count)),
  },
)

export const strings = texts.map((text) => JSON.stringify(text))

/** Numbers as text in a file. */
const numbers = fc.oneof(
  { weight: 60, arbitrary: pick(NUMBERS) },
  { weight: 12, arbitrary: fc.integer({ min: -1e6, max: 1e6 }).map(String) },
  {
    weight: 28,
    arbitrary: fc
      .tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: -39, max: 21 }))
      .map(([digits, exponent]) => String(digits * 10 ** exponent)),
  },
)

/** The JSON text of an object with these fields; anything that is not the text of a field is left out. */
export const objectText = (fields) => `{${fields.filter(Boolean).join(',')}}`

/** Objects of any keys, as JSON text, with up to `most` fields. */
export const objects = (most, value) =>
  fc
    .uniqueArray(fc.tuple(keys, value), { maxLength: most, selector: ([key]) => key })
    .map((entries) => objectText(entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`)))

/** Any value with this many levels, as JSON text. */
export function values(depth) {
  const plain = [
    { weight: 3, arbitrary: numbers },
    { weight: 1, arbitrary: strings },
    { weight: 3, arbitrary: fc.constantFrom('null', 'true', 'false', '""', '[]', '{}') },
  ]
  if (depth === 0) return fc.oneof(...plain)
  const inner = values(depth - 1)
  const arrays = list(0, 4, inner).map((items) => `[${items}]`)
  return fc.oneof(...plain, { weight: 1, arbitrary: arrays }, { weight: 1, arbitrary: objects(4, inner) })
}
