// The package in a browser as a page imports it: by URL, without a bundler.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as inNode from '../../dist/index.mjs'
import { fencedBlocks } from '../package/support/code-blocks.mjs'
import { useBrowser } from './support/browser.mjs'
import { saveFixedSession } from './support/fixed-session.mjs'

const withPage = useBrowser()

/** A test on an empty page. `work` gets the page and a growing list of its requests. */
function withEmptyPage(work, options) {
  return withPage(async (page, origin) => {
    await page.route(`${origin}/empty`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }))
    await page.goto(`${origin}/empty`)
    const requests = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await work(page, requests)
  }, options)
}

test(
  'before init() every synchronous call throws NotInitializedError',
  withEmptyPage(async (page, requests) => {
    const names = await page.evaluate(async () => {
      const { Context, Message, Session, SystemPromptMessage, countTokens, encodingForModel } = await import(
        '/dist/browser.js'
      )
      const calls = [
        () => Session.create('parent'),
        () => Context.create(),
        () => Context.fromDict({}),
        () => Message.create('user', []),
        () => SystemPromptMessage.create('text'),
        () => countTokens('text'),
        () => encodingForModel('gpt-4o'),
      ]
      return calls.map((call) => {
        try {
          return call()
        } catch (error) {
          return `${error.name} ${error.code} ${error.message.includes('await init()')}`
        }
      })
    })
    assert.deepEqual(new Set(names), new Set(['NotInitializedError ERR_NOT_INITIALIZED true']))
    assert.ok(!requests.some((path) => path.endsWith('.wasm')), 'importing loads no module')
  }),
)

test(
  'errors point at the caller',
  withEmptyPage(async (page) => {
    const frames = await page.evaluate(async () => {
      const { Message, Session, init } = await import('/dist/browser.js')
      await init()
      const firstFrame = ({ stack }) => stack.split('\n')[1]
      function caller() {
        return Message.create('nobody', [])
      }
      async function asyncCaller() {
        return Session.load('parent', 'none')
      }
      let thrown
      try {
        caller()
      } catch (error) {
        thrown = error
      }
      return [firstFrame(thrown), firstFrame(await asyncCaller().catch((error) => error))]
    })
    assert.match(frames[0], /^ +at caller /)
    assert.match(frames[1], /^ +at asyncCaller /)
  }),
)

test(
  'init() is idempotent, and concurrent calls share one module',
  withEmptyPage(async (page, requests) => {
    await page.evaluate(async () => {
      const { Session, init } = await import('/dist/browser.js')
      await Promise.all([init(), init(), init()])
      const session = Session.create('parent')
      await init()
      await init('/not/asked/for.wasm')
      session.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'still there' }] })
    })
    assert.deepEqual(requests.filter((path) => path.endsWith('.wasm')).sort(), [
      '/dist/peteos_session_bg.wasm',
      '/dist/peteos_session_providers_bg.wasm',
    ])
  }),
)

test(
  'init() compiles the modules while they are downloaded',
  withEmptyPage(async (page) => {
    const calls = await page.evaluate(async () => {
      const calls = []
      for (const name of ['instantiateStreaming', 'instantiate', 'compile']) {
        const real = WebAssembly[name]
        WebAssembly[name] = (...args) => {
          calls.push(name)
          return real.apply(WebAssembly, args)
        }
      }
      const { init } = await import('/dist/browser.js')
      await init()
      return calls
    })
    assert.deepEqual(calls, ['instantiateStreaming', 'instantiateStreaming'])
  }),
)

test(
  'a failed init() can be retried',
  withEmptyPage(
    async (page) => {
      await page.route('**/*.wasm', (route) => route.fulfill({ status: 404, body: 'not found' }))
      const failures = await page.evaluate(async () => {
        const { Session, init } = await import('/dist/browser.js')
        const failure = async () =>
          init().then(
            () => 'no error',
            (error) => [error.name, error.code, error.cause !== undefined],
          )
        const failures = await Promise.all([failure(), failure()])
        return [
          ...failures,
          await Session.list('parent').catch((error) => [error.name, error.code, error.cause !== undefined]),
        ]
      })
      for (const failure of failures) assert.deepEqual(failure, ['NotInitializedError', 'ERR_NOT_INITIALIZED', true])

      await page.unroute('**/*.wasm')
      assert.equal(
        await page.evaluate(async () => {
          const { Session, init } = await import('/dist/browser.js')
          await init()
          return Session.create('parent').activeContext.messageCount
        }),
        0,
      )
    },
    { expected: /404/ },
  ),
)

