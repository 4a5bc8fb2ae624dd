// Opens the files that are picked, dropped or served, and shows what went wrong if that fails.
import { init } from '../../dist/browser.js'
import { demoFiles } from './demo-session.js'
import { byId } from './dom.js'
import { errorWords } from './error-words.js'
import { findSessions } from './find-sessions.js'
import { loadSession } from './load-session.js'
import { droppedFiles, pickedFiles } from './open-files.js'
import { chooseSession } from './session-chooser.js'
import { createViewer } from './viewer.js'

const viewer = createViewer({ showStatus, showError })

/** @param {() => unknown} getFiles Returns a list of { path, file }, or a promise of it. */
async function open(getFiles) {
  hideError()
  showStatus('Reading …')
  try {
    // Get the files first: dropped files can be read only while the event is handled.
    const [files] = await Promise.all([getFiles(), init()])
    const found = await chooseSession(findSessions(files))
    showStatus('')
    if (found === null) return
    await viewer.show(await loadSession(found))
    byId('welcome').hidden = true
  } catch (error) {
    showStatus('')
    showError(error)
  }
}

function showStatus(text) {
  byId('status').textContent = text
}

function showError(error) {
  const { title, text, place } = errorWords(error)
  byId('error-title').textContent = title
  byId('error-text').textContent = text
  byId('error-place').textContent = place
  byId('error').hidden = false
}

function hideError() {
  byId('error').hidden = true
}

function listenToInput(buttonId, inputId) {
  const input = byId(inputId)
  byId(buttonId).addEventListener('click', () => input.click())
  input.addEventListener('change', async () => {
    await open(() => pickedFiles(input))
    // Lets the same files be picked again after a change.
    input.value = ''
  })
}

function listenToDrops() {
  const { body } = document
  const holdsFiles = (event) => event.dataTransfer.types.includes('Files')
  body.addEventListener('dragover', (event) => {
    if (!holdsFiles(event)) return
    event.preventDefault()
    body.classList.add('dragging')
  })
  body.addEventListener('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) body.classList.remove('dragging')
  })
  body.addEventListener('drop', (event) => {
    if (!holdsFiles(event)) return
    event.preventDefault()
    body.classList.remove('dragging')
    open(() => droppedFiles(event.dataTransfer))
  })
}

listenToInput('open-folder', 'folder-input')
listenToInput('open-files', 'files-input')
listenToDrops()
byId('open-demo').addEventListener('click', () => open(demoFiles))
byId('error-dismiss').addEventListener('click', hideError)

try {
  await init()
} catch (error) {
  showError(error)
}
document.body.dataset.ready = 'true'
