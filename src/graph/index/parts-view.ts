import type { ValueRange } from '../value/range.js'
import { NONE, type Names, type Values } from '../view.js'
import type { PartView } from './part-view.js'

/** What is asked of several parts one by one, under the ids of the graph. */
export abstract class PartsView {
  protected readonly views: readonly PartView[]

  constructor(views: readonly PartView[]) {
    this.views = views
  }

  /** The graph's id for one of a part. */
  abstract graphId(n: number, id: number): number

  /** True where no part before the n-th, which has it, has the term of an id. */
  abstract isFirst(n: number, id: number): boolean

  get parts(): number {
    return this.views.length
  }

  findText(text: string, n: number): number[] {
    return this.view(n)
      .findText(text)
      .map((id) => this.graphId(n, id))
  }

  countBetween(range: ValueRange, n: number): number {
    return this.view(n).countBetween(range)
  }

  between(range: ValueRange): Values {
    return new ValuesOfParts(this, range)
  }

  graphNames(n: number): Names {
    return this.view(n).graphNames()
  }

  view(n: number): PartView {
    return this.views[n] as PartView // one of its own
  }
}

class ValuesOfParts implements Values {
  id: number = NONE
  readonly #graph: PartsView
  readonly #range: ValueRange
  #part = 0
  #values: Values | undefined
  /** One was taken, and not told yet: a block was missing. */
  #pending = false

  constructor(graph: PartsView, range: ValueRange) {
    this.#graph = graph
    this.#range = range
  }

  next(): boolean {
    const graph = this.#graph
    for (; this.#part < graph.parts; this.#part++) {
      const values = (this.#values ??= graph.view(this.#part).between(this.#range))
      while (this.#pending || values.next()) {
        this.#pending = true
        const id = graph.graphId(this.#part, values.id)
        const isFirst = graph.isFirst(this.#part, id)
        this.#pending = false
        if (!isFirst) continue
        this.id = id
        return true
      }
      this.#values = undefined
    }
    return false
  }
}
