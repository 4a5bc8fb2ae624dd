// Opening sessions in the viewer, and its messages if a session cannot be opened.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ContentPart, MemoryStorage, Message, Session } from '../../dist/index.mjs'
import { NodeFileStorage } from '../../dist/node.mjs'
import { root } from '../../scripts/setup/steps.mjs'
import { useBrowser } from './support/browser.mjs'
import { changeFile, createSession, filesOf } from './support/sessions.mjs'
import { column, counted, errorText, openFiles, openViewer } from './support/viewer.mjs'

const withPage = useBrowser()
const folder = await mkdtemp(join(tmpdir(), 'peteos-session-'))
after(() => rm(folder, { recursive: true, force: true }))

/** Writes the files of a session to a folder on disk; resolves to its path. */
async function writeSession(session, directory = session.uuid) {
  const path = join(folder, directory)
  await mkdir(path, { recursive: true })
  for (const { name, buffer } of await filesOf(session)) await writeFile(join(path, name), buffer)
  return path
}

/** Drops files or folders from the disk on the page, as the system does. */
async function drop(page, paths) {
  const devtools = await page.context().newCDPSession(page)
  const data = { items: [], files: paths, dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop']) {
    await devtools.send('Input.dispatchDragEvent', { type, x: 640, y: 500, data })
  }
}

async function showsSession(page, session) {
  await counted(page)
  assert.equal(await page.textContent('#session-id'), session.uuid)
  assert.deepEqual(await column(page, 'tokens'), session.activeContext.tokenCounts())
  assert.equal(await page.locator('#error').isHidden(), true)
}

test(
  'opens a picked folder',
  withPage(async (page, origin) => {
    const session = createSession(20)
    await openViewer(page, origin)
    await page.setInputFiles('#folder-input', await writeSession(session))
    await showsSession(page, session)
  }),
)

test(
  'opens a folder whose name is not that of the session',
  withPage(async (page, origin) => {
    const session = createSession(20)
    await openViewer(page, origin)
    await page.setInputFiles('#folder-input', await writeSession(session, 'copy (1)'))
    await showsSession(page, session)
  }),
)

test(
  'opens picked files, and then others instead',
  withPage(async (page, origin) => {
    await openViewer(page, origin)
    for (const session of [createSession(20), createSession(5)]) {
      await page.setInputFiles('#files-input', await filesOf(session))
      await page.waitForFunction((uuid) => document.getElementById('session-id').textContent === uuid, session.uuid)
      await showsSession(page, session)
    }
  }),
)

test(
  'opens a dropped folder, and dropped files',
  withPage(async (page, origin) => {
    const session = createSession(20)
    const other = createSession(10)
    await openViewer(page, origin)
    await drop(page, [await writeSession(session)])
    await showsSession(page, session)

    const path = await writeSession(other)
    await drop(
      page,
      (await readdir(path)).map((name) => join(path, name)),
    )
    await page.waitForFunction((uuid) => document.getElementById('session-id').textContent === uuid, other.uuid)
    await showsSession(page, other)
  }),
)

test(
  'asks which of several sessions to open',
  withPage(async (page, origin) => {
    const sessions = [createSession(10), createSession(20), createSession(30)]
    for (const session of sessions) await writeSession(session, join('agents', session.uuid))
    await openViewer(page, origin)
    await drop(page, [join(folder, 'agents')])

    const dialog = page.getByRole('dialog', { name: '3 sessions' })
    await dialog.getByRole('button', { name: sessions[1].uuid }).press('Enter')
    await showsSession(page, sessions[1])

    await page.setInputFiles('#folder-input', join(folder, 'agents'))
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await showsSession(page, sessions[1])
  }),
)

test(
  'the button opens the demo session',
  withPage(async (page, origin) => {
    await openViewer(page, origin)
    await page.getByRole('button', { name: 'Open the demo session' }).click()
    const parent = join(root, 'examples', 'demo-session')
    const [{ uuid }] = await Session.list(parent, { storage: new NodeFileStorage() })
    await showsSession(page, await Session.load(parent, uuid, { storage: new NodeFileStorage() }))
  }),
)

