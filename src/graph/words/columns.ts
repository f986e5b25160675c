// What is kept of each passage.

/**
 * What of each passage lies in columns, one behind the other: the passage, its document, title and heading
 * (terms, the last three 0 where there is none, else one more), where in the document it begins and ends
 * (`UNKNOWN` where nobody says so), its place, the hash of its text, and how many words it has in its title,
 * its heading and its text.
 */
export const passageColumns = [
  'passage',
  'document',
  'title',
  'heading',
  'begin',
  'end',
  'place',
  'text',
  'titleWords',
  'headingWords',
  'textWords',
] as const

export type PassageColumn = (typeof passageColumns)[number]

/** By name: its place among the columns. */
export const columnOf = Object.fromEntries(
  passageColumns.map((name, place) => [name, place]),
) as Readonly<Record<PassageColumn, number>>

/** In the place of an offset. */
export const UNKNOWN = 0xffff_ffff
