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

  /** Both modes share the fields, which are labelled with the mode. */
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
    // NaN if the field holds no number: the package rejects it with a reason.
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
    /** Sets the range of a mode's slider, and its limit unless that must stay. */
    setMaximum(which, maximum, limit = limits[which]) {
      maximums[which] = maximum
      limits[which] = limit
      if (which === mode) showMode()
    },
    /** Shows what is wrong with the number; an empty text if nothing is. */
    showFault(text) {
      fault.textContent = text
      number.ariaInvalid = String(text !== '')
    },
  }
}

/** A round step that divides the range into a few hundred, for arrow keys and narrow sliders. */
function stepFor(maximum) {
  const exact = maximum / 500
  if (exact <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(exact))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= exact)
}
