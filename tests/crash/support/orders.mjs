// Orders to the library that intercepts system calls (preload.c), and answers from it.
import { accessSync } from 'node:fs'

/** Gives an order to the library; returns its answer. */
export function order(directory, text) {
  try {
    accessSync(`${directory}/@${text}`)
    return true
  } catch {
    return false
  }
}
