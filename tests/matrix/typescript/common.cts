import main = require('peteos-session')
import testing = require('peteos-session/testing')

export const session: main.Session = main.Session.create('sessions')
export const cases = testing.storageConformance(() => new main.MemoryStorage())
