import { rust } from '../wasm/runtime.js'
import type { Case } from './case.js'
import { expect, expectBytes, expectNames, kindOf } from './expect.js'

const bytes = (text: string) => new TextEncoder().encode(text)

/** Every byte value, and sequences that a text decoder would alter. */
const BINARY = Uint8Array.from([...Array(256).keys(), 0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x0d, 0x0a, 0xed, 0xa0, 0x80, 0])

const NAMES = ['a b', 'é', 'e\u0301', '日本語', '🦀', 'a.b.c', '-', '#?%20&', "it's", '__proto__', 'x'.repeat(200)]

export const FILE_CASES: readonly Case[] = [
  {
    name: 'an absent file reads as null, an absent directory lists as empty, and removing either is no error',
    async run(storage, directory) {
      for (const path of [`${directory}/none`, `${directory}/none/none`]) {
        const found = await storage.read(path)
        expect(found === null || found === undefined, `read of an absent file returned ${kindOf(found)}`)
        expectNames(await storage.list(path), [], 'list of an absent directory')
        await storage.remove(path)
      }
      await storage.write(`${directory}/file`, bytes('x'))
      const below = await storage.read(`${directory}/file/below`)
      expect(below === null || below === undefined, `read of a path below a file returned ${kindOf(below)}`)
      expectNames(await storage.list(`${directory}/none`), [], 'list of an absent directory beside a file')
    },
  },
  {
    name: 'a file that was written can be read',
    async run(storage, directory) {
      await storage.write(`${directory}/a/b/c/file.json`, bytes('one'))
      expectBytes(await storage.read(`${directory}/a/b/c/file.json`), bytes('one'), 'a file in new directories')
      await storage.write(`${directory}/a/other`, bytes('two'))
      expectBytes(await storage.read(`${directory}/a/other`), bytes('two'), 'a file beside a directory')
      expectBytes(await storage.read(`${directory}/a/b/c/file.json`), bytes('one'), 'the first file, after the second')
    },
  },
  {
    name: 'bytes are stored unchanged, in empty files and in files of a million bytes',
    async run(storage, directory) {
      const large = Uint8Array.from({ length: 1_000_003 }, (_, index) => (index * 7919) >> 3)
      for (const data of [BINARY, new Uint8Array(), large]) {
        await storage.write(`${directory}/file`, data)
        expectBytes(await storage.read(`${directory}/file`), data, `a file of ${data.length} bytes`)
      }
    },
  },
  {
    name: 'a file is replaced as a whole by longer, shorter and empty contents',
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
    name: 'a list has the name of each file and directory directly below a directory once',
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
    name: 'a removed file is gone, and others stay',
    async run(storage, directory) {
      for (const name of ['a', 'ab', 'b']) await storage.write(`${directory}/${name}`, bytes(name))
      await storage.remove(`${directory}/a`)
      await storage.remove(`${directory}/a`)
      const found = await storage.read(`${directory}/a`)
      expect(found === null || found === undefined, 'a removed file can still be read')
      expectNames(await storage.list(directory), ['ab', 'b'], 'the directory after the removal')
      await storage.write(`${directory}/a`, bytes('again'))
      expectBytes(await storage.read(`${directory}/a`), bytes('again'), 'a file that was removed and written again')
    },
  },
  {
    name: 'names may hold spaces, punctuation and any Unicode character, and may be 200 characters long',
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
    name: 'files are copies: changing an array that was written or read does not change the file',
    async run(storage, directory) {
      const path = `${directory}/file`
      const buffer = bytes('..content..')
      const data = buffer.subarray(2, 9)
      await storage.write(path, data)
      expect(buffer.byteLength === 11, 'write detached the array')
      buffer.fill(0)
      const first = await storage.read(path)
      expectBytes(first, bytes('content'), 'the file after the written array was changed')
      first?.fill(0)
      expectBytes(await storage.read(path), bytes('content'), 'the file after the array that was read was changed')
    },
  },
  {
    name: 'after concurrent writes the file holds one of them, complete',
    async run(storage, directory) {
      const path = `${directory}/file`
      const contents = Array.from({ length: 8 }, (_, index) => new Uint8Array(50_000 + index * 1000).fill(index + 1))
      for (const target of [path, `${directory}/new/file`]) {
        await Promise.all(contents.map((content) => storage.write(target, content)))
        const found = await storage.read(target)
        const index = (found?.[0] ?? 0) - 1
        expect(contents[index] !== undefined, 'the file holds the contents of none of the concurrent writes')
        expectBytes(found, contents[index], `the file after concurrent writes, of which it holds number ${index}`)
      }
      expectNames(await storage.list(directory), ['file', 'new'], 'the directory after the writes')
      expectNames(await storage.list(`${directory}/new`), ['file'], 'the new directory after the writes')
    },
  },
  {
    name: 'while a file is replaced, a reader gets either the old or the new contents',
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
        expectBytes(found, new Uint8Array(100_000).fill(found?.[0] ?? 0), 'a file read while it is replaced')
        await new Promise((resolve) => setTimeout(resolve))
      }
      await writes
    },
  },
  {
    name: 'many files are read and written concurrently',
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
    name: 'the time of a file is the time of its last write, in milliseconds',
    needs: ['modifiedTime'],
    async run(storage, directory) {
      const path = `${directory}/file`
      const absent = await storage.modifiedTime?.(path)
      expect(absent === null || absent === undefined, `the time of an absent file is ${kindOf(absent)}`)
      await storage.write(path, bytes('x'))
      const time = await storage.modifiedTime?.(path)
      expect(typeof time === 'number', `the time of a file is ${kindOf(time)}`)
      // The clock of a server may differ a little, but a time in seconds or microseconds is far off.
      expect(Math.abs(time - Date.now()) < 600_000, `the time of a file that was just written is ${time}`)
    },
  },
  {
    name: 'readMany returns the result of each file with its time, in order',
    needs: ['readMany'],
    async run(storage, directory) {
      const names = Array.from({ length: 100 }, (_, index) => `${index}`)
      for (const name of names) if (name !== '7') await storage.write(`${directory}/${name}`, bytes(name))
      const results = await storage.readMany?.(names.map((name) => `${directory}/${name}`))
      expect(results?.length === names.length, `readMany returned ${results?.length} results for ${names.length} files`)
      for (const [index, result] of results.entries()) {
        expect(result.status === 'fulfilled', `file ${index}: ${result.status}`)
        if (index === 7) expect(result.value === null, `an absent file is ${kindOf(result.value)}`)
        else expectBytes(result.value?.data, bytes(`${index}`), `file ${index}`)
        const time = (await storage.modifiedTime?.(`${directory}/${index}`)) ?? null
        expect(
          (result.value?.modifiedTime ?? null) === time,
          `the time of file ${index} is not its modifiedTime, ${time}`,
        )
      }
    },
  },
  {
    name: 'a file written by writeSync can be read as soon as writeSync returns',
    needs: ['writeSync'],
    async run(storage, directory) {
      for (const data of [BINARY, new Uint8Array(), bytes('other')]) {
        const returned: unknown = storage.writeSync?.(`${directory}/a/file`, data)
        expect(returned === undefined, `writeSync returned ${kindOf(returned)}`)
        expectBytes(await storage.read(`${directory}/a/file`), data, 'the file')
      }
      expectNames(await storage.list(`${directory}/a`), ['file'], 'the directory after the writes')
    },
  },
  {
    name: 'digestSync returns the same as digest',
    needs: ['digest', 'digestSync'],
    async run(storage, directory) {
      await storage.write(`${directory}/file`, BINARY)
      for (const path of [`${directory}/file`, `${directory}/none`]) {
        const [one, other] = [await storage.digest?.(path), storage.digestSync?.(path)]
        expect(one === other, `digest returned ${one}, digestSync ${String(other)}`)
      }
    },
  },
]
