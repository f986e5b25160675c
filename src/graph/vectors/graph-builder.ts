// A hierarchical navigable small world: Malkov & Yashunin, "Efficient and robust approximate nearest
// neighbor search using hierarchical navigable small world graphs", 2018.

import { Beam } from './beam.js'
import { createKernel, type Kernel } from './kernel.js'
import { Chooser, Layer } from './layer.js'
import { descentWidth, mostLinks, Visits, Walk, type Links, type VectorAddresses } from './walk.js'

/** How many links a vector gets when it comes; later ones link back to it. */
const newLinks = 16
/** How many it keeps on level 0, and above it. */
const keptBelow = 28
const keptAbove = 16
/** How many links wait for the choice of which to keep, which costs much. */
const waiting = 16
/** How many vectors are looked at for each that is linked. */
const buildWidth = 64
const topmost = 15

// What lies where in the kernel's memory.
const tableAt = 0
const numbersAt = 1024
const productsAt = numbersAt + 4 * (mostLinks + 3)
const chosenAt = productsAt + 4 * (mostLinks + 3)
const vectorsAt = 4096

/** Vectors in memory, linked one after the other. */
export class GraphBuilder implements Links {
  entry = 0
  /** -1 while there is no vector. */
  top = -1
  readonly kernel: Kernel
  readonly place: VectorAddresses
  readonly visits = new Visits()
  readonly count: number
  readonly #stride: number
  readonly #layers: Layer[]
  readonly #beam = new Beam(buildWidth)
  readonly #chooser: Chooser
  readonly #old = new Beam(mostLinks)

  /** `spare`: how many more vectors there is room for, after those that can be linked. */
  constructor(dimensions: number, count: number, spare: number) {
    this.count = count
    this.#stride = 4 * dimensions
    const bytes = builderBytes(dimensions, count + spare)
    this.kernel = createKernel(bytes, bytes)
    this.place = {
      numbers: numbersAt,
      products: productsAt,
      table: tableAt,
      perBlock: count + spare,
      dimensions,
    }
    new Uint32Array(this.kernel.memory.buffer, tableAt, 1)[0] = vectorsAt
    this.#chooser = new Chooser(this.kernel, this.place, chosenAt, this.addressOf)
    this.#layers = [new Layer(keptBelow, keptBelow + waiting, count)]
    for (let level = 1; level <= topmost; level++) {
      const rows = new Map<number, number>()
      for (let node = 0; node < count; node++) {
        if (levelOf(node) >= level) rows.set(node, rows.size)
      }
      if (rows.size === 0) break
      this.#layers.push(new Layer(keptAbove, keptAbove + waiting, rows.size, rows))
    }
  }

  readonly addressOf = (node: number): number => vectorsAt + node * this.#stride

  read(node: number, level: number, numbers: Uint32Array): number {
    const layer = this.#layer(level)
    const row = layer.row(node)
    const start = row * layer.room
    const degree = layer.degrees[row] as number
    for (let n = 0; n < degree; n++) numbers[n] = layer.links[start + n] as number
    return degree
  }

  insert(node: number): void {
    const own = levelOf(node)
    const query = this.addressOf(node)
    if (this.top >= 0) {
      const beam = this.#beam
      const widthAt = (level: number) => (level > own ? descentWidth : buildWidth)
      const walk = new Walk(this.kernel, this.place, this.visits, this.count)
      beam.clear(widthAt(this.top))
      walk.meet(query, this.entry, beam)
      for (let level = this.top; level >= 0; level--) {
        walk.follow(query, this, level, beam)
        if (level <= own) this.#link(node, level, beam)
        if (level > 0) walk.restart(beam, widthAt(level - 1))
      }
    }
    if (own > this.top) {
      this.top = own
      this.entry = node
    }
  }

  /** Drops the links of a vector that it does not keep in the end. */
  settle(node: number): void {
    for (let level = levelOf(node); level >= 0; level--) {
      const layer = this.#layer(level)
      const row = layer.row(node)
      if ((layer.degrees[row] as number) > layer.keep) this.#shrink(layer, row)
    }
  }

  /** Adds a link on level 0, where there is room for it in the end. */
  connect(from: number, to: number, most: number): boolean {
    const layer = this.#layer(0)
    const degree = layer.degrees[from] as number
    if (degree >= most) return false
    layer.links[from * layer.room + degree] = to
    layer.degrees[from] = degree + 1
    return true
  }

  #link(node: number, level: number, beam: Beam): void {
    const layer = this.#layer(level)
    const row = layer.row(node)
    const start = row * layer.room
    this.#choose(layer, row, beam, newLinks)
    const end = start + (layer.degrees[row] as number)
    for (let n = start; n < end; n++) {
      this.#linkBack(layer, layer.links[n] as number, node, layer.scores[n] as number)
    }
  }

  #linkBack(layer: Layer, from: number, to: number, score: number): void {
    const row = layer.row(from)
    if (layer.degrees[row] === layer.room) this.#shrink(layer, row)
    const degree = layer.degrees[row] as number
    layer.links[row * layer.room + degree] = to
    layer.scores[row * layer.room + degree] = score
    layer.degrees[row] = degree + 1
  }

  #shrink(layer: Layer, row: number): void {
    const start = row * layer.room
    const end = start + (layer.degrees[row] as number)
    this.#old.clear(mostLinks)
    for (let n = start; n < end; n++) {
      this.#old.add(layer.links[n] as number, layer.scores[n] as number)
    }
    this.#choose(layer, row, this.#old, layer.keep)
  }

  #choose(layer: Layer, row: number, candidates: Beam, keep: number): void {
    const chosen = this.#chooser.choose(candidates, keep)
    const start = row * layer.room
    layer.links.set(this.#chooser.nodes.subarray(0, chosen), start)
    layer.scores.set(this.#chooser.scores.subarray(0, chosen), start)
    layer.degrees[row] = chosen
  }

  #layer(level: number): Layer {
    // No vector has a level that has no layer.
    return this.#layers[level] as Layer
  }
}

/** What the builder holds in the kernel's memory. */
export function builderBytes(dimensions: number, count: number): number {
  return vectorsAt + 4 * dimensions * count
}

/** Of a vector's number alone, so that the same vectors get the same links. */
export function levelOf(node: number): number {
  let hash = Math.imul(node + 1, 0x9e37_79b1)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  hash = (hash ^ (hash >>> 16)) >>> 0
  // A level has a sixteenth of the vectors of the one below it: four bits each.
  return Math.min(topmost, Math.floor(Math.clz32(hash) / 4))
}
