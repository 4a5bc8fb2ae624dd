// Actions of a user in the viewer, and what the user sees.
export async function openViewer(page, origin) {
  await page.goto(`${origin}/examples/browser/`)
  await page.waitForSelector('body[data-ready]')
}

/** Opens files as picked one by one, and waits until their tokens are counted. */
export async function openFiles(page, files) {
  await page.setInputFiles('#files-input', files)
  await counted(page)
}

export async function counted(page) {
  await page.waitForFunction(() => /\d/.test(document.getElementById('token-count').textContent))
  await settled(page)
}

/** The page reacts to the slider in the next frame. */
export async function settled(page) {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
}

/** The numbers of a column: `tokens` or `running`. */
export async function column(page, name) {
  const texts = await page.locator(`.message .${name}`).allTextContents()
  return texts.map((text) => Number(text.replaceAll(',', '')))
}

/** The positions of the dimmed messages. */
export async function dimmed(page) {
  await settled(page)
  return page.$$eval('.message', (rows) =>
    rows.flatMap((row, index) =>
      row.matches('.dropped') && getComputedStyle(row.firstChild).opacity < 1 ? [index] : [],
    ),
  )
}

/** The positions in a context of the messages with these ids. */
export function positions({ messages }, ids) {
  const wanted = new Set(ids)
  return messages.flatMap(({ id }, index) => (wanted.has(id) ? [index] : []))
}

export async function errorText(page) {
  await page.waitForSelector('#error:not([hidden])')
  const [title, text, place] = await Promise.all(
    ['title', 'text', 'place'].map((part) => page.textContent(`#error-${part}`)),
  )
  return { title, text, place }
}
