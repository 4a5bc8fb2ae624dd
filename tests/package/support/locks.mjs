// Lock files of NodeFileStorage as other holders would have made them.
import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runModule } from './files.mjs'

export const lockFile = (directory) => join(directory, '.lock')

export const newToken = () => `${crypto.randomUUID()}-0`

/** What the lock file of this thread says, with the parts of its holder. */
export async function ownLock(storage, directory) {
  return storage.lock(directory, async () => readLock(directory))
}

export function readLock(directory) {
  const record = JSON.parse(readFileSync(lockFile(directory), 'utf8'))
  const [place, ...numbers] = record.holder.split('.')
  const [pid, thread, started] = numbers.map((number) => Number.parseInt(number, 36))
  return { ...record, place, pid, thread, started }
}

/** A holder as the names of temporary files have it. */
export function holderText({ place, pid, thread, started }) {
  return [place, ...[pid, thread, started].map((number) => number.toString(36))].join('.')
}

/** Another token, as that of another copy of the package. */
export function lockText(holder) {
  return JSON.stringify({
    pid: holder.pid,
    host: holder.host ?? 'host',
    holder: holderText(holder),
    token: holder.token ?? newToken(),
  })
}

export function writeLock(directory, holder) {
  writeFileSync(lockFile(directory), typeof holder === 'string' ? holder : lockText(holder))
}

/** Dates a file some seconds before now; after it where that is negative. */
export function age(path, seconds) {
  const time = new Date(Date.now() - seconds * 1000)
  utimesSync(path, time, time)
}

/** The main thread of a process that lives, on Linux. */
export function holderOf(pid, place) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const started = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  return { place, pid, thread: pid, started }
}

/** Holds the lock of the directory that the script is given, until it is killed. */
export const HOLD = `
  await new (await import('peteos-session/node')).NodeFileStorage().lock(process.argv[2], () => {
    console.log(process.pid)
    return new Promise((resolve) => setTimeout(resolve, 60_000))
  })
`

/** An ended process as the holder of a lock. */
export async function endedHolder(place) {
  const pid = Number(await runModule('console.log(process.pid)'))
  return { place, pid, thread: pid, started: 1 }
}

/** The process that started this one, which lives. */
export const livingHolder = (place) => holderOf(process.ppid, place)
