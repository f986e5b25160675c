// The links of one level while a graph is built.

import type { Beam } from './beam.js'
import type { Kernel } from './kernel.js'
import { mostLinks, type VectorAddresses } from './walk.js'

export class Layer {
  /** How many links a vector keeps, and the room for those that wait to be chosen from. */
  readonly keep: number
  readonly room: number
  readonly links: Uint32Array
  /** Of each link: the product of its two vectors. */
  readonly scores: Float32Array
  readonly degrees: Uint8Array
  /** Where the links of a vector are; undefined where each has its own number's place. */
  readonly #rows: ReadonlyMap<number, number> | undefined

  constructor(keep: number, room: number, count: number, rows?: ReadonlyMap<number, number>) {
    this.keep = keep
    this.room = room
    this.links = new Uint32Array(count * room)
    this.scores = new Float32Array(count * room)
    this.degrees = new Uint8Array(count)
    this.#rows = rows
  }

  row(node: number): number {
    // Whoever asks for a level of a vector knows that it has one.
    return this.#rows === undefined ? node : (this.#rows.get(node) as number)
  }
}

/**
 * Of candidates, those to link to: the nearest, but none that is nearer to one chosen before it than
 * to the vector itself, for that one leads there (Malkov & Yashunin, algorithm 4).
 */
export class Chooser {
  /** The numbers of those chosen, and their products with the vector. */
  readonly nodes: Uint32Array
  readonly scores: Float32Array
  readonly #kernel: Kernel
  readonly #place: VectorAddresses
  readonly #at: number
  readonly #addressOf: (node: number) => number

  constructor(
    kernel: Kernel,
    place: VectorAddresses,
    at: number,
    addressOf: (node: number) => number,
  ) {
    this.#kernel = kernel
    this.#place = place
    this.#at = at
    this.#addressOf = addressOf
    this.nodes = new Uint32Array(kernel.memory.buffer, at, mostLinks)
    this.scores = new Float32Array(mostLinks)
  }

  /** How many it chose. */
  choose(candidates: Beam, keep: number): number {
    const { table, perBlock, dimensions } = this.#place
    let chosen = 0
    for (let n = 0; n < candidates.size && chosen < keep; n++) {
      const node = candidates.node(n)
      const score = candidates.scores[n] as number
      const vector = this.#addressOf(node)
      const isLed = this.#kernel.anyAbove(
        vector,
        this.#at,
        chosen,
        table,
        perBlock,
        dimensions,
        score,
      )
      if (isLed === 1) continue
      this.nodes[chosen] = node
      this.scores[chosen] = score
      chosen++
    }
    return chosen
  }
}
