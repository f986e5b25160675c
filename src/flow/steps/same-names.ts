// Which names that a document has are names of one thing: by how they are written, by what the text says of an acronym,
// and by how one speaks of a person. What is not certain stays apart: `graph.duplicates()` proposes it.

import type { Triple } from '../../types.js'
import type { Turns } from '../../turns.js'
import type { FlowDocument } from '../types.js'
import { acronymsIn } from './acronyms.js'
import { isPersonNoun } from './offline/person-nouns.js'
import { connectors, honorifics, institutions, ranks, titles } from './offline/word-lists.js'
import { givenNames } from './given-names.js'
import { collapseSpace, nameProblem } from './names.js'
import { findNames, sharedNames } from './places-of-names.js'
import { firstHeading } from './title.js'
import { formOf, wordsOf } from '../../text/name-form.js'
import { vocabulary } from './vocabulary.js'

export interface Named {
  readonly uri: string
  readonly name: string
}

/** Names of one thing: the first is what it is called. */
export type NamesOfOne = readonly [Named, ...Named[]]

export interface Extracted {
  readonly entities: readonly Named[]
  readonly triples: readonly Triple[]
  /** The URI of a name that is none of the entities', or of a relation. */
  readonly uriOf: (name: string) => string
}

/**
 * What two names or more of a document are names of: the first of an entity, the others of entities, or said by
 * the text to be another name of one. The same of the same document, in the same order. In time that is in proportion
 * to the text and the names, and others have turns meanwhile.
 */
export async function sameNames(
  document: Pick<FlowDocument, 'text' | 'title'>,
  extracted: Extracted,
  turns: Turns,
): Promise<NamesOfOne[]> {
  const names: Name[] = []
  for (const { uri, name } of extracted.entities) {
    const words = wordsOf(name)
    const form = formOf(name, words)
    names.push({ uri, name, words, lower: words.map(small), form, place: names.length })
    if (turns.isLong) await turns.pass()
  }
  return new SameNames(document, names, extracted, turns).found()
}

interface Name extends Named {
  /** As they are written, without marks. */
  readonly words: readonly string[]
  /** In small letters. */
  readonly lower: readonly string[]
  readonly form: string
  readonly place: number
}

/** What the text and the names have of surnames that stand alone somewhere. */
interface Seen {
  /** Names of which it is a word. */
  readonly bySurname: ReadonlyMap<string, readonly Name[]>
  /** Where a name of a person, or a surname, stands first. */
  readonly first: ReadonlyMap<string, number>
  /** Surnames that the text says more of: who is meant, or that they are others'. */
  readonly distinguished: ReadonlySet<string>
}

class SameNames {
  readonly #text: string
  /** Without what stands in brackets behind it. */
  readonly #title: string
  readonly #titleWords: readonly string[]
  readonly #names: readonly Name[]
  readonly #triples: readonly Triple[]
  readonly #byForm = new Map<string, Name>()
  /** By the name the one that it is joined to. */
  readonly #joined = new Map<Name, Name>()
  /** Names beside those of entities. */
  readonly #others: { readonly of: Name; readonly other: Named }[] = []
  readonly #uriOf: (name: string) => string
  readonly #turns: Turns

