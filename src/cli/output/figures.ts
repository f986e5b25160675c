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

/** Accents of the letter before them, and what only joins. */
const joined = /^[\p{Mn}\p{Me}\u200b-\u200d\u2060\ufeff]/u
const wide =
  /^(?:[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|(?!\p{RI})\p{Emoji_Presentation})/u

/** Without any of these a text has a column for each of its code units, as most have. */
const oddlyWide = /[\u0300-\uffff]/

/** In columns of a terminal. */
export function widthOf(text: string): number {
  if (!oddlyWide.test(text)) return text.length
  let width = 0
  for (const character of text) width += widthOfOne(character)
  return width
}

function widthOfOne(character: string): number {
  if (character < '\u0300') return 1
  if (joined.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** As much of its beginning as has room, in columns, with a mark where that is not all. */
export function cut(text: string, width: number): string {
  let end = 0
  let used = 0
  for (const character of text) {
    used += widthOfOne(character)
    if (used > width) return `${text.slice(0, end)}…`
    // The mark has one of its own.
    if (used < width) end += character.length
  }
  return text
}
