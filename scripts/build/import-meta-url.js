// Stands for import.meta.url in the CommonJS bundles. Without node:url, because a bundle for a browser may take one of
// them in: there is no __filename there, and addresses are relative to the page.
export const importMetaUrl = /* @__PURE__ */ (() => {
  if (typeof __filename !== 'string') return globalThis.location?.href ?? 'file:///'
  const path = __filename.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/')
  return `file://${path.startsWith('/') ? '' : '/'}${path}`
})()
