// Things that may be one: those whose names have a key in common are compared, and no others.

import { Members } from '../../door/members.js'
import { checkOptions } from '../../door/options.js'
import { aCount, anyValue, aRule, aSignal } from '../../door/rules.js'
import { eitherOf } from '../../in-flight.js'
import { Turns } from '../../turns.js'
import { vocabulary } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import { Question } from '../question.js'
import type { Duplicate, DuplicateReason, DuplicatesOptions } from '../types.js'
import { NONE, type GraphView } from '../view.js'
import { likenessOf } from './likeness.js'
import { NamesByKey } from './names-by-key.js'
import { Neighbourhood } from './neighbourhood.js'
import { Sameness } from './sameness.js'

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
  const names = await NamesByKey.of(view, turns)
  const finder = new Finder(view, names, asked, await Sameness.of(view))
  await finder.run(turns)
  return finder.found(turns)
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
  readonly #names: NamesByKey
  readonly #asked: Asked
  readonly #sameness: Sameness
  /** By pair the best that was found; at most twice as many as are wanted. */
  readonly #found = new Map<string, Found>()
  /** Pairs that came on earlier pages: by others of their names they have other scores. */
  readonly #told = new Set<string>()
  #least: number

  constructor(view: GraphView, names: NamesByKey, asked: Asked, sameness: Sameness) {
    this.#view = view
    this.#names = names
    this.#asked = asked
    this.#sameness = sameness
    this.#least = asked.least
  }

  async run(turns: Turns): Promise<void> {
    const { after, least } = this.#asked
    for (let told = -1; this.#told.size > told;) {
      told = this.#told.size
      this.#found.clear()
      this.#least = least
      await this.#each(turns, (found) => this.#take(found))
      if (after === undefined) return
      this.#cut()
      // Of those that are on this page alone: all earlier ones may be millions.
      await this.#each(turns, (found) => {
        if (compare(found, after) <= 0 && this.#found.has(found.key)) this.#told.add(found.key)
      })
    }
  }

  async #each(turns: Turns, take: (found: Found) => void): Promise<void> {
    const specialization = await withBlocks(() =>
      this.#view.find({ v: vocabulary.specializationOf, e: true }),
    )
    const books = await Neighbourhood.of(this.#view)
    for (const block of this.#names.blocks()) {
      for (const [at, n] of block.entries()) {
        for (const m of block.slice(at + 1)) {
          const compared = withBlocks(() => this.#compare(n, m, specialization, books))
          const found = compared instanceof Promise ? await compared : compared
          if (found !== undefined) take(found)
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
    if (sameness.apart(sameness.membersOf(a), sameness.membersOf(b)).length > 0) return undefined
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
    if (found.score < this.#least || this.#told.has(found.key)) return
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

function compare(a: Ranked, b: Ranked): number {
  return b.score - a.score || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
}

function keyOf(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}
