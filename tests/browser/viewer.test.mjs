// The viewer shows the same session data as Node.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContentPart, Message } from '../../dist/index.mjs'
import { useBrowser } from './support/browser.mjs'
import { changeFile, createSession, filesOf, HOSTILE, PNG } from './support/sessions.mjs'
import { column, counted, dimmed, openFiles, openViewer, positions, settled } from './support/viewer.mjs'

const withPage = useBrowser()

test(
  'shows every message with its role, its tokens and the running total',
  withPage(async (page, origin) => {
    const session = createSession(60)
    const context = session.activeContext
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))

    const roles = await page.locator('.message .role').allTextContents()
    assert.deepEqual(roles.slice(0, 6), ['System prompt', 'Tool definitions', 'User', 'Assistant', 'Tool', 'Assistant'])
    assert.equal(roles.length, 60)
    for (const encoding of ['cl100k_base', 'o200k_base', 'r50k_base', 'p50k_edit', 'o200k_harmony']) {
      await page.selectOption('#encoding', encoding)
      await counted(page)
      const counts = context.tokenCounts(encoding)
      let total = 0
      assert.deepEqual(await column(page, 'tokens'), counts, encoding)
      assert.deepEqual(
        await column(page, 'running'),
        counts.map((count) => (total += count)),
        encoding,
      )
      assert.equal(await page.textContent('#token-count'), context.totalTokenCount(encoding).toLocaleString('en'))
    }
  }),
)

test(
  'shows the parts of messages',
  withPage(async (page, origin) => {
    const session = createSession(6)
    const source = { type: 'base64', media_type: 'image/png', data: PNG }
    session.activeContext.append(
      Message.create(
        'user',
        [
          ContentPart.image(source),
          ContentPart.image({ ...source, media_type: 'image/svg+xml' }),
          ContentPart.image({ ...source, data: 'bm90IGEgcGljdHVyZQ==' }),
          ContentPart.pdf({ ...source, media_type: 'application/pdf' }),
          ContentPart.image({ type: 'url', url: `${origin}/not-to-be-fetched.png` }),
        ],
        { channel: 'mail' },
      ),
    )
    session.activeContext.append(
      Message.create('assistant', [
        ContentPart.toolUse('exact', 'count', '{"limit": 9223372036854775808, "text": "one\\ntwo"}'),
        ContentPart.toolUse('torn', 'count', '{"limit": '),
        { type: 'a new type', key: 1 },
      ]),
    )
    session.activeContext.append({ role: 'assistant' })
    const requests = []
    page.on('request', (request) => requests.push(request.url()))
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))

    const parts = (message) => page.locator('.message').nth(message).locator('.part')
    assert.match(await parts(1).nth(0).textContent(), /read_file Reads a file/)
    assert.match(await parts(3).nth(0).textContent(), /Thinking.*Thought 0\./)
    assert.match(await parts(3).nth(1).textContent(), /Call read_file call_0.*path.*src\/file-0\.rs/)
    assert.match(await parts(4).nth(0).textContent(), /Result read_file call_0/)
    await page.locator('.message').nth(6).scrollIntoViewIfNeeded()
    await page.waitForFunction(() => document.querySelectorAll('.message img').length === 1)
    assert.deepEqual(await page.$eval('.message img', (image) => [image.complete, image.naturalWidth]), [true, 1])
    assert.match(await parts(6).nth(1).textContent(), /image\/svg\+xml/)
    assert.match(await parts(6).nth(2).textContent(), /cannot be shown/)
    assert.match(await parts(6).nth(3).textContent(), /PDF.*application\/pdf, \d+ bytes/)
    assert.match(await parts(6).nth(4).textContent(), /not-to-be-fetched\.png/)
    assert.match(await page.locator('.message').nth(6).locator('.metadata').textContent(), /^channel: mail$/)
    assert.deepEqual(await parts(7).nth(0).locator('dd').allTextContents(), ['9223372036854775808', 'one\ntwo'])
    assert.match(await parts(7).nth(1).textContent(), /\{"limit": $/)
    assert.match(await parts(7).nth(2).textContent(), /a new type.*"key": 1/s)
    assert.equal(await page.locator('.message').nth(8).locator('.parts').textContent(), 'No content')
    assert.deepEqual(
      requests.filter((url) => url.includes('not-to-be-fetched')),
      [],
    )
  }),
)

