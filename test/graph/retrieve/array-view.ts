import { Miss } from '../../../src/graph/miss.js'
import { ANY, DEFAULT, NONE, type GraphView, type Rows } from '../../../src/graph/view.js'
import type { Term, Triple } from '../../../src/types.js'
import type { Random } from '../../fixtures/random.js'

type Ids = readonly [number, number, number]

/**
 * A graph over arrays, its rows in the order they were given. Given a random generator, it has any
 * block only once it was loaded, and may have lost it when it is asked for again.
 */
export class ArrayView implements GraphView {
  readonly isExact = true
  /** Patterns that rows were asked of: `a * *`. */
  readonly asked: string[] = []
  readonly #terms: Term[] = []
  readonly #ids = new Map<string, number>()
  readonly #rows: Ids[] = []
  readonly #byPlace = [0, 1, 2].map(() => new Map<number, Ids[]>())
  readonly #random: Random | undefined

  constructor(triples: readonly Triple[], random?: Random) {
    this.#random = random
    const known = new Set<string>()
    for (const { s, p, o } of triples) {
      const ids = [this.#add(s), this.#add(p), this.#add(o)] as const
      if (known.has(ids.join(' '))) continue
      known.add(ids.join(' '))
      this.#rows.push(ids)
      for (const [place, rows] of this.#byPlace.entries()) {
        const id = ids[place] as number
        const some = rows.get(id) ?? []
        some.push(ids)
        rows.set(id, some)
      }
    }
  }

  /** As if several texts had it. */
  textOfHash(): undefined {
    return undefined
  }

  find(term: Term): number {
    this.#mayMiss()
    return this.#ids.get(keyOf(term)) ?? NONE
  }

  term(id: number): Term {
    this.#mayMiss()
    const term = this.#terms[id]
    if (term === undefined) throw new RangeError(`there is no term ${id}`)
    return term
  }

  has(...ids: [number, number, number]): boolean {
    this.#mayMiss()
    return this.#matching(ids).length > 0
  }

  rows(s: number, p: number, o: number): Rows {
    const ids = [s, p, o] as const
    this.#mayMiss()
    const shown = (id: number) => (id === ANY ? '*' : (this.#terms[id]?.v ?? 'none'))
    this.asked.push(ids.map(shown).join(' '))
    const matching = this.#matching(ids)
    let at = 0
    const rows = {
      ...{ s: NONE, p: NONE, o: NONE, g: DEFAULT },
      next: () => {
        this.#mayMiss()
        const row = matching[at++]
        if (row === undefined) return false
        ;[rows.s, rows.p, rows.o] = row
        return true
      },
    }
    return rows
  }

  estimate(...ids: [number, number, number]): number {
    return this.#matching(ids).length
  }

  #matching(pattern: Ids): Ids[] {
    const place = pattern.findIndex((id) => id !== ANY)
    const some = place === -1 ? this.#rows : this.#byPlace[place]?.get(pattern[place] as number)
    return (some ?? []).filter((ids) => ids.every((id, at) => [ANY, id].includes(pattern[at] ?? 0)))
  }

  #add(term: Term): number {
    const known = this.#ids.get(keyOf(term))
    if (known !== undefined) return known
    this.#ids.set(keyOf(term), this.#terms.length)
    return this.#terms.push(term) - 1
  }

  #mayMiss(): void {
    if (this.#random?.chance(0.3)) throw new Miss(() => Promise.resolve())
  }
}

function keyOf({ v, e }: Term): string {
  return `${e ? 'u' : 'l'} ${v}`
}
