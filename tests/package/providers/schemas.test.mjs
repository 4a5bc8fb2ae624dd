// The requests of `toMessages` match the types of the official SDKs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contextOf, conversations } from '../support/conversations.mjs'
import { load } from '../support/installed.mjs'
import { chance, fc, forAll, isUsual, list, nth } from '../support/property.mjs'
import { validators } from '../support/schemas.mjs'

const peteos = await load('peteos-session')
const { Context, toMessages } = peteos
const faults = validators()

/** A value that no field of a part may have. */
const JUNK = {
  text: 5,
  cache_control: 'x',
  provider_options: 'x',
  item_id: 5,
  detail: 'x',
  thought_signature: {},
}

for (const [provider, fault] of Object.entries(faults)) {
  test(`${provider}: every request matches the official types`, async () => {
    await forAll(400, conversations(provider), (conversation) => {
      const request = toMessages(contextOf(peteos, conversation), provider)
      assert.equal(fault(request), null, JSON.stringify(request))
    })
  })

  test(`${provider}: a repaired request of another provider's conversation matches them too`, async () => {
    const others = fc.constantFrom(...Object.keys(faults)).chain(conversations)
    const broken = list(1, 30, chance(0.2))
    await forAll(200, fc.tuple(others, broken), ([conversation, broken]) => {
      let parts = 0
      const { messages } = contextOf(peteos, conversation)
      const damaged = messages.map((message) => ({
        ...message,
        content: message.content.map((part) => (nth(broken, parts++) ? { ...part, ...JUNK, type: part.type } : part)),
      }))
      const request = toMessages(Context.fromDict({ messages: damaged }), provider, { repair: true })
      assert.equal(fault(request), null, JSON.stringify(request))
    })
  })

  test(`${provider}: a request with one fault does not match the official types`, async () => {
    let refused = 0
    const places = fc.record({ object: fc.nat(), key: fc.nat() })
    await forAll(200, fc.tuple(conversations(provider), places), ([conversation, place]) => {
      const request = toMessages(contextOf(peteos, conversation), provider)
      const objects = [...objectsOf(request.messages ?? request.input ?? request.contents)]
      if (objects.length === 0) return
      const broken = nth(objects, place.object)
      broken.nobody_knows_this_key = true
      assert.notEqual(fault(request), null, JSON.stringify(request))
      delete broken.nobody_knows_this_key
      assert.equal(fault(request), null)
      // Every field has a type, except the input of a call, which is untyped in two of the SDKs.
      const key = nth(
        Object.keys(broken).filter((name) => name !== 'input'),
        place.key,
      )
      broken[key] = broken[key] === 12 ? 'x' : 12
      assert.notEqual(fault(request), null, `${key} in ${JSON.stringify(request)}`)
      refused++
    })
    assert.ok(!isUsual || refused > 100, String(refused))
  })
}

/** The objects of messages down to their parts, without the caller's data in them (arguments, results). */
function* objectsOf(value) {
  if (Array.isArray(value)) {
    for (const item of value) yield* objectsOf(item)
  } else if (typeof value === 'object' && value !== null) {
    yield value
    yield* objectsOf(value.content ?? value.parts)
  }
}