test(
  'the slider dims exactly what planTokenWindow drops',
  withPage(async (page, origin) => {
    const session = createSession(120)
    const context = session.activeContext
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))

    const slider = page.getByRole('slider', { name: 'Token budget' })
    const seen = new Set()
    for (const key of ['Home', 'ArrowRight', 'PageUp', 'PageUp', 'PageUp', 'ArrowLeft', 'PageDown', 'End']) {
      await slider.press(key)
      const budget = Number(await page.inputValue('#limit'))
      const { dropped } = context.planTokenWindow(budget)
      assert.deepEqual(await dimmed(page), positions(context, dropped), `a budget of ${budget}`)
      seen.add(dropped.length)
    }
    assert.ok(seen.size > 4, 'the slider passed several windows')

    const total = context.totalTokenCount()
    for (const budget of [0, 1, total - 1, total, total + 1, Math.floor(total / 3)]) {
      await page.fill('#limit', String(budget))
      const { dropped } = context.planTokenWindow(budget)
      assert.deepEqual(await dimmed(page), positions(context, dropped), `a budget of ${budget}`)
    }
  }),
)

test(
  'the slider dims exactly what planSequenceWindow drops',
  withPage(async (page, origin) => {
    const session = createSession(40)
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))

    await page.getByRole('radio', { name: 'Messages' }).check()
    for (const key of ['Home', 'ArrowRight', 'PageUp', 'End', 'ArrowLeft']) {
      await page.getByRole('slider', { name: 'Number of messages' }).press(key)
      const count = Number(await page.inputValue('#limit'))
      const { dropped } = session.activeContext.planSequenceWindow(count)
      assert.deepEqual(await dimmed(page), positions(session.activeContext, dropped), `the last ${count}`)
    }
  }),
)

test(
  'the boundary decides where the window begins, and each dropped message shows the reason',
  withPage(async (page, origin) => {
    const session = createSession(60)
    const context = session.activeContext
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))

    const words = { 'over-limit': 'dropped', exchange: 'dropped with its exchange', turn: 'dropped with its turn' }
    const seen = new Set()
    const total = context.totalTokenCount()
    for (const boundary of ['exchange', 'turn', 'message']) {
      await page.getByLabel('Begins at').selectOption(boundary)
      for (let tenth = 4; tenth < 10; tenth++) {
        const budget = Math.floor((total * tenth) / 10)
        await page.fill('#limit', String(budget))
        const { dropped, messages } = context.planTokenWindow(budget, undefined, { boundary })
        assert.deepEqual(await dimmed(page), positions(context, dropped), `${boundary}, a budget of ${budget}`)
        const said = await page.locator('.message.dropped .dropped-mark').allTextContents()
        const reasons = messages.filter(({ kept }) => !kept).map(({ reason }) => reason)
        assert.deepEqual(
          said,
          reasons.map((reason) => words[reason]),
        )
        reasons.forEach((reason) => seen.add(reason))
      }
    }
    assert.deepEqual([...seen].sort(), Object.keys(words).sort())

    await page.getByLabel('Begins at').selectOption('turn')
    const before = await dimmed(page)
    await page.fill('#limit', '1')
    await settled(page)
    assert.match(await page.textContent('#limit-fault'), /raise maxTokens to \d+/)
    assert.deepEqual(await dimmed(page), before)
  }),
)

