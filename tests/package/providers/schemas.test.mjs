// What `toMessages` gives, against what the official SDKs of the providers say of a request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { contextOf, conversation } from '../support/conversations.mjs'
import { forSeeds } from '../support/random.mjs'
import { validators } from '../support/schemas.mjs'

const peteos = await load('peteos-session')
const { Context, toMessages } = peteos
const faults = validators()

for (const [provider, fault] of Object.entries(faults)) {
  test(`${provider}: every request is one by the official types`, async () => {
    await forSeeds(400, (random) => {
      const request = toMessages(contextOf(peteos, conversation(random, provider)), provider)
      assert.equal(fault(request), null, JSON.stringify(request))
    })
  })

  test(`${provider}: mended requests of what other providers hold are as well`, async () => {
    await forSeeds(200, (random) => {
      const { messages } = contextOf(peteos, conversation(random, random.pick(Object.keys(faults))))
      const junk = {
        type: 'text',
        text: 5,
        cache_control: 'x',
        provider_options: 'x',
        item_id: 5,
        detail: 'x',
        thought_signature: {},
      }
      const broken = messages.map((message) => ({
        ...message,
        content: message.content.map((part) => (random.chance(0.2) ? { ...part, ...junk, type: part.type } : part)),
      }))
      const request = toMessages(Context.fromDict({ messages: broken }), provider, { repair: true })
      assert.equal(fault(request), null, JSON.stringify(request))
    })
  })

  test(`${provider}: a request with a fault is none`, async () => {
    let refused = 0
    await forSeeds(200, (random) => {
      const request = toMessages(contextOf(peteos, conversation(random, provider)), provider)
      const objects = [...objectsOf(request.messages ?? request.input ?? request.contents)]
      if (objects.length === 0) return
      const broken = random.pick(objects)
      broken.nobody_knows_this_key = true
      assert.notEqual(fault(request), null, JSON.stringify(request))
      delete broken.nobody_knows_this_key
      assert.equal(fault(request), null)
      // Every field has a type, but for the input of a call, which two of the SDKs know nothing of.
      const key = random.pick(Object.keys(broken).filter((name) => name !== 'input'))
      broken[key] = broken[key] === 12 ? 'x' : 12
      assert.notEqual(fault(request), null, `${key} in ${JSON.stringify(request)}`)
      refused++
    })
    assert.ok(process.env.PETEOS_SEED || refused > 100, String(refused))
  })
}

/** The objects of messages, down to their parts; what is the caller's own in them (arguments, results) aside. */
function* objectsOf(value) {
  if (Array.isArray(value)) {
    for (const item of value) yield* objectsOf(item)
  } else if (typeof value === 'object' && value !== null) {
    yield value
    yield* objectsOf(value.content ?? value.parts)
  }
}
