import { rust } from '../wasm/runtime.js'
import type { Case } from './case.js'
import { expect, expectBytes, expectNames, kindOf } from './expect.js'

const bytes = (text: string) => new TextEncoder().encode(text)

/** Every byte, and sequences that no decoder of text leaves as they are. */
const BINARY = Uint8Array.from([...Array(256).keys(), 0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x0d, 0x0a, 0xed, 0xa0, 0x80, 0])

const NAMES = ['a b', 'é', 'e\u0301', '日本語', '🦀', 'a.b.c', '-', '#?%20&', "it's", '__proto__', 'x'.repeat(200)]

export const FILE_CASES: readonly Case[] = [
  {
    name: 'what is absent is null, an empty list, and no error to remove',
    async run(storage, directory) {
      for (const path of [`${directory}/none`, `${directory}/none/none`]) {
        const found = await storage.read(path)
        expect(found === null || found === undefined, `read of an absent file gave ${kindOf(found)}`)
        expectNames(await storage.list(path), [], 'list of an absent directory')
        await storage.remove(path)
      }
      await storage.write(`${directory}/file`, bytes('x'))
      const below = await storage.read(`${directory}/file/below`)
      expect(below === null || below === undefined, `read of a path below a file gave ${kindOf(below)}`)
      expectNames(await storage.list(`${directory}/none`), [], 'list of an absent directory beside a file')
    },
  },
  {
    name: 'what was written is read',
    async run(storage, directory) {
      await storage.write(`${directory}/a/b/c/file.json`, bytes('one'))
      expectBytes(
        await storage.read(`${directory}/a/b/c/file.json`),
        bytes('one'),
        'a file in directories that were not there',
      )
      await storage.write(`${directory}/a/other`, bytes('two'))
      expectBytes(await storage.read(`${directory}/a/other`), bytes('two'), 'a file beside a directory')
      expectBytes(await storage.read(`${directory}/a/b/c/file.json`), bytes('one'), 'the first file, after the second')
    },
  },
  {
    name: 'bytes stay what they are, and so do none and a million of them',
    async run(storage, directory) {
      const large = Uint8Array.from({ length: 1_000_003 }, (_, index) => (index * 7919) >> 3)
      for (const data of [BINARY, new Uint8Array(), large]) {
        await storage.write(`${directory}/file`, data)
        expectBytes(await storage.read(`${directory}/file`), data, `a file of ${data.length} bytes`)
      }
    },
  },
  {
    name: 'a file is replaced as a whole, by what is longer, shorter or empty',
    async run(storage, directory) {
      const path = `${directory}/file`
      for (const content of ['middle', 'much longer than it was', 'short', '', 'x']) {
        await storage.write(path, bytes(content))
        expectBytes(await storage.read(path), bytes(content), `after '${content}' was written`)
      }
      expectNames(await storage.list(directory), ['file'], 'the directory after the writes')
    },
  },
  {
    name: 'a list has the names directly below a directory, of files and directories, each once',
    async run(storage, directory) {
      for (const path of ['a', 'd/one', 'd/two', 'd-e/x', 'd/deep/er/x', 'da']) {
        await storage.write(`${directory}/${path}`, bytes(path))
      }
      expectNames(await storage.list(directory), ['a', 'd', 'd-e', 'da'], 'the directory')
      expectNames(await storage.list(`${directory}/d`), ['one', 'two', 'deep'], 'one below')
      expectNames(await storage.list(`${directory}/d/deep`), ['er'], 'two below')
    },
  },
  {
    name: 'a removed file is gone, and no other',
    async run(storage, directory) {
      for (const name of ['a', 'ab', 'b']) await storage.write(`${directory}/${name}`, bytes(name))
      await storage.remove(`${directory}/a`)
      await storage.remove(`${directory}/a`)
      const found = await storage.read(`${directory}/a`)
      expect(found === null || found === undefined, 'a removed file is read')
      expectNames(await storage.list(directory), ['ab', 'b'], 'the directory after the removal')
      await storage.write(`${directory}/a`, bytes('again'))
      expectBytes(await storage.read(`${directory}/a`), bytes('again'), 'a file that was removed and written again')
    },
  },
  {
    name: 'names may have spaces, signs and characters of any language, and be 200 characters long',
    async run(storage, directory) {
      for (const name of NAMES) await storage.write(`${directory}/${name}/${name}`, bytes(name))
      for (const name of NAMES) {
        expectBytes(await storage.read(`${directory}/${name}/${name}`), bytes(name), `the file '${name}'`)
        expectNames(await storage.list(`${directory}/${name}`), [name], `the directory '${name}'`)
      }
      expectNames(await storage.list(directory), NAMES, 'the directory')
    },
  },
  {
    name: 'what is kept is a copy: neither the array that was written nor one that was read changes it',
    async run(storage, directory) {
      const path = `${directory}/file`
      const buffer = bytes('..content..')
      const data = buffer.subarray(2, 9)
      await storage.write(path, data)
      expect(buffer.byteLength === 11, 'write has taken the array away')
      buffer.fill(0)
      const first = await storage.read(path)
      expectBytes(first, bytes('content'), 'the file after the written array was changed')
      first?.fill(0)
      expectBytes(await storage.read(path), bytes('content'), 'the file after the array that was read was changed')
    },
  },
  {
    name: 'of writes at the same time one stands, whole',
    async run(storage, directory) {
      const path = `${directory}/file`
      const contents = Array.from({ length: 8 }, (_, index) => new Uint8Array(50_000 + index * 1000).fill(index + 1))
      for (const target of [path, `${directory}/new/file`]) {
        await Promise.all(contents.map((content) => storage.write(target, content)))
        const found = await storage.read(target)
        const index = (found?.[0] ?? 0) - 1
        expect(contents[index] !== undefined, 'the file after writes at the same time is none of them')
        expectBytes(found, contents[index], `the file after writes at the same time, of which number ${index} stands`)
      }
      expectNames(await storage.list(directory), ['file', 'new'], 'the directory after the writes')
      expectNames(await storage.list(`${directory}/new`), ['file'], 'the new directory after the writes')
    },
  },
  {
    name: 'a reader finds the old contents or the new ones while a file is replaced',
    async run(storage, directory) {
      const path = `${directory}/file`
      await storage.write(path, new Uint8Array(100_000).fill(1))
      let isDone = false
      const writes = (async () => {
        for (let round = 2; round < 12; round++) await storage.write(path, new Uint8Array(100_000).fill(round))
      })().finally(() => {
        isDone = true
      })
      while (!isDone) {
        const found = await storage.read(path)
        expectBytes(found, new Uint8Array(100_000).fill(found?.[0] ?? 0), 'a file that is being replaced')
        await new Promise((resolve) => setTimeout(resolve))
      }
      await writes
    },
  },
  {
    name: 'many files are read and written at the same time',
    async run(storage, directory) {
      const names = Array.from({ length: 100 }, (_, index) => `file-${index}`)
      await Promise.all(names.map((name) => storage.write(`${directory}/${name}`, bytes(name))))
      const found = await Promise.all(names.map((name) => storage.read(`${directory}/${name}`)))
      names.forEach((name, index) => expectBytes(found[index], bytes(name), name))
      expectNames(await storage.list(directory), names, 'the directory')
    },
  },
  {
    name: 'a digest is the SHA-256 of the contents, and changes with every byte',
    needs: ['digest'],
    async run(storage, directory) {
      const path = `${directory}/file`
      const absent = await storage.digest?.(path)
      expect(absent === null || absent === undefined, `the digest of an absent file is ${kindOf(absent)}`)
      for (const data of [BINARY, new Uint8Array(), new Uint8Array(1), bytes('abc'), bytes('abd')]) {
        await storage.write(path, data)
        const digest = await storage.digest?.(path)
        expect(digest === rust().sha256(data), `the digest of ${data.length} bytes is not their SHA-256: ${digest}`)
      }
      await storage.remove(path)
      const gone = await storage.digest?.(path)
      expect(gone === null || gone === undefined, `the digest of a removed file is ${kindOf(gone)}`)
    },
  },
  {
    name: 'the time of a file is that of its last write, in milliseconds',
    needs: ['modifiedTime'],
    async run(storage, directory) {
      const path = `${directory}/file`
      const absent = await storage.modifiedTime?.(path)
      expect(absent === null || absent === undefined, `the time of an absent file is ${kindOf(absent)}`)
      await storage.write(path, bytes('x'))
      const time = await storage.modifiedTime?.(path)
      expect(typeof time === 'number', `the time of a file is ${kindOf(time)}`)
      // Clocks of other machines are not quite the same, but no time is in seconds or microseconds.
      expect(Math.abs(time - Date.now()) < 600_000, `the time of a file that was just written is ${time}`)
    },
  },
  {
    name: 'what writeSync has written is there when it returns',
    needs: ['writeSync'],
    async run(storage, directory) {
      for (const data of [BINARY, new Uint8Array(), bytes('other')]) {
        const returned: unknown = storage.writeSync?.(`${directory}/a/file`, data)
        expect(returned === undefined, `writeSync gave ${kindOf(returned)}`)
        expectBytes(await storage.read(`${directory}/a/file`), data, 'the file')
      }
      expectNames(await storage.list(`${directory}/a`), ['file'], 'the directory after the writes')
    },
  },
  {
    name: 'digestSync gives what digest gives',
    needs: ['digest', 'digestSync'],
    async run(storage, directory) {
      await storage.write(`${directory}/file`, BINARY)
      for (const path of [`${directory}/file`, `${directory}/none`]) {
        const [one, other] = [await storage.digest?.(path), storage.digestSync?.(path)]
        expect(one === other, `digest gives ${one}, digestSync ${String(other)}`)
      }
    },
  },
]
