// Stored graphs beside what they should say: as sets of texts, and as an oxigraph store.

import assert from 'node:assert/strict'
import oxigraph from 'oxigraph'
import type { Graph, TriplePattern } from '../../src/graph/types.js'
import type { CoreMessage, Term, Triple } from '../../src/types.js'
import type { Random } from '../fixtures/random.js'

export const entity = (v: string): Term => ({ v, e: true })
export const literal = (v: string): Term => ({ v, e: false })

export function messageOf(triples: readonly Triple[], collection = 'default'): CoreMessage {
  return ['t', { m: { i: 'i', m: [], u: 'u', c: collection }, t: triples }]
}

export function textOf({ s, p, o }: Triple): string {
  return [s, p, o].map(nameOf).join('\n')
}

/** Terms that are the same have one name. */
export function nameOf({ v, e, dt, ln }: Term): string {
  const more = ln === undefined ? (dt === `${xsd}string` ? '' : (dt ?? '')) : `@${ln.toLowerCase()}`
  return `${e ? 'e' : 'l'}${more}\t${v}`
}

const xsd = 'http://www.w3.org/2001/XMLSchema#'

/** Each once, sorted. */
export function setOf(triples: Iterable<Triple>): string[] {
  return [...new Set(Array.from(triples, textOf))].sort()
}

/** Sorted, and as often as they came. */
export async function matched(
  graph: Pick<Graph, 'match'>,
  pattern?: TriplePattern,
): Promise<string[]> {
  const found: string[] = []
  for await (const triple of graph.match(pattern)) found.push(textOf(triple))
  return found.sort()
}

/** The eight patterns that a triple fits. */
export function patternsOf({ s, p, o }: Triple): TriplePattern[] {
  return Array.from({ length: 8 }, (_, bits) => ({
    ...((bits & 1) !== 0 && { s }),
    ...((bits & 2) !== 0 && { p }),
    ...((bits & 4) !== 0 && { o }),
  }))
}

/** Oxigraph has no literals as subjects, so every term is an IRI there, one for each. */
export class PatternOracle {
  readonly #store = new oxigraph.Store()

  constructor(triples: Iterable<Triple>) {
    for (const { s, p, o } of triples) {
      this.#store.add(oxigraph.quad(nodeOf(s), nodeOf(p), nodeOf(o)))
    }
  }

  match({ s, p, o }: TriplePattern = {}): string[] {
    const place = (term: Term | undefined) => term && nodeOf(term)
    return this.#store
      .match(place(s), place(p), place(o), null)
      .map(({ subject, predicate, object }) =>
        [subject, predicate, object]
          .map(({ value }) => decodeURIComponent(value.slice(2)))
          .join('\n'),
      )
      .sort()
  }
}

/** Asks in all shapes, for triples that are there and for some that are not. */
export async function assertAnswers(
  graph: Pick<Graph, 'match' | 'count'>,
  oracle: PatternOracle,
  samples: readonly Triple[],
  place: string,
): Promise<void> {
  for (const [n, sample] of samples.entries()) {
    // The open pattern is the same for all of them.
    for (const pattern of patternsOf(sample).slice(n === 0 ? 0 : 1)) {
      const expected = oracle.match(pattern)
      const shown = `${place}: ${JSON.stringify(pattern).slice(0, 300)}`
      assert.deepEqual(await matched(graph, pattern), expected, shown)
      assert.equal(await graph.count(pattern), expected.length, `${shown}, counted`)
    }
  }
}

/** Few terms, so that triples come twice and patterns hit; the same text as an entity and a literal. */
export function randomTriples(random: Random, count: number): Triple[] {
  const texts = ['', 'a', 'b', 'käse', '日本語', '\u{1f600}', 'a'.repeat(70)]
  const term = () => {
    const v = random.chance(0.5) ? random.pick(texts) : `n/${random.below(12)}`
    if (random.chance(0.6)) return entity(v)
    if (random.chance(0.6)) return literal(v)
    return random.chance(0.5)
      ? { ...literal(v), dt: `${xsd}${random.pick(['integer', 'string', 'date'])}` }
      : { ...literal(v), ln: random.pick(['en', 'EN', 'en-GB', 'en-gb']) }
  }
  const triples: Triple[] = []
  for (let n = 0; n < count; n++) {
    const isRepeat = n > 0 && random.chance(0.2)
    triples.push(isRepeat ? random.pick(triples) : { s: term(), p: term(), o: term() })
  }
  return triples
}

/** A triple of which some places are those of another one, or nowhere to be found. */
export function strangers(random: Random, triples: readonly Triple[]): Triple[] {
  if (triples.length === 0) return [{ s: entity('a'), p: entity('b'), o: entity('c') }]
  const [a, b] = [random.pick(triples), random.pick(triples)]
  return [
    { s: a.s, p: b.p, o: b.o },
    { s: a.o, p: a.p, o: a.s },
    { s: entity('nowhere'), p: a.p, o: a.o },
    { s: a.s, p: a.p, o: { v: a.o.v, e: !a.o.e } },
    { s: a.s, p: a.p, o: { v: a.o.v, e: false, ln: 'fr' } },
    { s: a.s, p: a.p, o: { v: a.o.v, e: false, dt: `${xsd}decimal` } },
    { s: a.s, p: a.p, o: literal(a.o.v) },
  ]
}

function nodeOf(term: Term): oxigraph.NamedNode {
  return oxigraph.namedNode(`n:${encodeURIComponent(nameOf(term))}`)
}
