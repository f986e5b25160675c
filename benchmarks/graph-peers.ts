// The stores of triples that graphs are measured against, from benchmarks/node_modules: oxigraph
// (WebAssembly, in memory), quadstore over classic-level, and N3's store in memory. What they give
// is made plain triples, as ours are.

import { createRequire } from 'node:module'
import type * as N3Module from 'n3'
import type * as OxigraphModule from 'oxigraph'
import type { Quad } from '@rdfjs/types'
import type { QueryPattern, TriplePattern } from '../src/graph/types.js'
import type { Term, Triple } from '../src/types.js'
import type { GeneratedGraph } from './graph-data.js'
import { ClassicLevel } from './peers.js'

const require = createRequire(new URL('../../benchmarks/package.json', import.meta.url))

const oxigraph = require('oxigraph') as typeof OxigraphModule
const n3 = require('n3') as typeof N3Module

// Its types are not there to compile against in a fresh clone: what is used is written down here.
interface Quadstore {
  open(): Promise<void>
  close(): Promise<void>
  /** Not synced. */
  multiPut(quads: readonly Quad[]): Promise<unknown>
  get(pattern: object): Promise<{ readonly items: readonly Quad[] }>
}

const { Quadstore } = require('quadstore') as {
  readonly Quadstore: new (options: {
    readonly backend: unknown
    readonly dataFactory: unknown
  }) => Quadstore
}

export const oxigraphName = 'oxigraph, in memory'
export const quadstoreName = 'quadstore, classic-level, not synced'
export const n3Name = 'N3.Store, in memory'

const quadstoreBatch = 5000
const piece = 1024 * 1024

export class OxigraphPeer {
  readonly #store = new oxigraph.Store()

  /** Checked and in one transaction by default; lenient and without is the fastest it has. */
  load(nTriples: Uint8Array, options: { lenient?: true; no_transaction?: true } = {}): void {
    this.#store.load(nTriples, { format: 'application/n-triples', ...options })
  }

  get size(): number {
    return this.#store.size
  }

  match({ s, p, o }: TriplePattern): Triple[] {
    const { namedNode } = oxigraph
    const object = o && (o.e ? namedNode(o.v) : oxigraph.literal(o.v, undefined))
    return this.#store.match(s && namedNode(s.v), p && namedNode(p.v), object).map(toTriple)
  }

  solve(sparql: string): Record<string, Term>[] {
    const rows = this.#store.query(sparql) as Map<string, OxigraphModule.Term>[]
    return rows.map((row) => {
      const bindings: Record<string, Term> = {}
      for (const [name, term] of row) bindings[name] = toTerm(term)
      return bindings
    })
  }

  /** Its memory is WebAssembly's, which garbage collection frees late. */
  [Symbol.dispose](): void {
    ;(this.#store as unknown as { free(): void }).free()
  }
}

export function toSparql(patterns: readonly QueryPattern[]): string {
  const place = (term: Term | string) =>
    typeof term === 'string' ? term : term.e ? `<${term.v}>` : `"${term.v}"`
  const lines = patterns.map(({ s, p, o }) => `${place(s)} ${place(p)} ${place(o)}`)
  return `SELECT * WHERE { ${lines.join(' . ')} }`
}

export class QuadstorePeer {
  readonly #store: Quadstore

  constructor(directory: string) {
    const { DataFactory } = n3
    this.#store = new Quadstore({
      backend: new ClassicLevel(directory),
      dataFactory: DataFactory,
    })
  }

  static async open(directory: string): Promise<QuadstorePeer> {
    const peer = new QuadstorePeer(directory)
    await peer.#store.open()
    return peer
  }

  async import(quads: readonly Quad[]): Promise<void> {
    for (let at = 0; at < quads.length; at += quadstoreBatch) {
      await this.#store.multiPut(quads.slice(at, at + quadstoreBatch))
    }
  }

  async match({ s, p, o }: TriplePattern): Promise<Triple[]> {
    const pattern = {
      ...(s && { subject: toNode(s) }),
      ...(p && { predicate: toNode(p) }),
      ...(o && { object: toNode(o) }),
    }
    return (await this.#store.get(pattern)).items.map(toTriple)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close()
  }
}

export type N3Peer = N3Module.Store

/** Read in pieces of whole lines, so that the quads are never one large array. */
export function loadN3(nTriples: Buffer): N3Peer {
  const store = new n3.Store()
  for (let from = 0; from < nTriples.length;) {
    const to = nTriples.lastIndexOf(0x0a, from + piece) + 1
    for (const quad of parseQuads(nTriples.subarray(from, to))) store.addQuad(quad)
    from = to
  }
  return store
}

export function parseQuads(nTriples: Buffer): N3Module.Quad[] {
  return new n3.Parser({ format: 'N-Triples' }).parse(nTriples.toString())
}

/** The triples of a graph as quads, so many at a time. */
export function* quadsOf(graph: GeneratedGraph): Generator<N3Module.Quad[]> {
  const { quad, namedNode } = n3.DataFactory
  for (let from = 0; from < graph.triples; from += quadstoreBatch) {
    const length = Math.min(quadstoreBatch, graph.triples - from)
    yield Array.from({ length }, (_, k) => {
      const { s, p, o } = graph.triple(from + k)
      return quad(namedNode(s.v), namedNode(p.v), toNode(o))
    })
  }
}

function toNode(term: Term): N3Module.NamedNode | N3Module.Literal {
  const { namedNode, literal } = n3.DataFactory
  return term.e ? namedNode(term.v) : literal(term.v)
}

interface Named {
  readonly value: string
}

interface QuadLike {
  readonly subject: Named
  readonly predicate: Named
  readonly object: Named & { readonly termType: string }
}

function toTriple({ subject, predicate, object }: QuadLike): Triple {
  return {
    s: { v: subject.value, e: true },
    p: { v: predicate.value, e: true },
    o: toTerm(object),
  }
}

function toTerm({ value, termType }: QuadLike['object']): Term {
  return { v: value, e: termType !== 'Literal' }
}