test(
  'the module of the providers is fetched when it is asked for',
  withEmptyPage(async (page, requests) => {
    const answers = await page.evaluate(async () => {
      const { check, Context, fromMessages, init, loadProviders, toMessages } = await import('/dist/browser.js')
      await init({ providers: false })
      const context = Context.create()
      context.append({ role: 'user', content: [{ type: 'text', text: 'Hi' }] })
      const refused = [
        () => check(context, 'anthropic'),
        () => toMessages(context, 'anthropic'),
        () => fromMessages([], 'anthropic'),
      ].map((call) => {
        try {
          return call()
        } catch ({ name, message }) {
          return `${name}: ${message}`
        }
      })
      const before = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.wasm')).length
      await Promise.all([loadProviders(), loadProviders()])
      return { refused, before, findings: check(context, 'anthropic').length, ...toMessages(context, 'anthropic') }
    })
    const expected =
      'NotInitializedError: the module of the providers is not loaded; call `await loadProviders()` first'
    assert.deepEqual(answers, {
      refused: [expected, expected, expected],
      before: 1,
      findings: 0,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    })
    assert.deepEqual(
      requests.filter((path) => path.endsWith('.wasm')),
      ['/dist/peteos_session_bg.wasm', '/dist/peteos_session_providers_bg.wasm'],
    )
    assert.ok(
      requests.some((path) => /^\/dist\/bindings-\w+\.js$/.test(path)),
      'its code is a file of its own',
    )
  }),
)

test(
  'who uses no provider does not need their module',
  withEmptyPage(
    async (page) => {
      await page.route('**/peteos_session_providers_bg.wasm', (route) => route.fulfill({ status: 404, body: 'none' }))
      const answers = await page.evaluate(async () => {
        const { check, Context, init, loadProviders } = await import('/dist/browser.js')
        await init()
        const failure = async (call) => {
          try {
            await call()
          } catch ({ name, code, cause }) {
            return [name, code, cause !== undefined]
          }
        }
        return [
          Context.create().messageCount,
          await failure(() => check(Context.create(), 'anthropic')),
          await failure(() => loadProviders()),
          await failure(() => init({ providers: '/dist/peteos_session_providers_bg.wasm' })),
        ]
      })
      const failed = ['NotInitializedError', 'ERR_NOT_INITIALIZED', true]
      assert.deepEqual(answers, [0, failed, failed, failed])

      await page.unroute('**/peteos_session_providers_bg.wasm')
      const rules = await page.evaluate(async () => {
        const { check, Context, loadProviders } = await import('/dist/browser.js')
        await loadProviders()
        return check(Context.create(), 'anthropic').map(({ rule }) => rule)
      })
      assert.deepEqual(rules, ['no-messages'])
    },
    { expected: /404/ },
  ),
)

test(
  'init() accepts the module from another source',
  withEmptyPage(async (page) => {
    assert.equal(
      await page.evaluate(async () => {
        const { Context, init } = await import('/dist/slim.js')
        const refused = await init().catch((error) => error.name)
        await init(await fetch('/dist/peteos_session_bg.wasm').then((response) => response.arrayBuffer()))
        return `${refused} ${Context.create().messageCount}`
      }),
      'NotInitializedError 0',
    )
  }),
)

test(
  'an encoding must be loaded before it counts',
  withEmptyPage(async (page, requests) => {
    const text = 'Grüße, 世界! <|endoftext|>'
    const inPage = await page.evaluate(async (text) => {
      const { Session, countTokens, init, loadEncoding } = await import('/dist/browser.js')
      await init()
      const session = Session.create('parent')
      const context = session.activeContext
      for (let number = 0; number < 10; number++) context.append({ role: 'user', content: [{ type: 'text', text }] })
      const calls = [
        () => session.rollingTokenWindow(100, 'o200k_base'),
        () => context.planTokenWindow(100, 'o200k_base'),
        () => context.tokenCounts('o200k_base'),
        () => countTokens(text, 'o200k_base'),
      ]
      const errors = calls.map((call) => {
        try {
          return call()
        } catch (error) {
          return [error.name, error.code, error.encoding]
        }
      })
      const isUntouched = session.activeContext === context && context.messageCount === 10
      const unknown = await loadEncoding('o300k_base').catch((error) => error.name)
      await Promise.all([loadEncoding('o200k_base'), loadEncoding('o200k_base'), loadEncoding('o200k_harmony')])
      const report = context.planTokenWindow(100, 'o200k_base')
      const window = session.rollingTokenWindow(100, 'o200k_base')
      return {
        errors,
        isUntouched,
        unknown,
        tokens: countTokens(text, 'o200k_base'),
        isActive: session.activeContext === window,
        kept: window.messages.map(({ id }) => id),
        report,
      }
    }, text)
    for (const error of inPage.errors)
      assert.deepEqual(error, ['EncodingNotLoadedError', 'ERR_ENCODING_NOT_LOADED', 'o200k_base'])
    assert.ok(inPage.isUntouched)
    assert.equal(inPage.unknown, 'UnknownEncodingError')
    assert.equal(inPage.tokens, inNode.countTokens(text, 'o200k_base'))
    assert.ok(inPage.isActive)
    assert.deepEqual(inPage.kept, inPage.report.kept)
    assert.ok(inPage.report.dropped.length > 0 && inPage.report.tokensAfter <= 100)
    assert.deepEqual(
      requests.filter((path) => path.endsWith('.bin')),
      ['/dist/encodings/o200k_base.bin'],
    )
  }),
)

