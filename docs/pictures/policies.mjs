// What policies cost on the log of examples/policies: a bar for each.
import { agentLog } from '../../examples/policies/log.mjs'
import { ENCODING, POLICIES, PRICES } from '../../examples/policies/policies.mjs'
import { escaped, picture, ROW, TOP, WIDTH } from './svg.mjs'

const BARS_X = 360
const BARS_WIDTH = WIDTH - BARS_X - 190

/** The rows of the comparison, the cheapest first. */
export function comparedPolicies(peteos) {
  return peteos.compare(agentLog(peteos), POLICIES, { prices: PRICES, encoding: ENCODING })
}

/** The SVG texts by name. */
export function policyPictures(peteos) {
  const rows = comparedPolicies(peteos)
  const most = Math.max(...rows.map(({ cost }) => cost))
  const millions = (tokens) => (tokens / 1e6).toFixed(2)
  const bar = ({ name, cost, cacheBreaks }, index) => {
    const y = TOP + index * ROW
    const isCheap = cost <= rows[0].cost * 1.1
    const width = Math.round((cost / most) * BARS_WIDTH)
    return `<text x="20" y="${y + 18}">${escaped(name)}</text>
<rect x="${BARS_X}" y="${y}" width="${width}" height="${ROW - 4}" rx="4" fill="${isCheap ? '#4ac26b' : '#d1d9e0'}"/>
<text x="${BARS_X + width + 8}" y="${y + 18}">${millions(cost)}</text>
<text class="number quiet" x="${WIDTH - 20}" y="${y + 18}">${cacheBreaks}</text>`
  }
  const [{ requests, name }] = rows
  return {
    policies: picture({
      title: `What ${requests} requests of an agent cost, in millions of tokens of input`,
      summary: `the cheapest policy is: ${name}`,
      rows: rows.length,
      body: [
        `<text class="quiet" x="20" y="60">policy</text><text class="quiet" x="${BARS_X}" y="60">cost</text><text class="number quiet" x="${WIDTH - 20}" y="60">cache breaks</text>`,
        ...rows.map(bar),
        `<text class="quiet" x="20" y="${TOP + rows.length * ROW + 32}">Prices: cache read ${PRICES.cacheRead}, cache write ${PRICES.cacheWrite}, output ${PRICES.output} of the price of input. node examples/policies/run.mjs</text>`,
      ],
    }),
  }
}
