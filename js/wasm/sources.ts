/** A `URL`, described without it, for those who compile without the types of browsers or Node. */
export interface UrlLike {
  readonly href: string
}

/** What `fetch` gives, as far as it is used. */
export interface ResponseLike {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
  readonly url: string
  arrayBuffer(): Promise<ArrayBuffer>
}

/** A compiled `WebAssembly.Module`, which has no properties of its own. */
export interface CompiledModule {
  readonly [Symbol.toStringTag]?: string
}

/** Where the WebAssembly module comes from: its address, a response with it, its bytes, or the compiled module. */
export type ModuleSource =
  | string
  | UrlLike
  | ResponseLike
  | Promise<ResponseLike>
  | ArrayBuffer
  | ArrayBufferView
  | CompiledModule
