// Things that may be one: those whose names have a key in common are compared, and no others.

import { Members } from '../../door/members.js'
import { checkOptions } from '../../door/options.js'
import { aCount, anyValue, aRule, aSignal } from '../../door/rules.js'
import { eitherOf } from '../../in-flight.js'
import { sortedPairs } from '../../radix-sort.js'
import { Turns } from '../../turns.js'
import { passagePredicates, vocabulary } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import { Question } from '../question.js'
import type { Duplicate, DuplicateReason, DuplicatesOptions } from '../types.js'
import { ANY, NONE, type GraphView } from '../view.js'
import { keysOf, likenessOf, readName, type NameOfThing } from './likeness.js'
import { Sameness } from './sameness.js'

/** Names that are looked at: 17 bytes for each, and 40 for each of its keys, three of most. */
const mostNames = 500_000
/** Names with one key that are compared, each with each: a key of more tells nothing. */
const mostOfKey = 64
/** What is next to a thing, as far as it is looked at. */
const mostNeighbours = 64
/** How much of what is missing to 1 all neighbours in common add. */
const ofNeighbours = 0.6
const usualLimit = 100
const mostLimit = 10_000
const usualLeast = 0.6

const aScore = aRule<number>(
  'a number from 0 to 1',
  (value) => typeof value === 'number' && value >= 0 && value <= 1,
)

const options = {
  limit: aCount(0, mostLimit),
  least: aScore,
  after: anyValue,
  signal: aSignal,
}

interface Asked {
  readonly limit: number
  readonly least: number
  readonly after: Ranked | undefined
  readonly signal: AbortSignal
}

interface Ranked {
  readonly score: number
  /** Both IRIs. */
  readonly key: string
}

/** @throws TypeError, LorekeepError `LK_GRAPH_QUERY` */
export function checkDuplicates(given: DuplicatesOptions | undefined, closing: AbortSignal): Asked {
  const {
    limit = usualLimit,
    least = usualLeast,
    after,
    signal,
  } = checkOptions('duplicates()', given, options)
  const question = new Question()
  const page = after === undefined ? undefined : checkAfter(after, question)
  question.end()
  return { limit, least, after: page, signal: eitherOf(closing, signal) }
}

/** The whole pair may come back, as it was told. */
function checkAfter(after: unknown, question: Question): Ranked {
  const given = new Members(after, 'after', question.problems, 'the last pair of the page before')
  const [one, other] = [given.get('a'), given.get('b')]
  const score = given.need('score', aScore) ?? 0
  for (const told of ['names', 'reasons']) given.get(told)
  given.end()
  const key = keyOf(question.term(one, 'after.a').v, question.term(other, 'after.b').v)
  return { score, key }
}

/** The likeliest first; of one score in the order of their IRIs. Rejects with the signal's reason. */
export async function findDuplicates(view: GraphView, asked: Asked): Promise<Duplicate[]> {
  const { limit, signal } = asked
  const turns = new Turns(signal)
  await turns.pass()
  if (limit === 0) return []
  const names = await Names.of(view, turns)
  const finder = new Finder(view, names, asked, await Sameness.of(view))
  await finder.run(turns)
  return finder.found(turns)
}

/** All names of a graph, by the keys that they have. */
class Names {
  count = 0
  readonly #view: GraphView
  #things = new Float64Array(1024)
  #literals = new Float64Array(1024)
  #others = new Uint8Array(1024)
  #keys = new Uint32Array(4096)
  #keyNames = new Uint32Array(4096)
  #keyCount = 0

  private constructor(view: GraphView) {
    this.#view = view
  }

  static async of(view: GraphView, turns: Turns): Promise<Names> {
    const names = new Names(view)
    for (const v of passagePredicates.label) {
      const p = await withBlocks(() => view.find({ v, e: true }))
      if (p === NONE) continue
      const rows = await withBlocks(() => view.rows(ANY, p, ANY))
      let isAt = false
      const isOther = v !== vocabulary.label && v !== vocabulary.prefLabel
      for (let isMore = true; isMore && names.count < mostNames; await turns.pass()) {
        const step = withBlocks(() => {
          while (isAt || rows.next()) {
            isAt = true
            names.#add(rows.s, rows.o, isOther)
            isAt = false
            if (turns.isLong || names.count >= mostNames) return true
          }
          return false
        })
        isMore = step instanceof Promise ? await step : step
      }
    }
    return names
  }

