// A tool that returns made-up results of different lengths.

/** The tools that the model may call. */
export const tools = [
  {
    name: 'look',
    description: 'Looks into a box of the archive.',
    parameters: { type: 'object', properties: { box: { type: 'integer' } }, required: ['box'] },
  },
]

/** The result of a call. */
export function callTool(name, { box }) {
  if (name !== 'look') return `there is no tool ${name}`
  const letters = Array.from({ length: (box * 37) % 40 }, (_, index) => `a letter of ${1800 + ((box * index) % 100)}`)
  return letters.length === 0 ? 'The box is empty.' : `In box ${box}: ${letters.join(', ')}.`
}