test(
  'a server without the demo session is a clear error',
  withPage(async (page, origin) => {
    await page.route('**/files.json', (route) => route.fulfill({ json: [] }))
    await openViewer(page, origin)
    await page.getByRole('button', { name: 'Open the demo session' }).click()
    assert.match((await errorText(page)).title, /no session/)
  }),
)

test(
  'the error for a damaged file has line and column, as in Node, and the open session stays',
  withPage(async (page, origin) => {
    const open = createSession(20)
    const session = createSession(10)
    const files = await filesOf(session)
    const context = `${session.activeContextId}.json`
    await openViewer(page, origin)
    await openFiles(page, await filesOf(open))

    const damages = {
      torn: [context, (text) => text.slice(0, 500)],
      'a field of the wrong type': [context, (text) => text.replace('"role": "user"', '"role": 5')],
      'no object': [context, () => '[1, 2]'],
      empty: ['session.json', () => ''],
      'torn in session.json': ['session.json', (text) => text.slice(0, 70)],
    }
    for (const [what, [name, change]] of Object.entries(damages)) {
      const damaged = changeFile(files, name, change)
      const inNode = await errorInNode(session.uuid, damaged)
      await page.setInputFiles('#files-input', damaged)
      const { title, text, place } = await errorText(page)
      assert.match(title, /damaged/, what)
      assert.equal(text, inNode.text, what)
      assert.ok(place.endsWith(`/${inNode.place}`), `${what}: ${place} is not ${inNode.place}`)
      assert.match(place, /\.json:\d+:\d+$/)
      await page.getByRole('button', { name: 'Dismiss' }).click()
    }
    await showsSession(page, open)
  }),
)

/** The place and message of the error that Node reports for the same files. */
async function errorInNode(uuid, files) {
  const storage = new MemoryStorage()
  for (const { name, buffer } of files) await storage.write(`${uuid}/${name}`, buffer)
  const error = await Session.load('', uuid, { storage }).catch((reason) => reason)
  assert.equal(error.code, 'ERR_CORRUPT_SESSION')
  const path = error.path.replace(`${uuid}/`, '')
  return {
    place: `${path}:${error.line}:${error.column}`,
    text: error.message.slice(`${error.path}:${error.line}:${error.column}: `.length),
  }
}

test(
  'missing files are named',
  withPage(async (page, origin) => {
    const session = createSession(10)
    const files = await filesOf(session)
    await openViewer(page, origin)

    await page.setInputFiles(
      '#files-input',
      files.filter(({ name }) => name !== 'session.json'),
    )
    assert.match((await errorText(page)).text, /^There is no session\.json in the 1 JSON file\./)
    await page.getByRole('button', { name: 'Dismiss' }).click()

    await page.setInputFiles(
      '#files-input',
      files.filter(({ name }) => name === 'session.json'),
    )
    assert.match((await errorText(page)).text, new RegExp(`${session.activeContextId}\\.json does not exist`))
    assert.equal(await page.locator('#viewer').isHidden(), true)
  }),
)

test(
  'a uuid that leaves the folder is refused',
  withPage(async (page, origin) => {
    const session = createSession(10)
    const files = changeFile(await filesOf(session), 'session.json', (text) =>
      text.replace(session.uuid, '../../elsewhere'),
    )
    await openViewer(page, origin)
    await page.setInputFiles('#files-input', files)
    assert.match((await errorText(page)).text, /uuid/)
  }),
)

