// The policies that are compared, and prices in the unit of one token of input.

export const ENCODING = 'o200k_base'

/** Relative prices as of December 2026 at a provider that charges for writing its cache. */
export const PRICES = { input: 1, cacheRead: 0.1, cacheWrite: 1.25, output: 5 }

const window = { type: 'token-window', maxTokens: 60_000, boundary: 'turn' }

export const POLICIES = {
  'everything sent each time': [],
  "window of 60,000, 'exchange'": [{ ...window, boundary: 'exchange' }],
  "window of 60,000, 'turn'": [window],
  "window of 60,000, 'turn', down to 30,000": [{ ...window, hysteresis: { to: 30_000 } }],
  '10 results kept': [{ type: 'clear-tool-results', keep: 10 }],
  '10 results kept, 10,000 cleared at a time': [{ type: 'clear-tool-results', keep: 10, clearAtLeast: 10_000 }],
  '20,000 cleared at a time, then the window': [
    { type: 'clear-tool-results', keep: 10, clearAtLeast: 20_000 },
    { ...window, hysteresis: { to: 30_000 } },
  ],
}
