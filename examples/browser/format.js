const numbers = new Intl.NumberFormat('en')
const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

export function formatNumber(number) {
  return numbers.format(number)
}

/** `1 message`, `2 messages`. */
export function formatCount(number, noun) {
  return `${formatNumber(number)} ${noun}${number === 1 ? '' : 's'}`
}

export function formatDate(milliseconds) {
  return dates.format(milliseconds)
}

/** Day and minute of a `creation_timestamp`, or empty texts if it is not one. */
export function splitTimestamp(timestamp) {
  const [, day = '', minute = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(timestamp) ?? []
  return [day, minute]
}

export function formatBytes(bytes) {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
