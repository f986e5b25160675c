// All names of a graph, by what brings two of them together.

import { sortedPairs } from '../../radix-sort.js'
import type { Turns } from '../../turns.js'
import { passagePredicates, vocabulary } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import { ANY, NONE, type GraphView } from '../view.js'
import { keysOf, readName, type NameOfThing } from './likeness.js'

/** Names that are looked at: 17 bytes for each, and 40 for each of its keys, three of most. */
const mostNames = 500_000
/** Names with one key that are compared, each with each: a key of more tells nothing. */
const mostOfKey = 64

export class NamesByKey {
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

  static async of(view: GraphView, turns: Turns): Promise<NamesByKey> {
    const names = new NamesByKey(view)
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
