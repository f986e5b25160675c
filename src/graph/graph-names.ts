import type { OpenView } from './matches.js'
import { Miss, patience, pause } from './miss.js'
import type { Answer } from './results.js'
import type { Names } from './view.js'

/** The names of the named graphs, part by part. */
export class GraphNames implements Answer<string> {
  isDone = false
  readonly #open: OpenView
  readonly #told = new Set<string>()
  #part = 0
  #names: Names | undefined
  /** Names that were told. */
  #passed = 0

  constructor(open: OpenView) {
    this.#open = open
  }

  next(most: number): string[] {
    const { view } = this.#open
    const found: string[] = []
    try {
      while (found.length < most) {
        if (this.#part === view.parts) {
          this.isDone = true
          break
        }
        const names = (this.#names ??= view.graphNames(this.#part))
        if (!names.next()) {
          this.#part++
          this.#names = undefined
        } else if (!this.#told.has(names.name)) {
          this.#told.add(names.name)
          found.push(names.name)
        } else if (++this.#passed % patience.rows === 0) throw pause()
      }
    } catch (error) {
      // What is there is told first; the block is missed again by the next call.
      if (!(error instanceof Miss) || found.length === 0) throw error
    }
    return found
  }

  end(): void {
    this.#open.release()
  }

  check(): void {
    this.#open.check()
  }
}
