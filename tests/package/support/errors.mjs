// Assertions that hold for every error of the package.
import assert from 'node:assert/strict'
import { load } from './installed.mjs'

const peteos = await load('peteos-session')

/**
 * Asserts that `work` throws, or its promise rejects with, exactly this class, and that the fields are those expected
 * (a regular expression is matched). Returns the error.
 */
export async function refused(work, className, expected = {}, about = '') {
  let error
  try {
    const value = await work()
    assert.fail(`${about}: expected ${className}, but the call returned ${typeof value}`)
  } catch (caught) {
    error = caught
  }
  return checkError(error, className, expected, about)
}

/** Like `refused`, for a call that throws synchronously. */
export function refusedNow(work, className, expected = {}, about = '') {
  let error
  try {
    const value = work()
    assert.fail(`${about}: expected ${className}, but the call returned ${typeof value}`)
  } catch (caught) {
    error = caught
  }
  return checkError(error, className, expected, about)
}

export function checkError(error, className, expected = {}, about = '') {
  if (error instanceof assert.AssertionError) throw error
  const said = `${about}: ${error?.name}: ${error?.message}`
  assert.equal(error?.constructor, peteos[className], `expected ${className}, found ${said}`)
  assert.ok(error instanceof peteos.SessionError && error instanceof Error, said)
  assert.equal(error.name, className)
  assert.match(error.code, /^(ERR_[A-Z_]+|E[A-Z]+)$/, said)
  assert.ok(
    error.message.length > 10 &&
      !/(?<!(found|hold|not) )undefined|\[object|unreachable|recursive use|null pointer/.test(error.message),
    said,
  )
  for (const [key, value] of Object.entries(expected)) {
    if (value instanceof RegExp) assert.match(String(error[key]), value, `${key} of ${said}`)
    else assert.deepEqual(error[key], value, `${key} of ${said}`)
  }
  return error
}
