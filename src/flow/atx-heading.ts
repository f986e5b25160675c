// Headings of Markdown that are marked by number signs.

const atx = /^\uFEFF? {0,3}(#{1,6})(?:[ \t](.*))?$/

/**
 * What a line such as `## Two ##` says (CommonMark, 4.2). Its closing signs are looked for from the end: an
 * expression that finds them takes the square of the white space in the line, 2 ms for 1,000 characters.
 */
export function atxHeading(
  line: string,
): { readonly level: number; readonly marked: string } | undefined {
  const [, signs, rest = ''] = atx.exec(line) ?? []
  if (signs === undefined) return undefined
  const heading = rest.trim()
  let end = heading.length
  while (heading[end - 1] === '#') end--
  const isClosed = end === 0 || heading[end - 1] === ' ' || heading[end - 1] === '\t'
  return { level: signs.length, marked: isClosed ? heading.slice(0, end).trimEnd() : heading }
}
