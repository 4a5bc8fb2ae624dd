// The files and folders of the repository that the documentation names exist.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packedFiles, root } from '../support/installed.mjs'

/** Paths in backticks, from the root of the repository. */
const PATH = /`((?:src|js|crates|tests|scripts|examples|bench|docs)\/[\w./-]*)`/g
/** The durability page names tests from this folder. */
const BASES = ['', 'tests/package']

for (const page of packedFiles.filter((file) => file.endsWith('.md'))) {
  test(`the paths that ${page} names exist`, () => {
    const text = readFileSync(join(root, page), 'utf8')
    const missing = [...text.matchAll(PATH)].map(([, path]) => path).filter((path) => !existsSync(join(root, path)))
    assert.deepEqual(missing, [])
    const tests = [...text.matchAll(/`([\w./-]+\.test\.mjs)`/g)]
      .map(([, path]) => path)
      .filter((path) => path.includes('/'))
    assert.deepEqual(
      tests.filter((path) => !BASES.some((base) => existsSync(join(root, base, path)))),
      [],
    )
  })
}
