// What MINUS takes away: a row that agrees with one of the other side in each variable that both have,
// where they both have at least one (SPARQL 1.1 Query, section 18.5).
//
// The engine's own index takes two rows for such also where each lacks what the other has.

import { mediatorOf } from './mediator.js'
import { rowKey, textsOf, type Row, type Write } from './row-keys.js'

interface MinusActor {
  readonly name: string
  readonly constructor: {
    constructIndex(
      mayLack: boolean,
      common: readonly { readonly variable: object }[],
    ): Pick<MinusIndex, 'put' | 'getFirst'>
  }
}

export function mendMinus(engine: object, write: Write): void {
  const actors = mediatorOf(engine, 'mediatorJoin').bus.actors as unknown as MinusActor[]
  const minus = actors.filter(({ name }) => name.includes('#minus-'))
  if (minus.length === 0) throw new Error('this version of the SPARQL engine has no MINUS')
  for (const { constructor } of minus) {
    constructor.constructIndex = (_mayLack, common) =>
      new MinusIndex(
        common.map(({ variable }) => variable),
        write,
      )
  }
}

/** Rows that have the same variables, by their terms. */
type Rows = Map<string, readonly (string | undefined)[]>

interface Lookup {
  /** Of the variables that both sides have. */
  readonly places: readonly number[]
  readonly keys: ReadonlySet<string>
}

/** By the engine's names of its methods. All rows are put before the first is asked for. */
class MinusIndex {
  readonly #variables: readonly object[]
  readonly #write: Write
  /** By the places of the variables that they have. */
  readonly #rows = new Map<string, Rows>()
  /** By the places of what the row has that is asked for: what of the other side it may agree with. */
  readonly #lookups = new Map<string, readonly Lookup[]>()

  constructor(variables: readonly object[], write: Write) {
    this.#variables = variables
    this.#write = write
  }

  put(row: Row): void {
    const terms = textsOf(row, this.#variables, this.#write)
    const places = placesOf(terms)
    const kind = places.join()
    const rows: Rows = this.#rows.get(kind) ?? new Map()
    this.#rows.set(kind, rows.set(keyOf(terms, places), terms))
  }

  getFirst(row: Row): true | undefined {
    const terms = textsOf(row, this.#variables, this.#write)
    const places = placesOf(terms)
    const kind = places.join()
    const lookups = this.#lookups.get(kind) ?? this.#lookupsFor(places)
    this.#lookups.set(kind, lookups)
    return lookups.some((lookup) => lookup.keys.has(keyOf(terms, lookup.places))) || undefined
  }

  #lookupsFor(places: readonly number[]): Lookup[] {
    return [...this.#rows.values()].flatMap((rows) => {
      const all = [...rows.values()]
      const shared = places.filter((place) => all[0]?.[place] !== undefined)
      if (shared.length === 0) return []
      return [{ places: shared, keys: new Set(all.map((terms) => keyOf(terms, shared))) }]
    })
  }
}

function placesOf(terms: readonly (string | undefined)[]): number[] {
  return [...terms.keys()].filter((place) => terms[place] !== undefined)
}

function keyOf(terms: readonly (string | undefined)[], places: readonly number[]): string {
  return rowKey(places.map((place) => terms[place]))
}
