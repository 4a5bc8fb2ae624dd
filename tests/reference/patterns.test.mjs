// Patterns of the hook tool_filter against Python.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fc, list, SEED, sometimes } from '../package/support/property.mjs'
import { available, needsReference, Oracle } from './oracle.mjs'
import { compareSteps, lastMessages } from './support/compare.mjs'

const oracle = available && new Oracle()
after(() => oracle?.close())

const tools = JSON.stringify({ id: 't', content: [] })

/** Names that patterns can tell apart. */
const NAMES = [
  'a',
  'b',
  'aa',
  'ab',
  'ba',
  'aab',
  'abab',
  'A',
  'aB',
  '_',
  'a_b',
  'a-b',
  'a.b',
  'a b',
  '1',
  'a1',
  '12',
  'a\n',
  '\n',
  'a\rb',
]
NAMES.push(
  'a\u2028b',
  'a\u00a0b',
  'é',
  'e\u0301',
  'ß',
  'ſ',
  'K',
  '١',
  '²',
  'Ⅷ',
  '漢',
  '😀',
  '\u200d',
  '‿',
  '\u001f',
  '\u0085',
  'x',
  ']',
  '^',
  '{',
  '\\',
)

/**
 * The names that each pattern keeps on both sides, as JSON text, or `refused`; patterns that mean something else here.
 */
async function misunderstood(patterns) {
  const wrong = []
  let understood = 0
  const perSession = 40
  for (let first = 0; first < patterns.length; first += perSession) {
    const some = patterns.slice(first, first + perSession)
    const { answers, ours } = await compareSteps(oracle, { tools }, [
      { do: 'hook', message: 0, name: 'tool_list', text: JSON.stringify(NAMES.map((name) => ({ name }))) },
      ...some.flatMap((pattern) => [
        { do: 'hook', message: 0, name: 'tool_filter', text: JSON.stringify([pattern]) },
        { do: 'materialize' },
      ]),
    ])
    for (const [index, pattern] of some.entries()) {
      const last = 3 + 2 * index
      const [theirs, own] = [answers, ours].map((outcomes) => {
        if (outcomes[last - 1].result.error) return 'refused'
        return JSON.stringify(lastMessages(outcomes.slice(0, last))[0].content.map(({ name }) => name))
      })
      if (own !== 'refused') understood += 1
      // No Python program has a pattern that Python refuses.
      if (own !== 'refused' && theirs !== 'refused' && own !== theirs)
        wrong.push(`  ${JSON.stringify(pattern)}\n    in Python ${theirs}\n    here      ${own}`)
    }
  }
  return { wrong, understood }
}

function assertUnderstood({ wrong, understood }, patterns, least) {
  const shown = wrong.sort((one, other) => one.length - other.length).slice(0, 5)
  if (wrong.length > 0)
    assert.fail(`${wrong.length} of ${patterns.length} patterns mean something else here:\n${shown.join('\n')}`)
  assert.ok(understood >= least * patterns.length, `only ${understood} of ${patterns.length} patterns are understood`)
}

test('a pattern has the same meaning as in Python, or is refused', needsReference, async () => {
  const patterns = [
    ...String.raw`\w+ \W+ \w\b.* a\d a\D a.b a\sb a\Sb a{,2} a{,} a{2,} a{1} a{ a{x} a} ab\Z \Aab ab$ ^ab a\$ \x61+ \u0061+
      \141+ \a|aa [[a]+ [a&&b]+ []a]+ [^]a]+ [a-] [\w-]+ [\d_] [^\W\d]+ [\s\S]+ [.] [\b] [^a\n]+ \N{LATIN␣SMALL␣LETTER␣A}+
      (?i)ab (?i:ab) (?-i:a)b (?s)a.b (?s:a.b) (?m)^a$ (?x)␣a␣b (?a)\w+ (?u)\w+ (?L)a (?#all).* (?P<x>a)(?P=x) (?P<x>a)\1
      a++ a*+b (?>a|aa)b (?P<x>a)?(?(x)b|a) (?<=a)b a(?=b).+ a(?!b).* .*(?<!b) a|b| |a () (a)(b)\2 \0 \08 (a)\10 \e \z \_ \-
      \p{L}+ \u{61} \cA \k<x> (?<x>a) (?'x'a) (?i)ß (?i)ſ (?i)k (?i)é .+? .*?b (a|ab)(c|bcd)? ((a)|b)+\2`
      .split(/\s+/)
      .map((pattern) => pattern.replaceAll('␣', ' ')),
  ]
  assertUnderstood(await misunderstood(patterns), patterns, 0.5)
})

test('generated patterns have the same meaning as in Python, or are refused', needsReference, async () => {
  const atoms =
    String.raw`a b ab A _ 1 - é . \. \w \W \d \D \s \S \b \B ^ $ \A \Z \n \\ [ab] [^a] [a-z] [^\w] [\W_] [\d\s] [-a] [a-] []x] [^_\n] []-a] \x61 \u00e9 / ] { } , K ß`.split(
      ' ',
    )
  const quantifiers = ['*', '+', '?', '{2}', '{1,}', '{,1}', '{0,2}', '*?', '+?', '??', '{1,2}?']
  const openings = ['(', '(', '(?:', '(?:', '(?=', '(?!', '(?<=', '(?<!', '(?i:', '(?s:', '(?P<x>']
  const joined = (...parts) => fc.tuple(...parts).map((texts) => texts.join(''))
  const maybe = (probability, text) => sometimes(probability, text).map((made) => made ?? '')
  const patternsOf = (depth) => {
    const atom = fc.constantFrom(...atoms)
    const group = depth > 0 && joined(fc.constantFrom(...openings), patternsOf(depth - 1), fc.constant(')'))
    const inner = group ? fc.oneof({ weight: 7, arbitrary: atom }, { weight: 3, arbitrary: group }) : atom
    const sequence = list(0, 3, joined(inner, maybe(0.35, fc.constantFrom(...quantifiers)))).map((terms) =>
      terms.join(''),
    )
    return joined(
      sequence,
      maybe(
        0.25,
        sequence.map((text) => `|${text}`),
      ),
    )
  }
  const flagged = joined(maybe(0.15, fc.constantFrom('(?i)', '(?s)', '(?is)', '(?m)')), patternsOf(2))
  const numRuns = 800 * Number(process.env.PETEOS_RUNS ?? 1)
  const patterns = fc.sample(flagged, { numRuns, seed: SEED })
  assertUnderstood(await misunderstood(patterns), patterns, 0.5)
})
