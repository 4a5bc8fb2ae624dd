// Files of the package that were imported as code: the module of the inline entry, and `peteos-session/encodings/<name>`.
//
// Such a file is a script that adds its text to a global table. It has neither imports nor exports, so that one copy of it
// serves ES modules and CommonJS.

/** The table of texts in base64, by path. The build writes this name into the scripts. */
const TABLE = Symbol.for('peteos-session.embedded')

/**
 * The file with this path, if it was imported.
 * @internal
 */
export function embeddedFile(path: string): Uint8Array | undefined {
  const table = (globalThis as { [TABLE]?: Readonly<Record<string, string>> })[TABLE]
  const base64 = table?.[path]
  if (base64 === undefined) return undefined
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = text.charCodeAt(index)
  return bytes
}
