/**
 * An element with properties and children. Strings become text nodes, never markup.
 *
 * @param {string} name
 * @param {object} [properties]
 * @param {...(Node | string)} children
 */
export function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties)
  node.append(...children)
  return node
}

/** The element of the page with this id. */
export function byId(id) {
  return document.getElementById(id)
}
