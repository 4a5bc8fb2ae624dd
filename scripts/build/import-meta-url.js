// Replaces import.meta.url in the CommonJS bundles. It does without node:url, because a bundle for a browser may include
// one of them: there is no __filename there, and URLs are relative to the page.
export const importMetaUrl = /* @__PURE__ */ (() => {
  if (typeof __filename !== 'string') return globalThis.location?.href ?? 'file:///'
  const path = __filename.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/')
  return `file://${path.startsWith('/') ? '' : '/'}${path}`
})()
