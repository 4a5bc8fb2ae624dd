// Request shapes of the newest SDKs, in compact tables: for each provider the blocks of each place, and how a place becomes a
// conversation around a block.
import { aiSdk } from './ai-sdk.mjs'
import { anthropic } from './anthropic.mjs'
import { gemini } from './gemini.mjs'
import { openaiChat } from './openai-chat.mjs'
import { openaiResponses } from './openai-responses.mjs'

const TABLES = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
  'ai-sdk': aiSdk,
}

/** All shapes: the provider, the place, the shape itself, and the request around it. */
export const SHAPES = Object.entries(TABLES).flatMap(([provider, places]) =>
  places.flatMap(([place, around, shapes]) =>
    shapes.map((shape, index) => ({ provider, place, name: `${place} ${index + 1}`, request: around(shape) })),
  ),
)
