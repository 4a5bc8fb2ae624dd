// Crashes of real file systems: writers work in a file system of its own, which is stopped at random as a crash stops it, with
// everything that has not reached its device, and mounted again.
import { spawnSync } from 'node:child_process'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../scripts/setup/programs.mjs'
import { tempDir } from '../package/support/files.mjs'
import { load } from '../package/support/installed.mjs'
import { preloadEnvironment, whyNoPreload } from './support/preload.mjs'
import { lostFrom, pause, startWriters } from './support/processes.mjs'
import { crashTest } from './support/suite.mjs'

const { Session } = await load('peteos-session')

/** The sizes of the images in bytes: the smallest that the systems accept, with some space. */
const FILE_SYSTEMS = { ext4: 64 << 20, xfs: 320 << 20 }
const WRITERS = [['save'], ['saveSync'], ['update'], ['save', 'saveSync', 'update']]
/** In milliseconds after the first acknowledged message. */
const LONGEST_LIFE = 80
const ROUNDS_OF_A_SESSION = 8

for (const [kind, size] of Object.entries(FILE_SYSTEMS)) {
  const skip = whyNot(kind)
  crashTest(`crashed file systems: ${kind}`, { usual: 3, large: 150, skip }, async (t, { tries, random, row }) => {
    const volume = new Volume(tempDir(t), kind, size)
    t.after(() => volume.unmount())
    volume.mount()
    const counts = { acknowledged: 0 }
    const lost = []
    let session
    let acknowledged
    for (let index = 0; index < tries; index++) {
      if (index % ROUNDS_OF_A_SESSION === 0) {
        session = Session.create(volume.directory)
        await session.save()
        acknowledged = []
      }
      const child = startWriters({
        directory: volume.directory,
        uuid: session.uuid,
        name: `crash ${index}`,
        number: 1_000_000,
        kinds: random.pick(WRITERS),
      })
      await child.first
      await pause(random.below(LONGEST_LIFE))
      volume.crash()
      child.kill()
      await child.ended
      acknowledged.push(...child.lines)
      counts.acknowledged += child.lines.length
      volume.unmount()
      volume.mount()
      lost.push(...(await lostFrom(volume.directory, session.uuid, acknowledged)))
      const { ok, findings } = await Session.check(volume.directory, session.uuid)
      if (!ok) lost.push(...findings.map(({ message }) => message))
    }
    row({ what: kind, tries, ...counts, lost })
  })
}

function whyNot(kind) {
  if (whyNoPreload() !== null) return whyNoPreload()
  if (process.getuid() !== 0) return 'only root can mount a file system'
  const missing = [`mkfs.${kind}`, 'mount', 'umount'].filter(
    (name) => findProgram([name], [`/usr/sbin/${name}`]) === null,
  )
  if (missing.length > 0) return `${missing.join(', ')} not found`
  return null
}

/** A file system in a file. */
class Volume {
  #image
  #mountPoint
  #isMounted = false
  /** The directory for sessions. */
  directory

  constructor(folder, kind, size) {
    this.#image = join(folder, 'image')
    this.#mountPoint = join(folder, 'mounted')
    this.directory = join(this.#mountPoint, 'sessions')
    mkdirSync(this.#mountPoint)
    writeFileSync(this.#image, '')
    truncateSync(this.#image, size)
    run(`mkfs.${kind}`, ['-q', this.#image])
  }

  mount() {
    run('mount', ['-o', 'loop', this.#image, this.#mountPoint])
    this.#isMounted = true
    mkdirSync(this.directory, { recursive: true })
  }

  /** Nothing more reaches the device, neither data nor the log. */
  crash() {
    const source = `require('node:fs').accessSync(${JSON.stringify(`${this.#mountPoint}/@crash`)})`
    run(process.execPath, ['-e', source], preloadEnvironment(this.#mountPoint))
  }

  unmount() {
    if (this.#isMounted) run('umount', [this.#mountPoint])
    this.#isMounted = false
  }
}

function run(program, args, env = process.env) {
  const { status, stderr, error } = spawnSync(program, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
}
