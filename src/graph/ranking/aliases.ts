// What else the things are called that passages speak of, and that a question names.

import type { Turns } from '../../turns.js'
import type { Term } from '../../types.js'
import { passagePredicates } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import { Takings } from '../taking.js'
import type { Sameness } from '../same/sameness.js'
import { ANY, NONE, type GraphView } from '../view.js'
import { nameWord } from '../words/name-words.js'
import type { NameInText } from './names.js'

/** Things of one passage that are looked at, by each predicate. */
const ofPassage = { most: 200, accepts: () => true }
/** Names of one thing. */
const mostNames = 32
const ofThing = { most: mostNames, accepts: () => true }
/** More things than these that a name has: it tells of none. */
const mostThings = 4
/** Things of which it is remembered what they are called. */
const mostKnown = 20_000

type Names = readonly NameInText[]
const none: Names = []

/** By view: what things are called that have several names. Views never change. */
const known = new WeakMap<GraphView, Map<number, Names>>()

export class Aliases {
  readonly #view: GraphView
  readonly #sameness: Sameness
  readonly #turns: Turns
  readonly #from: readonly number[]
  readonly #label: readonly number[]
  readonly #known: Map<number, Names>
  readonly #takings: Takings

  private constructor(
    view: GraphView,
    sameness: Sameness,
    turns: Turns,
    { from, label }: { readonly from: readonly number[]; readonly label: readonly number[] },
  ) {
    this.#view = view
    this.#sameness = sameness
    this.#turns = turns
    this.#from = from
    this.#label = label
    this.#known = known.get(view) ?? new Map<number, Names>()
    known.set(view, this.#known)
    this.#takings = new Takings(view)
  }

  /** Undefined where nothing is called anything. */
  static async of(view: GraphView, sameness: Sameness, turns: Turns): Promise<Aliases | undefined> {
    const idsOf = async (names: readonly string[]) => {
      const ids = await Promise.all(names.map((v) => withBlocks(() => view.find({ v, e: true }))))
      return ids.filter((id) => id !== NONE)
    }
    const [from, label] = [
      await idsOf(passagePredicates.from),
      await idsOf(passagePredicates.label),
    ]
    if (label.length === 0) return undefined
    return new Aliases(view, sameness, turns, { from, label })
  }

  /** The names of each thing with several that a passage speaks of. */
  async inPassage(chunk: Term): Promise<Names[]> {
    const things = await withBlocks(() => this.#thingsOf(chunk))
    const found: Names[] = []
    for (const thing of things) {
      const named = withBlocks(() => this.#namesOf(thing))
      const names = named instanceof Promise ? await named : named
      if (names.length > 1) found.push(names)
      if (this.#turns.isLong) await this.#turns.pass()
    }
    return found
  }

  /** What else that is called which has a name in one of these passages. */
  async othersOf({ name }: NameInText, passages: readonly Term[]): Promise<Names> {
    const things = new Set<Names>()
    for (const chunk of passages) {
      for (const names of await this.inPassage(chunk)) {
        if (names.some((each) => each.name === name)) things.add(names)
      }
    }
    if (things.size > mostThings) return none
    const others = [...things].flat().filter((each) => each.name !== name)
    return [...new Map(others.map((each) => [each.name, each])).values()]
  }

  /** May throw a Miss. */
  #thingsOf(chunk: Term): Set<number> {
    const passage = this.#view.find(chunk)
    return this.#takings.run(`from ${passage}`, (taking) => {
      const found = this.#from.flatMap((p) => taking.rows(ANY, p, passage, ofPassage))
      return new Set(found.map(({ s }) => s))
    })
  }

  /** May throw a Miss. */
  #namesOf(thing: number): Names {
    const before = this.#known.get(thing)
    if (before !== undefined) return before
    const members = this.#sameness.membersOf(thing)
    const said = this.#takings.run(`of ${thing}`, (taking) =>
      members.flatMap((member) =>
        this.#label.flatMap((p) =>
          taking.rows(member, p, ANY, ofThing).map(({ o }) => this.#view.term(o)),
        ),
      ),
    )
    const names = new Map<string, NameInText>()
    for (const { v, e } of said) {
      const name = e ? undefined : nameWord(v)
      if (name !== undefined && !names.has(name)) names.set(name, { name, text: v })
    }
    const all = names.size > 1 ? [...names.values()].slice(0, mostNames) : none
    if (this.#known.size >= mostKnown) this.#known.clear()
    for (const member of members) this.#known.set(member, all)
    return all
  }
}
