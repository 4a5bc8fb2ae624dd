// Finds Chromium (or Chrome) and its driver, for the browser tests.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages, mayInstallPackages } from './apt.mjs'
import { hintFor } from './hints.mjs'
import { canRun, findProgram } from './programs.mjs'
import { once, root, SetupError } from './steps.mjs'

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const BROWSER_PLACES = [
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ...['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA']
    .map((variable) => process.env[variable])
    .filter(Boolean)
    .map((folder) => join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe')),
]
const DRIVER_PLACES = [
  '/usr/lib/chromium-browser/chromedriver',
  '/snap/bin/chromium.chromedriver',
  '/opt/homebrew/bin/chromedriver',
]

/** The capabilities that wasm-bindgen-test-runner requests from the driver. */
export const webdriverCapabilities = JSON.parse(readFileSync(join(root, 'webdriver.json'), 'utf8'))

/** The flags of every browser test, from webdriver.json. */
export const chromiumFlags = webdriverCapabilities['goog:chromeOptions'].args

/** The full paths { chrome, chromedriver }; CHROME_PATH and CHROMEDRIVER override what is found. */
export const chromium = once(async () => {
  const installed = find()
  if (isComplete(installed)) return installed
  if (mayInstallPackages()) await installPackages(['chromium', 'chromium-driver'])
  const found = find()
  if (isComplete(found)) return found
  throw new SetupError(describeMissing(found))
})

function find() {
  return {
    chrome: fromEnvironment('CHROME_PATH') ?? findProgram(BROWSERS, BROWSER_PLACES),
    chromedriver: fromEnvironment('CHROMEDRIVER') ?? findProgram(['chromedriver'], DRIVER_PLACES),
  }
}

function fromEnvironment(variable) {
  const path = process.env[variable]
  if (!path) return null
  if (canRun(path)) return path
  throw new SetupError(`${variable} is "${path}", which is not a program.`)
}

function isComplete({ chrome, chromedriver }) {
  return chrome !== null && chromedriver !== null
}

function describeMissing({ chrome, chromedriver }) {
  const lines = []
  if (!chrome) lines.push('Chromium or Chrome was not found; CHROME_PATH can name its program.')
  if (!chromedriver) lines.push('chromedriver was not found; CHROMEDRIVER can name its program.')
  return [...lines, hintFor('chromium')].join('\n')
}
