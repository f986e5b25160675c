// Which of some triples make passages, and what they say of them.

import { ROLE, type PredicateRoles } from './passage-roles.js'
import type { TermTable } from './term-table.js'

/** Two numbers of terms as one: a part has fewer than 2^26. */
const shift = 2 ** 26

/** Triples as they were numbered, by their terms' numbers. */
export interface Rows {
  readonly s: Uint32Array
  readonly p: Uint32Array
  readonly o: Uint32Array
}

/** What is said of passages, and of documents, by their numbers. */
type Said = Map<number, number>

/** What some triples say of passages. */
export interface Passages {
  readonly terms: TermTable
  /** Triples that give a passage its text. */
  readonly texts: readonly number[]
  readonly documents: Said
  readonly titles: Said
  readonly headings: Said
  readonly begins: Said
  readonly ends: Said
}

/** What triples [from, to) say of passages; undefined where they have none. */
export function passagesIn(
  { s, p, o }: Rows,
  from: number,
  to: number,
  terms: TermTable,
  roles: PredicateRoles,
): Passages | undefined {
  // What is said again is one: by subject and text.
  const texts = new Map<number, number>()
  const wanted = new Set<number>()
  for (let n = from; n < to; n++) {
    if (roles.of(p[n] as number) !== ROLE.TEXT || terms.isEntity(o[n] as number)) continue
    const subject = s[n] as number
    const key = subject * shift + (o[n] as number)
    if (!texts.has(key)) texts.set(key, n)
    wanted.add(subject)
  }
  if (texts.size === 0) return undefined
  const documents: Said = new Map()
  for (let n = from; n < to; n++) {
    if (roles.of(p[n] as number) !== ROLE.PART_OF || !terms.isEntity(o[n] as number)) continue
    if (!wanted.has(s[n] as number) || documents.has(s[n] as number)) continue
    documents.set(s[n] as number, o[n] as number)
  }
  for (const document of documents.values()) wanted.add(document)
  const said: Readonly<Record<number, Said>> = {
    [ROLE.TITLE]: new Map(),
    [ROLE.HEADING]: new Map(),
    [ROLE.BEGIN]: new Map(),
    [ROLE.END]: new Map(),
  }
  for (let n = from; n < to; n++) {
    const subject = s[n] as number
    const those = said[roles.of(p[n] as number)]
    // What is said first counts.
    if (those === undefined || !wanted.has(subject) || those.has(subject)) continue
    if (!terms.isEntity(o[n] as number)) those.set(subject, o[n] as number)
  }
  return {
    terms,
    texts: [...texts.values()],
    documents,
    titles: said[ROLE.TITLE] as Said,
    headings: said[ROLE.HEADING] as Said,
    begins: said[ROLE.BEGIN] as Said,
    ends: said[ROLE.END] as Said,
  }
}
