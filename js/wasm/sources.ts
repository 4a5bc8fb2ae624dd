/** A `URL`, for projects that compile without the types of browsers or Node. */
export interface UrlLike {
  /** The URL as text. */
  readonly href: string
}

/** The part of a `Response` that is used. */
export interface ResponseLike {
  /** Whether the status is in the range of success. */
  readonly ok: boolean
  /** The status code. */
  readonly status: number
  /** The text of the status. */
  readonly statusText: string
  /** The URL that answered. */
  readonly url: string
  /** The headers. */
  readonly headers?: { get(name: string): string | null }
  /** Reads the body. */
  arrayBuffer(): Promise<ArrayBuffer>
}

/** A compiled `WebAssembly.Module`, which has no properties of its own. */
export interface CompiledModule {
  readonly [Symbol.toStringTag]?: string
}

/** The source of the WebAssembly module: its URL, a response with it, its bytes, or the compiled module. */
export type ModuleSource =
  | string
  | UrlLike
  | ResponseLike
  | Promise<ResponseLike>
  | ArrayBuffer
  | ArrayBufferView
  | CompiledModule