test(
  'the bar and its table show what is always sent, kept and dropped',
  withPage(async (page, origin) => {
    const session = createSession(50)
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))

    await page.fill('#limit', '900')
    await settled(page)
    const report = session.activeContext.planTokenWindow(900)
    const tokens = [
      report.specialTokens,
      report.tokensAfter - report.specialTokens,
      report.tokensBefore - report.tokensAfter,
    ]
    const messages = [2, report.kept.length, report.dropped.length]
    assert.ok(messages.every((number) => number > 0))
    const cells = await page.locator('.legend td').allTextContents()
    assert.deepEqual(
      cells,
      messages.flatMap((number, index) => [number, tokens[index]].map((value) => value.toLocaleString('en'))),
    )
    const segments = await page.$$eval('.bar span', (spans) => spans.map((span) => Number(span.style.flexGrow)))
    assert.deepEqual(segments, tokens)
  }),
)

test(
  'an invalid budget is a readable error, and the window stays',
  withPage(async (page, origin) => {
    const session = createSession(30)
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))
    await page.fill('#limit', '500')
    const before = await dimmed(page)

    for (const number of ['-1', '1.5', '']) {
      await page.fill('#limit', number)
      assert.deepEqual(await dimmed(page), before)
      assert.match(await page.textContent('#limit-fault'), /maxTokens: expected a non-negative integer/)
      assert.equal(await page.getAttribute('#limit', 'aria-invalid'), 'true')
    }
    // Each mode has its own limit.
    await page.getByRole('radio', { name: 'Messages' }).check()
    await settled(page)
    assert.equal(await page.textContent('#limit-fault'), '')
    await page.getByRole('radio', { name: 'Tokens' }).check()
    await page.fill('#limit', '500')
    assert.deepEqual(await dimmed(page), before)
    assert.equal(await page.textContent('#limit-fault'), '')
  }),
)

test(
  'moving the slider updates only the rows that change',
  withPage(async (page, origin) => {
    const session = createSession(600)
    const context = session.activeContext
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))
    const total = context.totalTokenCount()
    await page.fill('#limit', String(Math.floor(total / 2)))
    await settled(page)
    await page.evaluate(() => {
      window.changes = []
      const observer = new MutationObserver((records) => window.changes.push(...records.map(({ type }) => type)))
      const list = document.getElementById('messages')
      observer.observe(list, { subtree: true, childList: true, attributes: true, characterData: true })
    })

    await page.fill('#limit', String(Math.floor(total / 2) + 2000))
    await settled(page)
    const change =
      context.planTokenWindow(Math.floor(total / 2)).dropped.length -
      context.planTokenWindow(Math.floor(total / 2) + 2000).dropped.length
    assert.ok(change > 0)
    assert.deepEqual(await page.evaluate(() => window.changes), Array(change).fill('attributes'))
  }),
)

test(
  'jumps to the first kept message',
  withPage(async (page, origin) => {
    const session = createSession(200)
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))
    await page.getByRole('button', { name: 'Go to the first kept message' }).click()
    const first = (await dimmed(page)).at(-1) + 1
    await page.waitForFunction((index) => {
      const { top } = document.querySelectorAll('.message')[index].getBoundingClientRect()
      return top > 0 && top < innerHeight
    }, first)
  }),
)

