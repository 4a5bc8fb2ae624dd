// Makes the bindings run the tasks of Rust's futures as reactions of a promise. wasm-bindgen uses `queueMicrotask`, which test
// frameworks replace with one that runs only when a test says so: a save would never settle.
import { readFile, writeFile } from 'node:fs/promises'
import { SetupError } from '../setup/steps.mjs'

const CALL = /(?<=\{\s*)queueMicrotask\((\w+)\);/g

/** Rewrites the bindings in place. */
export async function useOwnMicrotasks(bindings) {
  const text = await readFile(bindings, 'utf8')
  if (text.match(CALL)?.length !== 1) {
    throw new SetupError('the bindings of wasm-bindgen have another form than expected: their call of queueMicrotask')
  }
  await writeFile(bindings, text.replace(CALL, 'Promise.resolve().then($1);'))
}
