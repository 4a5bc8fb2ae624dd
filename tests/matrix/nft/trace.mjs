// Copies an app with the files that the tracer finds, as Vercel does when it deploys.
import { cp, rm } from 'node:fs/promises'
import { nodeFileTrace } from '@vercel/nft'

const [entry, out] = process.argv.slice(2)
await rm(out, { recursive: true, force: true })
const { fileList, warnings } = await nodeFileTrace([entry])
for (const warning of warnings) console.error(warning)
for (const file of fileList) await cp(file, `${out}/${file}`)
const stray = [...fileList].filter(
  (file) => !/^(node_modules\/peteos-session\/|node\.|scenario\.|package\.json)/.test(file),
)
if (stray.length > 0) throw new Error(`the tracer took files that the app does not need: ${stray.join(', ')}`)