test(
  'text is shown as text, and no script in it runs',
  withPage(async (page, origin) => {
    const session = createSession(4)
    const context = session.activeContext
    context.append(Message.create('user', [ContentPart.text(HOSTILE)], { [HOSTILE]: HOSTILE }))
    context.append(
      Message.create('assistant', [
        ContentPart.thinking(HOSTILE),
        ContentPart.toolUse(HOSTILE, HOSTILE, { [HOSTILE]: HOSTILE }),
        ContentPart.toolUse(HOSTILE, HOSTILE, HOSTILE),
        { type: HOSTILE, [HOSTILE]: HOSTILE },
      ]),
    )
    context.append(
      Message.create('tool', [
        ContentPart.toolResult(HOSTILE, HOSTILE),
        ContentPart.tool(HOSTILE, HOSTILE, { [HOSTILE]: HOSTILE }),
      ]),
    )
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked = true"/>').toString(
      'base64',
    )
    context.append(
      Message.create('user', [
        ContentPart.image({ type: 'url', url: 'javascript:window.hacked=true' }),
        ContentPart.image({ type: 'base64', media_type: 'image/svg+xml', data: svg }),
        ContentPart.image({ type: 'base64', media_type: 'text/html', data: Buffer.from(HOSTILE).toString('base64') }),
        ContentPart.image({ type: 'base64', media_type: `image/png,${HOSTILE}`, data: HOSTILE }),
      ]),
    )
    const requests = []
    page.on('request', (request) => requests.push(request.url()))
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))
    await page.locator('.message').last().scrollIntoViewIfNeeded()
    await settled(page)

    assert.equal(await page.locator('.message').nth(4).locator('.part .prose').textContent(), HOSTILE)
    assert.equal(await page.locator('.message').nth(6).locator('.part .code').first().textContent(), HOSTILE)
    assert.equal(await page.locator('#messages :is(script, img, b, iframe, a, svg)').count(), 0)
    assert.equal(await page.evaluate(() => window.hacked), undefined)
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:')),
      [],
    )
  }),
)

test(
  'a __proto__ key is shown, and pollutes nothing',
  withPage(async (page, origin) => {
    const session = createSession(4)
    session.activeContext.append(
      JSON.parse(
        '{"role":"user","content":[{"type":"tool_use","call_id":"c","name":"n","arguments":"{\\"__proto__\\":{\\"polluted\\":1}}"}],' +
          '"metadata":{"__proto__":{"polluted":2}},"__proto__":{"polluted":3}}',
      ),
    )
    const withProto = (text) => text.replace('{', '{ "__proto__": { "polluted": 4 },')
    let files = await filesOf(session)
    for (const { name } of files) files = changeFile(files, name, withProto)
    await openViewer(page, origin)
    await openFiles(page, files)

    const row = page.locator('.message').last()
    assert.equal(await row.locator('dt').textContent(), '__proto__')
    assert.match(await row.locator('dd').textContent(), /"polluted":1/)
    assert.match(await row.locator('.metadata').textContent(), /"__proto__": \{\s*"polluted": 2/)
    assert.equal(await page.evaluate(() => ({}).polluted), undefined)
  }),
)

test(
  'a long result is shown in full on demand',
  withPage(async (page, origin) => {
    const session = createSession(3)
    const text = Array.from({ length: 400 }, (_, line) => `line ${line}`).join('\n')
    session.activeContext.append(Message.create('tool', [ContentPart.toolResult('call', text)]))
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))

    const result = page.locator('.message').last().locator('.code')
    assert.ok((await result.textContent()).length < 500)
    await page.getByRole('button', { name: 'Show all 400 lines' }).press('Enter')
    assert.equal(await result.textContent(), text)
    await page.getByRole('button', { name: 'Show less' }).press('Enter')
    assert.ok((await result.textContent()).length < 500)
  }),
)

test(
  'shows another context when it is chosen',
  withPage(async (page, origin) => {
    const session = createSession(40)
    const whole = session.activeContext
    const window = session.rollingSequenceWindow(10)
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))
    assert.equal(await page.inputValue('#context'), window.id)
    assert.equal(await page.locator('.message').count(), 12)

    await page.selectOption('#context', whole.id)
    await page.waitForFunction(() => document.querySelectorAll('.message').length === 40)
    await counted(page)
    assert.deepEqual(await column(page, 'tokens'), whole.tokenCounts())
  }),
)

test(
  'right-to-left text is displayed from right to left',
  withPage(async (page, origin) => {
    const session = createSession(2)
    session.activeContext.append(
      Message.create('user', [ContentPart.text('שלום, session.json'), ContentPart.text('Hello שלום')]),
    )
    await openViewer(page, origin)
    await openFiles(page, await filesOf(session))
    const directions = await page.$$eval('.message:last-child .prose', (blocks) =>
      blocks.map((block) => getComputedStyle(block).direction),
    )
    assert.deepEqual(directions, ['rtl', 'ltr'])
  }),
)
