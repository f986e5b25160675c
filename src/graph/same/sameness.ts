// Things that a graph says to be one (owl:sameAs), but for those that it says to be different (owl:differentFrom).

import { vocabulary } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import { Takings, type Taking } from '../taking.js'
import { ANY, NONE, type GraphView } from '../view.js'

/** More are not one thing, but a mistake; they are not looked at. */
const mostMembers = 1000
/** Things of which it is remembered what they are one with: whatever one piece of work asks for has room. */
const mostKnown = 10 * mostMembers
const first = { most: mostMembers, accepts: () => true }

/** The methods may throw a Miss. */
export class Sameness {
  readonly #view: GraphView
  readonly #sameAs: number
  readonly #differentFrom: number
  readonly #takings: Takings
  readonly #known = new Map<number, readonly number[]>()

  private constructor(view: GraphView, sameAs: number, differentFrom: number) {
    this.#view = view
    this.#takings = new Takings(view)
    this.#sameAs = sameAs
    this.#differentFrom = differentFrom
  }

  static async of(view: GraphView): Promise<Sameness> {
    const idOf = (v: string) => withBlocks(() => view.find({ v, e: true }))
    return new Sameness(view, await idOf(vocabulary.sameAs), await idOf(vocabulary.differentFrom))
  }

  /** Whether nothing is said to be one. */
  get isEmpty(): boolean {
    return this.#sameAs === NONE
  }

  /** All that are one with a thing, and itself. The first is the one that speaks for all. */
  membersOf(id: number): readonly number[] {
    if (this.isEmpty || id === NONE) return [id]
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const all = this.#takings.run(`${id}`, (taking) => {
      const members = new Set([id])
      const led = new Set<number>()
      for (const member of members) {
        if (members.size >= mostMembers) break
        for (const { other, isFrom } of this.#besides(member, taking)) {
          if (!isFrom) led.add(other)
          else led.add(member)
          members.add(other)
        }
      }
      return this.#inOrder([...members], led)
    })
    if (this.#known.size > mostKnown) this.#known.clear()
    for (const member of all) this.#known.set(member, all)
    return all
  }

  /** The one that speaks for it. */
  firstOf(id: number): number {
    return this.membersOf(id)[0] ?? id
  }

  /** What a thing is said to be the same as, of what another one is one with without it. */
  nextTo(id: number, other: number): number[] {
    if (this.isEmpty || !this.membersOf(id).includes(other)) return []
    return this.#takings.run(`${id} ${other}`, (taking) => {
      const reached = new Set([other])
      for (const member of reached) {
        if (reached.size >= mostMembers) break
        for (const { other: next } of this.#besides(member, taking)) {
          if (next !== id) reached.add(next)
        }
      }
      const near = [...this.#besides(id, taking)].map(({ other }) => other)
      return [...new Set(near)].filter((next) => reached.has(next))
    })
  }

  areApart(a: number, b: number): boolean {
    const different = this.#differentFrom
    if (different === NONE || a === NONE || b === NONE) return false
    return this.#view.has(a, different, b) || this.#view.has(b, different, a)
  }

  /**
   * Pairs of one and another that are said to be different. Of each that are fewer what is said of it is looked up,
   * not each with each: there may be a thousand of both.
   */
  apart(some: readonly number[], others: readonly number[]): [one: number, other: number][] {
    const different = this.#differentFrom
    if (different === NONE) return []
    const [a, b] = [some[0] ?? NONE, others[0] ?? NONE]
    if (some.length === 1 && others.length === 1) return this.areApart(a, b) ? [[a, b]] : []
    const isTurned = others.length < some.length
    const [fewer, more] = isTurned ? [others, new Set(some)] : [some, new Set(others)]
    return this.#takings.run(`apart ${a} ${b}`, (taking) =>
      fewer.flatMap((id) => {
        const found = new Set([
          ...this.#apartFrom(id, more, true, taking),
          ...this.#apartFrom(id, more, false, taking),
        ])
        return [...found].map((other): [number, number] => (isTurned ? [other, id] : [id, other]))
      }),
    )
  }

  /**
   * Of some those that a thing is said to be different from, or, without `isFrom`, that are said to be of it. Where it
   * is so of more than these it may be of millions: each is asked of.
   */
  #apartFrom(id: number, some: ReadonlySet<number>, isFrom: boolean, taking: Taking): number[] {
    const most = some.size + 1
    const rows = (other: number, most: number) => {
      const [s, o] = isFrom ? [id, other] : [other, id]
      return taking.rows(s, this.#differentFrom, o, { most, accepts: () => true })
    }
    const said = rows(ANY, most).map(({ s, o }) => (isFrom ? o : s))
    if (said.length < most) return said.filter((other) => some.has(other))
    return [...some].filter((other) => rows(other, 1).length > 0)
  }

  /** What is said of it to be the same, one step away: `isFrom` where it is the subject. */
  *#besides(
    id: number,
    taking: Taking,
  ): Generator<{ readonly other: number; readonly isFrom: boolean }> {
    const sameAs = this.#sameAs
    for (const isFrom of [true, false]) {
      const rows = isFrom
        ? taking.rows(id, sameAs, ANY, first)
        : taking.rows(ANY, sameAs, id, first)
      for (const { s, o } of rows) {
        const other = isFrom ? o : s
        if (other === id || this.areApart(id, other)) continue
        if (this.#view.term(other).e) yield { other, isFrom }
      }
    }
  }

  /** First what is said to be the same as nothing else, of these the first by its IRI; then the others by theirs. */
  #inOrder(members: readonly number[], led: ReadonlySet<number>): readonly number[] {
    if (members.length === 1) return members
    const named = members.map((id) => ({ id, v: this.#view.term(id).v, isLed: led.has(id) }))
    named.sort((a, b) => Number(a.isLed) - Number(b.isLed) || (a.v < b.v ? -1 : 1))
    return named.map(({ id }) => id)
  }
}
