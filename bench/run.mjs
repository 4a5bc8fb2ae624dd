// `npm run bench`: what the operations of a session cost as it grows. Prints tables and writes target/bench.json.
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { build } from '../scripts/build.mjs'
import { root } from '../scripts/setup/steps.mjs'
import { interleaved } from './measure.mjs'
import { printTable } from './table.mjs'

await build()
const { growth } = await import('./growth.mjs')

const results = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', date: new Date().toISOString() }
console.log(`Node ${results.node}, ${results.cpu}`)

results.growth = await interleaved(growth())
printTable('Cost by number of messages in the context (median, microseconds)', results.growth)

await mkdir(join(root, 'target'), { recursive: true })
await writeFile(join(root, 'target', 'bench.json'), `${JSON.stringify(results, null, 2)}\n`)
console.log('\nWritten to target/bench.json')
