/** A JSON schema. */
export interface JsonSchema {
  [keyword: string]: unknown
}

/** The JSON schema of an object. */
export interface ObjectSchema extends JsonSchema {
  type: 'object'
}
