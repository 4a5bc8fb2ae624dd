import { InvalidArgumentError } from '../errors.js'
import type { Boundary, EncodingName, StepKind } from '../generated/lists.js'
import { objectOrNone, readOptions } from '../read-options.js'
import { toJsonText } from '../wasm/json-text.js'

/** In which encoding tokens are counted. */
export interface EncodingOption {
  /** By default `cl100k_base`. */
  encoding?: EncodingName
}

/** Replaces the content of old tool results by a short text. Calls and results stay paired. */
export interface ClearToolResultsStep {
  readonly type: 'clear-tool-results'
  /** How many of the newest results are kept, not counting those that are never cleared. By default 3. */
  readonly keep?: number
  /** Names of tools whose results are never cleared. By default none. */
  readonly exclude?: readonly string[]
  /** Whether results of failed calls (`is_error`) are never cleared. By default `false`. */
  readonly keepErrors?: boolean
  /** Ids of messages whose results are never cleared. By default none. */
  readonly pin?: readonly string[]
  /** Nothing is cleared unless this number of tokens is freed: a change costs what a provider has cached after it. By default 0. */
  readonly clearAtLeast?: number
  /** Whether the arguments of the calls become `{}`. By default `false`. */
  readonly inputs?: boolean
  /** What stands in place of the content. By default `[old tool result cleared]`. */
  readonly placeholder?: string
}

/**
 * Leaves out the thinking of earlier turns; a turn begins with a prompt of the user. Signed and redacted thinking of the current
 * turn always stays, and so do messages of nothing but thinking.
 */
export interface ClearThinkingStep {
  readonly type: 'clear-thinking'
  /** How many turns keep their thinking, the current one included. By default 1. */
  readonly keepTurns?: number
}

/** Replaces old images, videos, sounds and PDF documents by a text with their type and size, also those in tool results. */
export interface ClearMediaStep {
  readonly type: 'clear-media'
  /** How many of the newest are kept. By default 2. */
  readonly keep?: number
}

/**
 * Shortens long texts in the middle: the beginning and the end stay, cut at lines or between graphemes, and a note says how
 * many characters were left out.
 */
export interface ElideStep {
  readonly type: 'elide'
  /** The maximum number of tokens of a text, at least 32. */
  readonly maxTokens: number
  /** The share of the beginning in what is kept, from 0 to 1. By default 0.5. */
  readonly head?: number
  /** Which texts are shortened: those of tool results (the default), or the texts of messages. */
  readonly of?: 'tool_result' | 'text'
}

/** Replaces tool results that a later result repeats: of a call of the same tool with equal arguments, with equal content. */
export interface DedupeToolResultsStep {
  readonly type: 'dedupe-tool-results'
}

/** Options of windows in a policy. They are those of {@link WindowOptions}, as data. */
interface WindowStep {
  /** By default `'message'`. */
  readonly boundary?: Boundary
  /** When the window must cut, it cuts down to `to`. By default the limit. */
  readonly hysteresis?: { readonly to: number }
  /** Ids of messages that are always kept, each with its exchange. By default none. */
  readonly pin?: readonly string[]
}

/** Drops the oldest messages beyond a number, as {@link Context.rollingSequenceWindow} does. */
export interface SequenceWindowStep extends WindowStep {
  readonly type: 'sequence-window'
  /** The maximum number of messages that are not special. */
  readonly count: number
}

/** Drops the oldest messages beyond a token budget, as {@link Context.rollingTokenWindow} does. */
export interface TokenWindowStep extends WindowStep {
  readonly type: 'token-window'
  /** The token budget. */
  readonly maxTokens: number
  /** Tokens of the budget that are set aside for the reply. By default 0. */
  readonly reserve?: number
  /** What an image, a video, a sound or a PDF document costs. By default the tokens of its text. */
  readonly media?: number
}

/** A step of a policy. */
export type PolicyStep =
  | ClearToolResultsStep
  | ClearThinkingStep
  | ClearMediaStep
  | ElideStep
  | DedupeToolResultsStep
  | SequenceWindowStep
  | TokenWindowStep

/**
 * Steps in the order in which they are tried. A step before a window is taken only if the limit of that window does not hold;
 * steps after the last window always are.
 */
export type Policy = readonly PolicyStep[]

/** Options of {@link Context.clearToolResults}. */
export type ClearToolResultsOptions = Omit<ClearToolResultsStep, 'type'> & EncodingOption
/** Options of {@link Context.clearThinking}. */
export type ClearThinkingOptions = Omit<ClearThinkingStep, 'type'> & EncodingOption
/** Options of {@link Context.clearMedia}. */
export type ClearMediaOptions = Omit<ClearMediaStep, 'type'> & EncodingOption
/** Options of {@link Context.elide}. */
export type ElideOptions = Omit<ElideStep, 'type'> & EncodingOption
/** Options of {@link Context.dedupeToolResults}. */
export type DedupeToolResultsOptions = EncodingOption

/** What a step does to a context. */
export interface StepReport {
  /** The kind of the step. */
  readonly type: StepKind
  /** The encoding of the counts. */
  readonly encoding: EncodingName
  /** The ids of the messages whose content is replaced, in display order. */
  readonly cleared: readonly string[]
  /** The ids of the messages that are left out, in display order. */
  readonly dropped: readonly string[]
  /** Tokens of all messages. */
  readonly tokensBefore: number
  /** Tokens of all messages after the step. */
  readonly tokensAfter: number
  /** Tokens of the messages before the first change, which a provider may have cached. */
  readonly unchangedPrefixTokens: number
}

/** The range that a summary stands for: all messages up to one, included, or those with these ids, which stand side by side. */
export type SummaryRange = { until: string; ids?: undefined } | { ids: readonly string[]; until?: undefined }

/** Options of {@link Context.summarize}. */
export type SummarizeOptions = SummaryRange & EncodingOption & { text: string }

/**
 * A step as Rust takes it, and the encoding.
 * @internal
 */
export function stepArguments(
  type: StepKind,
  options: (object & EncodingOption) | null | undefined,
): [step: string, encoding: EncodingName | undefined] {
  const { encoding, ...step } = objectOrNone(options) as EncodingOption
  return [toJsonText({ type, ...step }, 'options'), encoding]
}

/**
 * A policy as Rust takes it, and the encoding.
 * @internal
 */
export function policyArguments(
  policy: Policy,
  options: EncodingOption | null | undefined,
): [policy: string, encoding: EncodingName | undefined] {
  const { encoding } = readOptions(options, ['encoding'], 'fit')
  // Rust takes an object for the options of one step.
  if (!Array.isArray(policy)) {
    throw new InvalidArgumentError('policy: expected an array of steps', { argument: 'policy' })
  }
  return [toJsonText(policy, 'policy'), encoding]
}
