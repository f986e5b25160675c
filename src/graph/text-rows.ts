import type { Term } from '../types.js'
import { AskedGraphs } from './graph-rows.js'
import { patience, pause } from './miss.js'
import type { TriplePattern } from './types.js'
import { ANY, NONE, type Rows, type PartedView } from './view.js'

/** The rows of a pattern whose literals stand for all literals of their texts. */
export class TextRows implements Rows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  g: number = NONE
  readonly #view: PartedView
  readonly #places: readonly Place[]
  readonly #graphs: AskedGraphs
  /** Which of the ids of each place are asked for now, as one number. */
  #at = 0
  /** Combinations that no triple has. */
  #passed = 0
  #rows: Rows | undefined

  constructor(view: PartedView, { s, p, o, g }: TriplePattern) {
    this.#view = view
    this.#graphs = new AskedGraphs(view, g)
    this.#places = [s, p, o].map((term) => ({ term, ids: new Set(), searched: 0, found: [] }))
  }

  next(): boolean {
    for (const place of this.#places) this.#search(place)
    const [s, p, o] = this.#places as [Place, Place, Place]
    const end = s.found.length * p.found.length * o.found.length
    while (this.#at < end) {
      const inS = this.#at % s.found.length
      const rest = Math.floor(this.#at / s.found.length)
      const inP = rest % p.found.length
      const inO = Math.floor(rest / p.found.length)
      const rows = (this.#rows ??= this.#graphs.rows(
        s.found[inS] as number,
        p.found[inP] as number,
        o.found[inO] as number,
      ))
      if (rows.next()) {
        this.s = rows.s
        this.p = rows.p
        this.o = rows.o
        this.g = rows.g
        return true
      }
      this.#rows = undefined
      this.#at++
      if (++this.#passed % patience.rows === 0) throw pause()
    }
    return false
  }

  /** Goes on where it was: all parts together may have more blocks than memory holds at once. */
  #search(place: Place): void {
    const { term, ids } = place
    const view = this.#view
    const end = term === undefined || term.e ? 1 : view.parts
    if (place.searched === end) return
    for (; place.searched < end; place.searched++) {
      if (term === undefined) ids.add(ANY)
      else if (term.e) ids.add(view.find(term))
      else for (const id of view.findText(term.v, place.searched)) ids.add(id)
    }
    place.found = [...ids]
  }
}

interface Place {
  readonly term: Term | undefined
  readonly ids: Set<number>
  /** How many parts were looked into. */
  searched: number
  /** The ids, once all were. */
  found: readonly number[]
}
