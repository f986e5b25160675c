// What is kept of each passage.

/**
 * What is told of a passage that is found, as a record: the passage, its title and heading (terms, the last
 * two 0 where there is none, else one more), where in the document it begins and ends and on which page
 * (`UNKNOWN` where nobody says so), and the hash of its text.
 */
export const recordFields = ['passage', 'title', 'heading', 'begin', 'end', 'page', 'text'] as const

/**
 * What many passages are looked through by, as columns: the document (a term as above), the place, and how
 * many words the title, the heading and the text have.
 */
export const scannedColumns = [
  'document',
  'place',
  'titleWords',
  'headingWords',
  'textWords',
] as const

export type ScannedColumn = (typeof scannedColumns)[number]

/** The records of all passages lie one behind the other, and behind these the columns. */
export const passageColumns = [...recordFields, ...scannedColumns] as const

export type PassageColumnName = (typeof passageColumns)[number]

/** By name: its place among the columns. */
export const columnOf = Object.fromEntries(
  passageColumns.map((name, place) => [name, place]),
) as Readonly<Record<PassageColumnName, number>>

/** In the place of an offset or a page. */
export const UNKNOWN = 0xffff_ffff
