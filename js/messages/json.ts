/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[]

/** An object that JSON can hold. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined
}