  constructor(
    { text, title }: Pick<FlowDocument, 'text' | 'title'>,
    names: readonly Name[],
    { triples, uriOf }: Pick<Extracted, 'triples' | 'uriOf'>,
    turns: Turns,
  ) {
    this.#text = text
    const given = title ?? firstHeading(text) ?? ''
    const bracket = given.search(/\s\(/)
    this.#title = bracket > 0 ? given.slice(0, bracket) : given
    this.#titleWords = wordsOf(this.#title).map(small)
    this.#names = names
    this.#triples = triples
    this.#uriOf = uriOf
    this.#turns = turns
  }

  async found(): Promise<NamesOfOne[]> {
    await this.#joinForms()
    await this.#joinAcronyms()
    await this.#joinTitled()
    await this.#joinPeople()
    if (this.#joined.size + this.#others.length === 0) return []
    const groups = new Map<Name, { readonly group: Name[]; readonly others: Named[] }>()
    for (const name of this.#names) {
      const root = this.#rootOf(name)
      const known = groups.get(root)
      if (known === undefined) groups.set(root, { group: [name], others: [] })
      else known.group.push(name)
      if (this.#turns.isLong) await this.#turns.pass()
    }
    for (const { of, other } of this.#others) groups.get(this.#rootOf(of))?.others.push(other)
    const title = formOf(this.#title)
    const found: NamesOfOne[] = []
    for (const { group, others } of groups.values()) {
      if (group.length + others.length === 1) continue
      const ranked = group.map((name) => ({ name, rank: rankOf(name, title) }))
      ranked.sort((a, b) => b.rank - a.rank || a.name.place - b.name.place)
      const names = ranked.map(({ name: { uri, name } }) => ({ uri, name }))
      found.push([...names, ...others] as unknown as NamesOfOne)
      if (this.#turns.isLong) await this.#turns.pass()
    }
    return found
  }

  #rootOf(name: Name): Name {
    let root = name
    for (let next = this.#joined.get(root); next !== undefined; next = this.#joined.get(root)) {
      root = next
    }
    return root
  }

  #join(a: Name, b: Name): void {
    const [one, other] = [this.#rootOf(a), this.#rootOf(b)]
    if (one === other) return
    if (one.place < other.place) this.#joined.set(other, one)
    else this.#joined.set(one, other)
  }

  #add(of: Name, text: string): void {
    const name = collapseSpace(text)
    if (nameProblem(name) === undefined)
      this.#others.push({ of, other: { uri: this.#uriOf(name), name } })
  }

  /** `J.K. Rowling` and `J. K. Rowling`, `Rantanplan` and `Ran-Tan-Plan`. */
  async #joinForms(): Promise<void> {
    for (const name of this.#names) {
      if (this.#turns.isLong) await this.#turns.pass()
      if (name.form.length < 3 && !isAcronym(name.name)) continue
      const known = this.#byForm.get(name.form)
      if (known === undefined) this.#byForm.set(name.form, name)
      else if (isLarge(name) === isLarge(known)) this.#join(name, known)
    }
  }

  /** `World Health Organization (WHO)` */
  async #joinAcronyms(): Promise<void> {
    for (const [acronym, expansion] of await acronymsIn(this.#text, this.#turns)) {
      const [short, long] = [this.#byForm.get(formOf(acronym)), this.#byForm.get(formOf(expansion))]
      if (short !== undefined && long !== undefined) this.#join(short, long)
      else if (long !== undefined) this.#add(long, acronym)
      else if (short !== undefined) this.#add(short, expansion)
    }
  }

  /** `Oliphant Smeaton` is what a text is called that begins with `William Henry Oliphant Smeaton`. */
  async #joinTitled(): Promise<void> {
    const title = this.#byForm.get(formOf(this.#title))
    if (title === undefined) return
    const opening = this.#text.slice(0, mostOpening)
    for (const name of this.#names) {
      if (this.#turns.isLong) await this.#turns.pass()
      if (name.words.length <= title.words.length || !opening.includes(name.name)) continue
      if (opening.trimStart().indexOf(name.name) > 'The '.length) continue
      const has = (word: string) => name.lower.includes(word)
      const isSuffixed = name.lower
        .slice(title.lower.length)
        .every((word) => companySuffixes.has(word))
      const isLonger =
        title.lower.every(has) &&
        title.words.length > 1 &&
        (name.lower.at(-1) === title.lower.at(-1) || isSuffixed)
      if (isLonger && (isSuffixed || this.#isPerson(name))) this.#join(name, title)
    }
  }

  async #joinPeople(): Promise<void> {
    await this.#joinTitles()
    const people = new Map<string, Name[]>()
    for (const name of this.#names) {
      if (this.#turns.isLong) await this.#turns.pass()
      if (!isLikePerson(name)) continue
      const last = surnameOf(name)
      const those = people.get(last)
      if (those === undefined) people.set(last, [name])
      else those.push(name)
    }
    for (const [surname, those] of people) {
      if (!those.some((name) => this.#isPerson(name))) people.delete(surname)
      if (this.#turns.isLong) await this.#turns.pass()
    }
    const seen = await this.#lookForSurnames(people)
    for (const [surname, those] of people) {
      this.#joinInitials(those)
      const known = new Set(
        those.filter((name) => this.#isPerson(name)).map((name) => this.#rootOf(name)),
      )
      const ofPerson = those.filter((name) => known.has(this.#rootOf(name)))
      await this.#joinSurname(surname, ofPerson, seen)
      if (this.#turns.isLong) await this.#turns.pass()
    }
  }

  /** `Mr. Hammond` and `Hammond`, `President Chiang Kai-shek` and `Chiang Kai-shek`. */
  async #joinTitles(): Promise<void> {
    const titled: { readonly name: Name; readonly bare: Name; readonly person?: string }[] = []
    const people = new Set<string>()
    for (const name of this.#names) {
      if (this.#turns.isLong) await this.#turns.pass()
      const [first = '', ...others] = name.lower
      const isHonorific = honorifics.has(first)
      const isTitle = titles.has(first) || ranks.has(first) || royal.has(first)
      if (!isHonorific && !(isTitle && others.length > 1)) continue
      const bare = this.#byForm.get(others.join(''))
      if (bare === undefined) continue
      const person = others.join(' ')
      if (isHonorific) people.add(person)
      titled.push({ name, bare, ...(isHonorific && { person }) })
    }
    const shared = await sharedNames(this.#text, people, this.#turns)
    for (const { name, bare, person } of titled) {
      if (person === undefined || !shared.has(person)) this.#join(name, bare)
    }
  }

  /** `Iain Banks` and `Iain M. Banks`, `J. K. Rowling` and `Joanne Rowling`, where all of that surname agree. */
  #joinInitials(those: readonly Name[]): void {
    if (those.length < 2 || those.length > mostOfSurname) return
    for (const [n, one] of those.entries()) {
      for (const other of those.slice(n + 1)) {
        if (!agree(one, other)) continue
        const isClear = those.every((third) => {
          const isOne = third === one || agree(third, one) || this.#areOne(third, one)
          const isOther = third === other || agree(third, other) || this.#areOne(third, other)
          return isOne === isOther
        })
        if (isClear) this.#join(one, other)
      }
    }
  }

  #areOne(a: Name, b: Name): boolean {
    return this.#rootOf(a) === this.#rootOf(b)
  }

  /** What may be a surname alone. */
  #surnameAlone(surname: string): Name | undefined {
    const alone = this.#byForm.get(surname)
    return alone?.words.length !== 1 || isAcronym(alone.name) ? undefined : alone
  }

  /** By surname the people that have it. */
  async #lookForSurnames(people: ReadonlyMap<string, readonly Name[]>): Promise<Seen> {
    const bySurname = new Map<string, Name[]>()
    const alone = new Set<string>()
    const wanted = new Set<string>()
    for (const [surname, those] of people) {
      const name = this.#surnameAlone(surname)?.name
      if (name === undefined) continue
      bySurname.set(surname, [])
      alone.add(name)
      wanted.add(name)
      for (const { name } of those) wanted.add(name)
    }
    const first = new Map<string, number>()
    const distinguished = new Set<string>()
    const seen = { bySurname, first, distinguished }
    if (wanted.size === 0) return seen
    for (const name of this.#names) {
      for (const word of new Set(name.lower)) bySurname.get(word)?.push(name)
      if (this.#turns.isLong) await this.#turns.pass()
    }
    const found = (name: string, at: number) => {
      if (!first.has(name)) first.set(name, at)
      if (!alone.has(name) || distinguished.has(name)) return
      if (isDistinguished(this.#text, at, name)) distinguished.add(name)
    }
    await findNames(this.#text, wanted, found, this.#turns)
    return seen
  }

  /** `Christopher Nolan`, then `Nolan`: where nobody and nothing else has that name. */
  async #joinSurname(surname: string, those: readonly Name[], seen: Seen): Promise<void> {
    const [first] = those as readonly [Name]
    const alone = this.#surnameAlone(surname)
    if (alone === undefined) return
    if (!those.every((name) => this.#areOne(name, first))) return
    const isOfPerson = ({ lower }: { readonly lower: readonly string[] }) =>
      those.some((name) => name.lower.every((word) => lower.includes(word)))
    for (const name of seen.bySurname.get(surname) ?? []) {
      if (name !== alone && !isOfPerson(name)) return
      if (this.#turns.isLong) await this.#turns.pass()
    }
    const title = this.#titleWords
    const isTitle =
      isOfPerson({ lower: title }) ||
      (title.length > 1 && those.some(({ lower }) => title.every((word) => lower.includes(word))))
    if (title.includes(surname) && !isTitle) return
    const [whole, bare] = [seen.first.get(first.name), seen.first.get(alone.name)]
    if (!isTitle && (whole === undefined || bare === undefined || bare < whole)) return
    if (!seen.distinguished.has(alone.name)) this.#join(alone, first)
  }

  #isPerson(name: Name): boolean {
    if (!isLikePerson(name)) return false
    const given = name.lower.find((word) => word.length > 1) ?? ''
    if (givenNames.has(given) && given !== name.lower.at(-1)) return true
    return initial.test(name.name) || this.#saidOfPeople.has(name.uri)
  }

  #people: ReadonlySet<string> | undefined

  /** Who the text says to be born, or to be a writer. */
  get #saidOfPeople(): ReadonlySet<string> {
    if (this.#people !== undefined) return this.#people
    const people = new Set<string>()
    const lives = ['born', 'was born', 'die', 'died'].map((verb) => this.#uriOf(verb))
    for (const { s, p, o } of this.#triples) {
      const isBorn = lives.some((uri) => p.v === uri || p.v.startsWith(`${uri}-`))
      const noun = o.e && p.v === vocabulary.type ? /[a-z]+$/.exec(o.v)?.[0] : undefined
      if (isBorn || (noun !== undefined && isPersonNoun(noun))) people.add(s.v)
    }
    return (this.#people = people)
  }
}

/** In UTF-16 code units: what stands behind it opens no text. */
const mostOpening = 200
/** Words of a person's name. */
const mostOfPerson = 5
/** Names with one surname that are compared, each with each: in a text with more it tells nobody. */
const mostOfSurname = 16

const particles = new Set(['de', 'da', 'di', 'van', 'von', 'der', 'den', 'ter', 'le', 'la', 'du'])
/** What stands behind is the father's name. */
const patronymics = new Set(['ap', 'ab', 'ferch', 'bin', 'ibn', 'bint', 'ben', 'mac'])
const royal = new Set(['king', 'queen', 'prince', 'princess', 'pope', 'saint'])
const generations = new Set(['jr', 'sr', 'ii', 'iii', 'iv'])
const companySuffixes = new Set(['inc', 'ltd', 'llc', 'co', 'corp', 'company', 'limited', 'plc'])

/** `J. K. Rowling`, `Iain M. Banks` */
const initial = /(?:^|\s)\p{Lu}\.\s?\S/u

/** By its words alone. */
function isLikePerson({ words, lower }: Name): boolean {
  if (words.length < 2 || words.length > mostOfPerson) return false
  for (const [n, word] of words.entries()) {
    const small = lower[n] as string
    if (institutions.has(small) || patronymics.has(small) || /\p{N}/u.test(word)) return false
    if (connectors.has(word) && !particles.has(word)) return false
    if (!/^\p{Lu}/u.test(word) && !particles.has(word)) return false
  }
  return true
}

function small(word: string): string {
  return word.toLowerCase()
}

/** `The Office` is not what an `office` is. */
function isLarge({ name }: Named): boolean {
  return /\p{Lu}/u.test(name)
}

function isAcronym(name: string): boolean {
  return /^[\p{Lu}\p{N}&.]{2,}$/u.test(name)
}

/** What it is called: as the title has it, else in most words, and an acronym last. */
function rankOf({ name, words, form }: Name, title: string): number {
  if (form === title) return 100
  return isAcronym(name) ? 0 : Math.min(words.length, 50)
}

function surnameOf({ lower }: Name): string {
  const last = lower.at(-1) ?? ''
  return generations.has(last) ? (lower.at(-2) ?? last) : last
}

/** Whether two names of one surname can be those of one person, without a word that only one of them has. */
function agree(one: Name, other: Name): boolean {
  const [short, long] = [one, other]
    .map(({ lower }) => lower)
    .sort((a, b) => a.length - b.length) as [readonly string[], readonly string[]]
  if (generations.has(short.at(-1) ?? '') || generations.has(long.at(-1) ?? '')) return false
  if (short.at(-1) !== long.at(-1)) return false
  const [a, b] = [short.slice(0, -1), long.slice(0, -1)]
  if (!a.every((word, n) => isInitialOf(word, b[n] as string))) return false
  // A name in the middle tells `John Quincy Adams` from `John Adams`; a letter there does not.
  return b.slice(a.length).every(isInitial) || a.every(isInitial) !== b.every(isInitial)
}

function isInitial(word: string): boolean {
  return word.length === 1
}

function isInitialOf(a: string, b: string): boolean {
  if (a === b) return true
  return (isInitial(a) || isInitial(b)) && a[0] === b[0]
}

const telling =
  /(?:\b(?:old|young|elder|younger|mrs|miss|ms|lady|dame|sir|lord|in|at|near|the|and|brothers)\.?|&)\s+$/i

/** Whether the text tells who is meant by a surname at a place, or that it is a place's name. */
function isDistinguished(text: string, at: number, surname: string): boolean {
  if (telling.test(text.slice(Math.max(0, at - 12), at))) return true
  return /^['’]?s\s+(?:family|brothers)\b/.test(text.slice(at + surname.length))
}
