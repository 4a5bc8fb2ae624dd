// The conformance suite in Node, complete in itself: a test of an adapter needs no other import.
import { startInNode } from './platform.js'

export * from '../../testing/index.js'

startInNode()
