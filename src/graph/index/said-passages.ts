// Which of some triples make passages, and what they say of them.

import { nameWord, titleNames } from '../words/name-words.js'
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
  readonly pages: Said
  /** What a passage speaks of is called so; and a document, beside its title. */
  readonly labels: ReadonlyMap<number, readonly number[]>
  readonly names: NameWords
}

/** The words of names, by numbers of terms. */
class NameWords {
  readonly #terms: TermTable
  /** What is on every page has many passages. */
  readonly #known = new Map<number, string | undefined>()

  constructor(terms: TermTable) {
    this.#terms = terms
  }

  addTo(names: Set<string>, id: number): void {
    const word = this.of(id)
    if (word !== undefined) names.add(word)
  }

  /** Undefined of what is no name. */
  of(id: number): string | undefined {
    if (!this.#known.has(id)) this.#known.set(id, nameWord(this.#terms.textOf(id)))
    return this.#known.get(id)
  }

  ofTitle(id: number): string[] {
    return titleNames(this.#terms.textOf(id))
  }
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
  const passages = new Set(wanted)
  const names = new NameWords(terms)
  for (const document of documents.values()) wanted.add(document)
  const said: Readonly<Record<number, Said>> = {
    [ROLE.TITLE]: new Map(),
    [ROLE.HEADING]: new Map(),
    [ROLE.BEGIN]: new Map(),
    [ROLE.END]: new Map(),
    [ROLE.PAGE]: new Map(),
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
    pages: said[ROLE.PAGE] as Said,
    labels: labelsIn({ s, p, o }, from, to, { terms, roles, passages, documents, names }),
    names,
  }
}

interface Labelled {
  readonly terms: TermTable
  readonly roles: PredicateRoles
  readonly passages: ReadonlySet<number>
  readonly documents: Said
  readonly names: NameWords
}

/** Names of one thing that count, each once in whatever languages: a question looks at no more of them. */
const mostOfThing = 32
/** Names that belong to one passage or document: all of its passages have them. */
const mostOfOwner = 1000

/** By passage the labels of what it speaks of, by document its own and those of what it is about. */
function labelsIn(
  { s, p, o }: Rows,
  from: number,
  to: number,
  { terms, roles, passages, documents, names }: Labelled,
): Map<number, number[]> {
  /** By what has labels: where they belong. */
  const owners = new Map<number, number[]>()
  const add = (named: number, owner: number) => {
    const those = owners.get(named)
    if (those === undefined) owners.set(named, [owner])
    // By several predicates one behind the other, as flows write it.
    else if (those.at(-1) !== owner) those.push(owner)
  }
  const sources = new Set(documents.values())
  for (const document of sources) owners.set(document, [document])
  for (let n = from; n < to; n++) {
    const role = roles.of(p[n] as number)
    const [subject, object] = [s[n] as number, o[n] as number]
    if (role === ROLE.FROM && passages.has(object)) add(subject, object)
    else if (role === ROLE.MAIN_ENTITY && sources.has(subject)) add(object, subject)
  }
  const labels = new Map<number, number[]>()
  const called = new Map<number, Set<string>>()
  for (let n = from; n < to; n++) {
    const role = roles.of(p[n] as number)
    const [subject, label] = [s[n] as number, o[n] as number]
    const those = role === ROLE.LABEL || role === ROLE.TITLE ? owners.get(subject) : undefined
    if (those === undefined || terms.isEntity(label)) continue
    const name = names.of(label)
    if (name === undefined) continue
    const own = called.get(subject) ?? new Set<string>()
    called.set(subject, own)
    // It may be said anew with each passage, and in each language.
    if (own.size === mostOfThing || own.has(name)) continue
    own.add(name)
    for (const owner of those) {
      const known = labels.get(owner)
      if (known === undefined) labels.set(owner, [label])
      else if (known.length < mostOfOwner) known.push(label)
    }
  }
  return labels
}
