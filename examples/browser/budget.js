import { byId } from './dom.js'
import { formatNumber } from './format.js'

/**
 * The limit of the window: a number of tokens or of messages, by slider or as a number.
 *
 * @param {() => void} onChange
 */
export function createBudget(onChange) {
  const slider = byId('slider')
  const number = byId('limit')
  const fault = byId('limit-fault')
  const radios = [...document.querySelectorAll('input[name="mode"]')]
  const limits = { tokens: 0, messages: 0 }
  const maximums = { tokens: 0, messages: 0 }
  let mode = 'tokens'

  /** The fields are the same in both modes, and say which one they are in. */
  function showMode() {
    slider.ariaLabel = number.ariaLabel = mode === 'tokens' ? 'Token budget' : 'Number of messages'
    showSlider()
    showNumber()
  }

  function showSlider() {
    slider.step = stepFor(maximums[mode])
    slider.max = Math.ceil(maximums[mode] / slider.step) * slider.step
    if (!Number.isNaN(limits[mode])) slider.value = limits[mode]
    describeSlider()
  }

  function describeSlider() {
    slider.ariaValueText = `${formatNumber(slider.valueAsNumber)} ${mode}`
  }

  function showNumber() {
    number.value = Number.isNaN(limits[mode]) ? '' : limits[mode]
  }

  slider.addEventListener('input', () => {
    limits[mode] = slider.valueAsNumber
    describeSlider()
    showNumber()
    onChange()
  })
  number.addEventListener('input', () => {
    // NaN where the field is empty or holds no number: the package refuses it, and says why.
    limits[mode] = number.valueAsNumber
    showSlider()
    onChange()
  })
  for (const radio of radios) {
    radio.addEventListener('change', () => {
      mode = radio.value
      showMode()
      onChange()
    })
  }

  return {
    get mode() {
      return mode
    },
    get limit() {
      return limits[mode]
    },
    /** Sets what the slider of a mode reaches, and its limit unless that is to stay. */
    setMaximum(which, maximum, limit = limits[which]) {
      maximums[which] = maximum
      limits[which] = limit
      if (which === mode) showMode()
    },
    /** What is wrong with the number; an empty text where nothing is. */
    showFault(text) {
      fault.textContent = text
      number.ariaInvalid = String(text !== '')
    },
  }
}

/** A round step that makes a few hundred of the way, for arrow keys and narrow sliders. */
function stepFor(maximum) {
  const exact = maximum / 500
  if (exact <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(exact))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= exact)
}
