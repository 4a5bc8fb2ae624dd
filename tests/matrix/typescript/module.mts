import { Session } from 'peteos-session'
import { work } from './app.js'

export const started: Promise<number> = work('o200k_base')
export const session = Session.create('sessions')
