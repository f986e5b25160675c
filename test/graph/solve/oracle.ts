// Random graphs and questions, and what oxigraph answers.

import oxigraph from 'oxigraph'
import type { Bindings, QueryPattern, Variable } from '../../../src/graph/types.js'
import type { Term, Triple } from '../../../src/types.js'
import type { Random } from '../../fixtures/random.js'

const entity = (n: number): Term => ({ v: `urn:x:${n}`, e: true })
const literal = (n: number): Term => ({ v: `${n}`, e: false })

// Few, so that joins hit; a predicate can be a subject too.
const entities = Array.from({ length: 7 }, (_, n) => entity(n))
const predicates = entities.slice(0, 3)
const objects = [...entities, ...Array.from({ length: 3 }, (_, n) => literal(n))]
const variables: readonly Variable[] = ['?a', '?b', '?c', '?d']

/** With duplicates. */
export function randomTriples(random: Random): Triple[] {
  return Array.from({ length: 10 + random.below(40) }, () => ({
    s: random.pick(entities),
    p: random.pick(predicates),
    o: random.pick(objects),
  }))
}

export function randomPatterns(random: Random): QueryPattern[] {
  const place = (open: number, terms: readonly Term[], unknown: Term) => {
    if (random.chance(open)) return random.pick(variables)
    return random.chance(0.02) ? unknown : random.pick(terms)
  }
  const patterns = Array.from({ length: 1 + random.below(4) }, () => ({
    s: place(0.8, entities, entity(99)),
    p: place(0.15, predicates, entity(99)),
    o: place(0.65, objects, literal(99)),
  }))
  const [first] = patterns
  return first !== undefined && random.chance(0.05) ? [...patterns, first] : patterns
}

export function variablesOf(patterns: readonly QueryPattern[]): Variable[] {
  const places = patterns.flatMap(({ s, p, o }) => [s, p, o])
  return [...new Set(places.filter((place) => typeof place === 'string'))]
}

export class Oracle {
  readonly #store = new oxigraph.Store()

  constructor(triples: readonly Triple[]) {
    const lines = triples.map(({ s, p, o }) => `${sparql(s)} ${sparql(p)} ${sparql(o)} .`)
    this.#store.load(lines.join('\n'), { format: 'application/n-triples' })
  }

  /** Undefined where there are more than `most`. */
  solve(
    patterns: readonly QueryPattern[],
    { select, distinct, most }: { select: readonly Variable[]; distinct: boolean; most: number },
  ): Bindings[] | undefined {
    const where = patterns.map(({ s, p, o }) => `${sparql(s)} ${sparql(p)} ${sparql(o)} .`)
    if (select.length === 0) {
      return this.#store.query(`ASK { ${where.join(' ')} }`) === true ? [{}] : []
    }
    const query = `SELECT ${distinct ? 'DISTINCT' : ''} ${select.join(' ')} { ${where.join(' ')} }`
    const rows = this.#store.query(`${query} LIMIT ${most + 1}`) as Map<string, oxigraph.Term>[]
    if (rows.length > most) return undefined
    return rows.map((row) => {
      const bound = [...row].map(([name, term]) => [name, termOf(term)] as const)
      return Object.fromEntries(bound)
    })
  }
}

/** Equal for equal multisets of solutions. */
export function sorted(solutions: readonly Bindings[]): string[] {
  const texts = solutions.map((bindings) => {
    const names = Object.keys(bindings).sort()
    return names.map((name) => `${name}=${sparql(bindings[name] as Term)}`).join(' ')
  })
  return texts.sort()
}

function sparql(place: Term | Variable): string {
  if (typeof place === 'string') return place
  return place.e ? `<${place.v}>` : `"${place.v}"`
}

function termOf(term: oxigraph.Term): Term {
  return { v: term.value, e: term.termType === 'NamedNode' }
}
