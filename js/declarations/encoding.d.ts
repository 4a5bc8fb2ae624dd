// `peteos-session/encodings/<name>` exports nothing: once it is imported, the encoding can be used.
export {}
