// The results of `toMessages` are assignable to the types of the official SDKs without a cast.
import { test } from 'node:test'
import { compiles } from '../support/compile.mjs'

// The SDKs use types of browsers and of Node, and do not compile under our strictest options.
const OPTIONS = {
  module: 'nodenext',
  lib: ['es2022', 'dom', 'dom.iterable', 'esnext.disposable'],
  types: ['node'],
  skipLibCheck: true,
}

const RIGHT = `
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { generateText, jsonSchema, streamText, tool, type ModelMessage, type ToolSet } from 'ai'
import OpenAI from 'openai'
import { Context, fromMessages, Session, toMessages } from 'peteos-session'
import type { AiSdkRequest, AnthropicRequest, GeminiRequest, OpenAiChatRequest, OpenAiResponsesRequest, ProviderName, ProviderRequests, ReplyMetadata, StoredMessage, ToMessagesOptions } from 'peteos-session'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const check = <T extends true>(): T | void => undefined

export async function ask(context: Context, openai: OpenAI, anthropic: Anthropic, ai: GoogleGenAI, languageModel: Parameters<typeof generateText>[0]['model']): Promise<void> {
  const model = 'm'
  await openai.chat.completions.create({ model, ...toMessages(context, 'openai-chat') })
  await openai.chat.completions.create({ model, stream: true, ...toMessages(context, 'openai-chat') })
  await openai.responses.create({ model, ...toMessages(context, 'openai-responses') })
  await openai.responses.create({ model, stream: true, store: false, ...toMessages(context, 'openai-responses') })
  await anthropic.messages.create({ model, max_tokens: 100, ...toMessages(context, 'anthropic') })
  anthropic.messages.stream({ model, max_tokens: 100, ...toMessages(context, 'anthropic') })
  await anthropic.messages.countTokens({ model, ...toMessages(context, 'anthropic') })
  const { contents, ...config } = toMessages(context, 'gemini')
  await ai.models.generateContent({ model, contents, config })
  const { system, messages, tools: definitions = {} } = toMessages(context, 'ai-sdk', { repair: true })
  const tools: ToolSet = Object.fromEntries(
    Object.entries(definitions).map(([name, { description = '', inputSchema }]) => [name, tool({ description, inputSchema: jsonSchema(inputSchema) })]),
  )
  await generateText({ model: languageModel, ...(system === undefined ? {} : { system }), messages, tools, allowSystemInMessages: true })
  const list: ModelMessage[] = messages

  // The answer of a provider is appended to the list.
  const chat = toMessages(context, 'openai-chat').messages
  const asked: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = chat
  asked.push({ role: 'user', content: 'x' })
  const turns: Anthropic.MessageParam[] = toMessages(context, 'anthropic').messages
  const input: OpenAI.Responses.ResponseInput = toMessages(context, 'openai-responses').input
  void [list, turns, input]

  // What an SDK returns is appended whole.
  const session = Session.create('agents')
  const stored: StoredMessage[] = session.appendReply(await openai.chat.completions.create({ model, messages: chat }), 'openai-chat')
  session.appendReply(await openai.responses.create({ model, input }), 'openai-responses')
  session.appendReply(await anthropic.messages.create({ model, max_tokens: 100, messages: turns }), 'anthropic')
  session.appendReply(await anthropic.messages.stream({ model, max_tokens: 100, messages: turns }).finalMessage(), 'anthropic')
  session.appendReply(await ai.models.generateContent({ model, contents }), 'gemini')
  session.appendReply(await generateText({ model: languageModel, messages: list }), 'ai-sdk')
  const streamed = streamText({ model: languageModel, messages: list })
  session.appendReply({ response: await streamed.response, totalUsage: await streamed.totalUsage }, 'ai-sdk')
  const metadata: ReplyMetadata | undefined = stored[0]?.metadata as ReplyMetadata | undefined
  void metadata?.usage?.input_tokens

  check<Equal<ReturnType<typeof toMessages<'gemini'>>, GeminiRequest>>()
  check<Equal<ProviderName, 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini' | 'ai-sdk'>>()
  const chosen = 'gemini' as ProviderName
  const any: OpenAiChatRequest | OpenAiResponsesRequest | AnthropicRequest | GeminiRequest | AiSdkRequest = toMessages(context, chosen)
  const options: ToMessagesOptions = { repair: true }
  const requests: Partial<ProviderRequests> = { anthropic: toMessages(context, 'anthropic', options) }
  const contexts: Context[] = [fromMessages(any, chosen), fromMessages(asked, 'openai-chat'), fromMessages(turns, 'anthropic'), fromMessages({ contents }, 'gemini')]
  const body: OpenAI.Responses.ResponseCreateParams = { model, input }
  contexts.push(fromMessages(body, 'openai-responses'), fromMessages(list, 'ai-sdk'))
  void requests
}
`

const WRONG = [
  "toMessages(context, 'mistral')",
  "toMessages(context.rawDict, 'gemini')",
  'toMessages(context)',
  "toMessages(context, 'gemini', { repaired: true })",
  "toMessages(context, 'gemini', { repair: 'yes' })",
  "toMessages(context, 'gemini').messages",
  "toMessages(context, 'openai-chat').contents",
  "fromMessages('text', 'gemini')",
  'fromMessages([])',
  "anthropic.messages.create({ model: 'm', max_tokens: 1, ...toMessages(context, 'openai-chat') })",
  "openai.chat.completions.create({ model: 'm', ...toMessages(context, 'anthropic') })",
  "openai.chat.completions.create({ model: 'm', ...toMessages(context, 'gemini') })",
]

const WRONG_SOURCE = `
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { Context, fromMessages, toMessages } from 'peteos-session'
declare const context: Context
declare const anthropic: Anthropic
declare const openai: OpenAI
export function wrong(): void {
${WRONG.map((line) => `  // @ts-expect-error\n  { ${line} }`).join('\n')}
  void [fromMessages, toMessages]
}
`

test('requests are assignable to the types of the official SDKs', async (t) => {
  await compiles(t, { 'right.ts': RIGHT }, OPTIONS)
})

test('requests are assignable without exactOptionalPropertyTypes, and with a bundler', async (t) => {
  await compiles(
    t,
    { 'right.ts': RIGHT },
    { ...OPTIONS, module: 'esnext', moduleResolution: 'bundler', exactOptionalPropertyTypes: false },
  )
})

test('a request for the wrong SDK does not compile', async (t) => {
  await compiles(t, { 'wrong.ts': WRONG_SOURCE }, OPTIONS)
})
