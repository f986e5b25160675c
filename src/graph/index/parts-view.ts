import type { ValueRange } from '../value/range.js'
import type { Names } from '../view.js'
import type { PartView } from './part-view.js'

/** What is asked of several parts one by one, under the ids of the graph. */
export abstract class PartsView {
  protected readonly views: readonly PartView[]

  constructor(views: readonly PartView[]) {
    this.views = views
  }

  /** The graph's id for one of a part. */
  abstract graphId(n: number, id: number): number

  get parts(): number {
    return this.views.length
  }

  findText(text: string, n: number): number[] {
    return this.#graphIds(n, this.view(n).findText(text))
  }

  countBetween(range: ValueRange, n: number): number {
    return this.view(n).countBetween(range)
  }

  findBetween(range: ValueRange, n: number): number[] {
    return this.#graphIds(n, this.view(n).findBetween(range))
  }

  graphNames(n: number): Names {
    return this.view(n).graphNames()
  }

  protected view(n: number): PartView {
    return this.views[n] as PartView // one of its own
  }

  #graphIds(n: number, ids: readonly number[]): number[] {
    return ids.map((id) => this.graphId(n, id))
  }
}
