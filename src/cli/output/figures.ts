// Numbers and names the way people read them.

const units = ['kB', 'MB', 'GB', 'TB']

/** `76.1 kB`; decimal, as disks and networks are measured. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes / 1000
  let unit = 0
  // 999.95 would be printed as 1000.0.
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${value.toFixed(1)} ${units[unit]}`
}

/** `18,061` */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** `28 triples`, `1 triple`, `2 entities` */
export function formatCounted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** `2026-01-31 10:15`, of a time in ISO's format. */
export function formatTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}

/** An id may hold anything; neither line breaks nor escape sequences of it reach a terminal. */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
