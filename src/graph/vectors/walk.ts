// Going from vector to vector along links towards a query.

import type { Beam } from './beam.js'
import type { Kernel } from './kernel.js'

/** Which vectors are linked: on level 0 all, on each level above it fewer. */
export interface Links {
  readonly entry: number
  /** The highest level. */
  readonly top: number
  /** Writes the numbers of the vectors that one links to, and returns how many those are. */
  read(node: number, level: number, numbers: Uint32Array): number
}

/** Vectors in a kernel's memory. Numbers are addresses, but for the last two. */
export interface VectorAddresses {
  /** Room for `mostLinks` numbers, and three more. */
  readonly numbers: number
  /** As much room, for products. */
  readonly products: number
  /** The address of each block of vectors. */
  readonly table: number
  readonly perBlock: number
  readonly dimensions: number
}

/** More links than any vector has. */
export const mostLinks = 125

/** How many vectors are held while going down to level 0: one leads astray among clusters. */
export const descentWidth = 4

/** Which vectors a walk has met. It is told of a new walk, so that it need not be cleared. */
export class Visits {
  walks = new Uint32Array(0)
  walk = 0

  begin(count: number): void {
    if (this.walks.length < count || this.walk === 0xffff_ffff) {
      this.walks = new Uint32Array(count)
      this.walk = 0
    }
    this.walk++
  }
}

/** Fills the beam with the vectors of level 0 that are nearest to the query, as far as it can tell. */
export function search(
  kernel: Kernel,
  place: VectorAddresses,
  links: Links,
  visits: Visits,
  count: number,
  query: number,
  beam: Beam,
  width: number,
): number {
  const walk = new Walk(kernel, place, visits, count)
  beam.clear(descentWidth)
  walk.meet(query, links.entry, beam)
  for (let level = links.top; level > 0; level--) {
    walk.follow(query, links, level, beam)
    if (level > 1) walk.restart(beam, descentWidth)
  }
  walk.restart(beam, width)
  walk.follow(query, links, 0, beam)
  return walk.met
}

export class Walk {
  /** How many vectors were compared with the query. */
  met = 0
  readonly #kernel: Kernel
  readonly #place: VectorAddresses
  readonly #visits: Visits
  readonly #count: number
  readonly #numbers: Uint32Array
  readonly #products: Float32Array

  constructor(kernel: Kernel, place: VectorAddresses, visits: Visits, count: number) {
    const { buffer } = kernel.memory
    this.#kernel = kernel
    this.#place = place
    this.#visits = visits
    this.#count = count
    this.#numbers = new Uint32Array(buffer, place.numbers, mostLinks + 3)
    this.#products = new Float32Array(buffer, place.products, mostLinks + 3)
    visits.begin(count)
  }

  /** Puts a vector into the beam, to start from. */
  meet(query: number, node: number, beam: Beam): void {
    this.#numbers[0] = node
    this.#visits.walks[node] = this.#visits.walk
    this.#compare(query, 1)
    beam.add(node, this.#products[0] as number)
  }

  /** Starts again from what the beam has, on another level. */
  restart(beam: Beam, width: number): void {
    this.#visits.begin(this.#count)
    beam.restart(width)
    for (let n = 0; n < beam.size; n++) this.#visits.walks[beam.node(n)] = this.#visits.walk
  }

  /** Follows links until all vectors in the beam were followed. */
  follow(query: number, links: Links, level: number, beam: Beam): void {
    const numbers = this.#numbers
    const products = this.#products
    const { walks, walk } = this.#visits
    for (let node = beam.follow(); node >= 0; node = beam.follow()) {
      const linked = links.read(node, level, numbers)
      let fresh = 0
      for (let n = 0; n < linked; n++) {
        const next = numbers[n] as number
        if (walks[next] === walk) continue
        walks[next] = walk
        numbers[fresh++] = next
      }
      this.#compare(query, fresh)
      for (let n = 0; n < fresh; n++) beam.add(numbers[n] as number, products[n] as number)
    }
  }

  #compare(query: number, count: number): void {
    // The kernel takes four at a time.
    this.#numbers.fill(0, count, count + 3)
    this.met += count
    const { numbers, table, perBlock, dimensions, products } = this.#place
    this.#kernel.dotsAt(query, numbers, count, table, perBlock, dimensions, products)
  }
}