  /** May throw a Miss, before anything has changed. */
  #add(thing: number, literal: number, isOther: boolean): void {
    const { v, e } = this.#view.term(literal)
    const name = e ? undefined : readName(v)
    if (name === undefined) return
    if (this.count === this.#things.length) {
      this.#things = twice(this.#things, new Float64Array(2 * this.count))
      this.#others = twice(this.#others, new Uint8Array(2 * this.count))
      this.#literals = twice(this.#literals, new Float64Array(2 * this.count))
    }
    this.#things[this.count] = thing
    this.#literals[this.count] = literal
    this.#others[this.count] = isOther ? 1 : 0
    for (const key of keysOf(name)) {
      if (this.#keyCount === this.#keys.length) {
        this.#keys = twice(this.#keys, new Uint32Array(2 * this.#keyCount))
        this.#keyNames = twice(this.#keyNames, new Uint32Array(2 * this.#keyCount))
      }
      this.#keys[this.#keyCount] = hashOf(key)
      this.#keyNames[this.#keyCount++] = this.count
    }
    this.count++
  }

  thing(n: number): number {
    return this.#things[n] as number
  }

  /** May throw a Miss. */
  name(n: number): NameOfThing {
    const { v } = this.#view.term(this.#literals[n] as number)
    return readName(v, this.#others[n] === 1) as NameOfThing
  }

  /** The names of each key that several have. */
  *blocks(): Generator<readonly number[]> {
    const count = this.#keyCount
    const pairs = sortedPairs(this.#keys.subarray(0, count), count)
    for (let from = 0; from < count;) {
      let to = from + 1
      while (to < count && pairs[2 * to] === pairs[2 * from]) to++
      if (to - from > 1 && to - from <= mostOfKey) {
        const names: number[] = []
        for (let n = from; n < to; n++) {
          names.push(this.#keyNames[pairs[2 * n + 1] as number] as number)
        }
        yield names
      }
      from = to
    }
  }
}

interface Found {
  readonly a: number
  readonly b: number
  readonly names: readonly [string, string]
  readonly score: number
  readonly reasons: readonly DuplicateReason[]
  readonly key: string
}

class Finder {
  readonly #view: GraphView
  readonly #names: Names
  readonly #asked: Asked
  readonly #sameness: Sameness
  /** By pair the best that was found; at most twice as many as are wanted. */
  readonly #found = new Map<string, Found>()
  #least: number

  constructor(view: GraphView, names: Names, asked: Asked, sameness: Sameness) {
    this.#view = view
    this.#names = names
    this.#asked = asked
    this.#sameness = sameness
    this.#least = asked.least
  }

  async run(turns: Turns): Promise<void> {
    const specialization = await withBlocks(() =>
      this.#view.find({ v: vocabulary.specializationOf, e: true }),
    )
    const books = await Neighbourhood.of(this.#view)
    for (const block of this.#names.blocks()) {
      for (const [at, n] of block.entries()) {
        for (const m of block.slice(at + 1)) {
          const compared = withBlocks(() => this.#compare(n, m, specialization, books))
          const found = compared instanceof Promise ? await compared : compared
          if (found !== undefined) this.#take(found)
          if (turns.isLong) await turns.pass()
        }
      }
      await turns.pass()
    }
  }

  async found(turns: Turns): Promise<Duplicate[]> {
    this.#cut()
    const found: Duplicate[] = []
    for (const { a, b, names, score, reasons } of this.#found.values()) {
      const [one, other] = await withBlocks(() => [this.#view.term(a), this.#view.term(b)] as const)
      found.push({ a: one, b: other, names, score, reasons })
      await turns.pass()
    }
    return found
  }

  /** May throw a Miss. */
  #compare(n: number, m: number, specialization: number, books: Neighbourhood): Found | undefined {
    const [x, y] = [this.#names.name(n), this.#names.name(m)]
    const alike = likenessOf(x, y)
    if (alike === undefined) return undefined
    const isLonger = x.words.length !== y.words.length ? x.words.length > y.words.length : undefined
    const sameness = this.#sameness
    const one = sameness.firstOf(this.#names.thing(n))
    const other = sameness.firstOf(this.#names.thing(m))
    if (one === other) return undefined
    const view = this.#view
    const [v, w] = [view.term(one), view.term(other)]
    if (!v.e || !w.e) return undefined
    const isFirst = isLonger ?? v.v < w.v
    const [a, b, names] = isFirst
      ? [one, other, [x.text, y.text] as const]
      : [other, one, [y.text, x.text] as const]
    const reasons: DuplicateReason[] = [alike.reason]
    let { score } = alike
    const isAlias =
      specialization !== NONE && (view.has(a, specialization, b) || view.has(b, specialization, a))
    if (isAlias && alike.reason !== 'form') {
      reasons.push('alias')
      score += (1 - score) * 0.4
    }
    // Nothing that neighbours add would bring it so far.
    if (score + (1 - score) * ofNeighbours < this.#least) return undefined
    for (const x of sameness.membersOf(a)) {
      for (const y of sameness.membersOf(b)) if (sameness.areApart(x, y)) return undefined
    }
    const shared = books.shared(a, b)
    if (shared > 0) {
      reasons.push('neighbours')
      score += (1 - score) * ofNeighbours * shared
    }
    score = Math.round(score * 1000) / 1000
    return { a, b, names, score, reasons, key: keyOf(v.v, w.v) }
  }

  #take(found: Found): void {
    const { after, limit } = this.#asked
    if (found.score < this.#least) return
    if (after !== undefined && compare(found, after) <= 0) return
    const known = this.#found.get(found.key)
    if (known !== undefined && known.score >= found.score) return
    this.#found.set(found.key, found)
    if (this.#found.size >= 2 * limit) this.#cut()
  }

  /** Keeps as many as are wanted, the likeliest. */
  #cut(): void {
    const { limit } = this.#asked
    const best = [...this.#found.values()].sort(compare).slice(0, limit)
    this.#found.clear()
    for (const each of best) this.#found.set(each.key, each)
    if (best.length === limit) this.#least = Math.max(this.#least, best.at(-1)?.score ?? 0)
  }
}

/** What things have next to them that says something of them. */
class Neighbourhood {
  readonly #view: GraphView
  /** Predicates that say what a thing is called, or where it was found. */
  readonly #passed: ReadonlySet<number>

  private constructor(view: GraphView, passed: ReadonlySet<number>) {
    this.#view = view
    this.#passed = passed
  }

  static async of(view: GraphView): Promise<Neighbourhood> {
    const { type, sameAs, differentFrom, specializationOf, definition } = vocabulary
    const names = [
      ...passagePredicates.label,
      ...passagePredicates.from,
      ...[type, sameAs, differentFrom, specializationOf, definition],
    ]
    const ids = await Promise.all(names.map((v) => withBlocks(() => view.find({ v, e: true }))))
    return new Neighbourhood(view, new Set(ids))
  }

  /** How many of the neighbours of the one with fewer are those of the other. May throw a Miss. */
  shared(a: number, b: number): number {
    const [one, other] = [this.#of(a), this.#of(b)]
    one.delete(b)
    other.delete(a)
    const fewer = Math.min(one.size, other.size)
    if (fewer === 0) return 0
    let both = 0
    for (const id of one) if (other.has(id)) both++
    // One neighbour of one says little.
    return both / Math.max(3, fewer)
  }

  #of(id: number): Set<number> {
    const found = new Set<number>()
    for (const isSubject of [true, false]) {
      const rows = isSubject ? this.#view.rows(id, ANY, ANY) : this.#view.rows(ANY, ANY, id)
      for (let n = 0; n < mostNeighbours && rows.next(); n++) {
        if (!this.#passed.has(rows.p)) found.add(isSubject ? rows.o : rows.s)
      }
    }
    return found
  }
}

function compare(a: Ranked, b: Ranked): number {
  return b.score - a.score || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
}

function keyOf(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}

function twice<T extends Float64Array | Uint32Array | Uint8Array>(from: T, to: T): T {
  to.set(from as never)
  return to
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let n = 0; n < text.length; n++) {
    hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193)
  }
  return hash >>> 0
}
