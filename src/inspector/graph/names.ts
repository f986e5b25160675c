// What things are called where there is little room.

const most = 60

/** What is behind the last slash or hash of an IRI. */
export function shortened(iri: string): string {
  const name = iri.slice(0, 4096).replace(/[/#]+$/, '')
  return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('#')) + 1) || name
}

/** One line of a few characters: names are of any length, and may turn the direction of what stands behind them. */
export function cut(text: string, length = most): string {
  const plain = text
    .slice(0, 4 * length)
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const letters = [...plain]
  return letters.length <= length ? plain : `${letters.slice(0, length - 1).join('')}…`
}