test(
  'a vocabulary that cannot be loaded is a readable error, and windows of messages still work',
  withPage(
    async (page, origin) => {
      await page.route('**/encodings/**', (route) => route.fulfill({ status: 503, body: '' }))
      const session = createSession(40)
      await openViewer(page, origin)
      await page.setInputFiles('#files-input', await filesOf(session))
      assert.match((await errorText(page)).text, /cl100k_base\.bin.*503/)

      await page.getByRole('radio', { name: 'Messages' }).check()
      await page.fill('#limit', '10')
      await page.waitForFunction(() => document.querySelectorAll('.dropped').length === 28)

      await page.unroute('**/encodings/**')
      await page.selectOption('#encoding', 'o200k_base')
      await counted(page)
      assert.deepEqual(await column(page, 'tokens'), session.activeContext.tokenCounts('o200k_base'))
    },
    { expected: /503/ },
  ),
)

test(
  'a session without an active context shows its newest context',
  withPage(async (page, origin) => {
    const session = createSession(10)
    const files = changeFile(await filesOf(session), 'session.json', (text) =>
      text.replace(`"active_context_id": "${session.activeContextId}"`, '"active_context_id": null'),
    )
    await openViewer(page, origin)
    await openFiles(page, files)
    assert.equal(await page.locator('.message').count(), 10)
  }),
)

test(
  'messages of any shape that a file may hold are shown',
  withPage(async (page, origin) => {
    const session = createSession(3)
    session.activeContext.append(Message.create('user', [ContentPart.text('to be replaced')]))
    const part = '{"type":"text","text":"to be replaced"}'
    const parts = [
      '{"type":"text"}',
      '{"type":"text","text":5}',
      '{"type":"thinking","text":null}',
      '{"type":"image"}',
      '{"type":"image","source":5}',
      '{"type":"image","source":{"type":"base64","data":7}}',
      '{"type":"tool_use"}',
      '{"type":"tool_use","arguments":{"a":1},"name":["x"]}',
      '{"type":"tool_result","content":[1]}',
      '{"type":"tool"}',
      '{"type":"tool","name":1,"parameters":"x"}',
      '{"type":"constructor"}',
    ]
    const files = changeFile(await filesOf(session), `${session.activeContextId}.json`, (text) => {
      const dict = JSON.parse(text)
      return JSON.stringify(dict)
        .replace(part, parts.join(','))
        .replace('"role":"user"', '"role":"constructor"')
        .replace('"creation_timestamp":"', '"creation_timestamp":"?')
    })
    await openViewer(page, origin)
    await openFiles(page, files)
    assert.equal(await page.locator('.message').last().locator('.part').count(), parts.length)
  }),
)

test(
  'everything can be done with the keyboard',
  withPage(async (page, origin) => {
    const session = createSession(60)
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))
    await page.evaluate(() => document.activeElement.blur())

    const stops = []
    for (let press = 0; press < 10; press++) {
      await page.keyboard.press('Tab')
      stops.push(
        await page.evaluate(
          () => document.activeElement.id || document.activeElement.name || document.activeElement.className,
        ),
      )
    }
    assert.deepEqual(stops, [
      'skip-link',
      'open-folder',
      'open-files',
      'open-demo',
      'encoding',
      'mode',
      'limit',
      'slider',
      'boundary',
      'to-cut',
    ])
    // The file dialog belongs to the system; the test checks that the button opens it.
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Open files' }).press('Enter')
    assert.equal((await chooser).isMultiple(), true)
  }),
)

test(
  'the content security policy allows only the scripts of the page',
  withPage(
    async (page, origin) => {
      const html = await readFile(join(root, 'examples', 'browser', 'index.html'), 'utf8')
      const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html)
      const directives = Object.fromEntries(policy.split('; ').map((part) => part.split(/ (.*)/s).slice(0, 2)))
      assert.equal(directives['default-src'], "'none'")
      assert.equal(directives['script-src'], "'self' 'wasm-unsafe-eval'")
      assert.equal(directives['connect-src'], "'self'")
      await openViewer(page, origin)
      await page.evaluate(() => {
        const script = document.createElement('script')
        script.textContent = 'window.hacked = true'
        document.body.append(script)
      })
      assert.equal(await page.evaluate(() => window.hacked), undefined)
    },
    { expected: /Content Security Policy/ },
  ),
)
