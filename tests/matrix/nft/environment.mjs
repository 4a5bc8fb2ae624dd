import { node } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { '@vercel/nft': '1.11.5' },
  async run({ folder, check }) {
    for (const entry of ['node.mjs', 'node.cjs']) {
      await check(`what the tracer finds of ${entry} is enough, and no more than the app`, async () => {
        await node(folder, ['trace.mjs', entry, 'traced'])
        return node(folder, [entry], { cwd: `${folder}/traced` })
      })
    }
  },
}
