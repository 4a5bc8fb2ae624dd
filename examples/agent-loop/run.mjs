// An agent loop under a small budget, against a local stand-in for the providers that enforces their pairing rules.
//
//   node examples/agent-loop/run.mjs [--turns 200] [--budget 1500] [--provider anthropic] [--boundary turn]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { NodeFileStorage } from 'peteos-session/node'
import { runAgent } from './agent.mjs'
import { clients } from './clients.mjs'
import { startServer } from './server.mjs'

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '200' },
    budget: { type: 'string', default: '1500' },
    provider: { type: 'string', multiple: true, default: Object.keys(clients) },
    boundary: { type: 'string', multiple: true, default: ['exchange', 'turn'] },
  },
})
const [turns, budget] = [Number(values.turns), Number(values.budget)]
const directory = await mkdtemp(join(tmpdir(), 'agent-loop-'))
const rows = []
try {
  for (const provider of values.provider) {
    for (const boundary of values.boundary) {
      const server = await startServer()
      const storage = new NodeFileStorage()
      rows.push(await runAgent({ provider, boundary, turns, budget, server: server.url, storage, directory }))
      server.close()
    }
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
console.table(rows.map(({ error, ...row }) => row))
for (const { provider, boundary, error } of rows.filter((row) => row.refusals > 0)) {
  console.log(`${provider}, ${boundary}: ${error}`)
}
process.exitCode = rows.every((row) => row.refusals === 0) ? 0 : 1
