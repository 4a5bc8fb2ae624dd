// Sessions loaded from the texts of their files.
import { load } from './installed.mjs'
import { RecordingStorage } from './storages.mjs'
import { fileText } from './text.mjs'

const { Session } = await load('peteos-session')

/** Loads the session `a/s` with the context `c` from the texts of its two files. */
export async function loaded(contextText, sessionText = fileText({ uuid: 's', active_context_id: 'c' })) {
  const storage = new RecordingStorage({ 'a/s/session.json': sessionText, 'a/s/c.json': contextText })
  return { storage, session: await Session.load('a', 's', { storage }) }
}