test(
  'every encoding counts as in Node',
  withEmptyPage(async (page) => {
    const text = 'fn main() { println!("{}", "世界 🦀 שלום") }\n\n\t<|endoftext|> '.concat('a'.repeat(300))
    const encodings = ['r50k_base', 'gpt2', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base', 'o200k_harmony']
    const counts = await page.evaluate(
      async ([text, encodings]) => {
        const { countTokens, loadEncoding } = await import('/dist/browser.js')
        await Promise.all(encodings.map((name) => loadEncoding(name)))
        return encodings.map((name) => countTokens(text, name))
      },
      [text, encodings],
    )
    assert.deepEqual(
      counts,
      encodings.map((name) => inNode.countTokens(text, name)),
    )
  }),
)

test(
  'the default storage is one shared store in memory',
  withEmptyPage(async (page) => {
    assert.deepEqual(
      await page.evaluate(async () => {
        const { MemoryStorage, Session, init } = await import('/dist/browser.js')
        await init()
        const session = Session.create('agents')
        session.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'Hi' }] })
        await session.save()
        const again = await Session.load('agents', session.uuid)
        const [summary] = await Session.list('agents')
        return [
          session.storage instanceof MemoryStorage,
          again.storage === session.storage,
          again.activeContext.messages[0].content[0].text,
          summary.uuid === session.uuid,
        ]
      }),
      [true, true, 'Hi', true],
    )
  }),
)

for (const entry of ['browser', 'inline']) {
  test(
    `dist/${entry}.js saves the same bytes as Node`,
    withEmptyPage(async (page) => {
      const inPage = await page.evaluate(`(async () => {
      const api = await import('/dist/${entry}.js')
      await api.init()
      const files = await (${saveFixedSession})(api)
      return { files, polluted: ({}).polluted }
    })()`)
      const expected = await saveFixedSession(inNode)
      assert.deepEqual(Object.keys(inPage.files), Object.keys(expected))
      for (const [path, bytes] of Object.entries(expected)) {
        assert.equal(Buffer.from(inPage.files[path]).toString(), Buffer.from(bytes).toString(), path)
      }
      assert.deepEqual(inPage.files, expected)
      assert.equal(inPage.polluted, undefined)
      const [context, session] = Object.values(expected).map((bytes) => Buffer.from(bytes).toString())
      assert.match(session, /9223372036854775808,\s+1\.0,\s+1e\+?16,\s+-0\.0/)
      assert.match(session, /"__proto__": \{/)
      assert.match(context, /"__proto__": \{/)
      assert.match(context, /\\ud83e\\udd80/)
    }),
  )
}

test(
  'dist/inline.js needs no other files than vocabularies',
  withEmptyPage(async (page, requests) => {
    assert.equal(
      await page.evaluate(async () => {
        const { countTokens, init, loadEncoding } = await import('/dist/inline.js')
        await init()
        await loadEncoding('cl100k_base')
        return countTokens('hello world')
      }),
      2,
    )
    assert.ok(!requests.some((path) => path.endsWith('.wasm')))
  }),
)

test(
  'the entries share one copy of the package',
  withEmptyPage(async (page, requests) => {
    assert.deepEqual(
      await page.evaluate(async () => {
        const main = await import('/dist/browser.js')
        const slim = await import('/dist/slim.js')
        await main.init()
        return [main.Session === slim.Session, slim.Session.create('parent') instanceof main.Session]
      }),
      [true, true],
    )
    const modules = requests.filter((path) => path.endsWith('.wasm'))
    assert.equal(modules.length, new Set(modules).size, 'each module is fetched once')
  }),
)

test(
  'the page in docs/api.md works as written',
  withPage(async (page, origin) => {
    const markdown = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
    const [{ source }] = fencedBlocks(markdown).filter(({ language }) => language === 'html')
    await page.route(`${origin}/example`, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<!doctype html><body>${source}` }),
    )
    await page.route(`${origin}/node_modules/peteos-session/**`, async (route) => {
      const url = route.request().url().replace('/node_modules/peteos-session/', '/')
      await route.fulfill({ response: await route.fetch({ url }) })
    })
    await page.goto(`${origin}/example`)
    const expected = String(inNode.countTokens('How many tokens is this?', 'o200k_base'))
    await page.waitForFunction((text) => document.body.textContent === text, expected)
  }),
)
