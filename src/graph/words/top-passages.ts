import type { PassageOfSet } from './passage-order.js'

/** A passage of a set of those that are searched, and how good it is. */
export interface ScoredPassage extends PassageOfSet {
  readonly score: number
}

/** The best of many of a set, at most so many: a heap with the worst of them at its top. */
export class TopPassages {
  readonly #most: number
  readonly #floor: number
  readonly #heap: ScoredPassage[] = []

  /** Below `floor` nothing is looked for. */
  constructor(most: number, floor = 0) {
    this.#most = most
    this.#floor = floor
  }

  /** Below this score nothing is among the best. */
  get least(): number {
    return this.#heap.length < this.#most ? this.#floor : (this.#heap[0] as ScoredPassage).score
  }

  add(found: ScoredPassage): void {
    const heap = this.#heap
    if (heap.length < this.#most) {
      heap.push(found)
      this.#rise()
    } else if (compare(found, heap[0] as ScoredPassage) < 0) {
      heap[0] = found
      this.#sink()
    }
  }

  /** Best first. */
  sorted(): ScoredPassage[] {
    return [...this.#heap].sort(compare)
  }

  #rise(): void {
    const heap = this.#heap
    for (let at = heap.length - 1; at > 0;) {
      const above = (at - 1) >> 1
      if (compare(heap[above] as ScoredPassage, heap[at] as ScoredPassage) >= 0) return
      swap(heap, above, at)
      at = above
    }
  }

  #sink(): void {
    const heap = this.#heap
    for (let at = 0; ;) {
      let worst = at
      for (const below of [2 * at + 1, 2 * at + 2]) {
        if (below >= heap.length) continue
        if (compare(heap[below] as ScoredPassage, heap[worst] as ScoredPassage) > 0) worst = below
      }
      if (worst === at) return
      swap(heap, worst, at)
      at = worst
    }
  }
}

/** Below 0 where the first one comes before the other. */
function compare(a: ScoredPassage, b: ScoredPassage): number {
  return b.score - a.score || a.passage - b.passage
}

function swap(heap: ScoredPassage[], a: number, b: number): void {
  const kept = heap[a] as ScoredPassage
  heap[a] = heap[b] as ScoredPassage
  heap[b] = kept
}
