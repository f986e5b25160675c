// What SPARQL over a graph takes and gives. The HTTP interface knows these types alone.

import type { Quad, Term } from '@rdfjs/types'
import type { Graph } from '../graph/types.js'

export interface SparqlOptions {
  /** Ends the question; it and the iteration of its results reject with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** What relative IRIs in the query are relative to. There may be none without. */
  readonly baseIRI?: string | undefined
  /**
   * The graphs whose union is the default graph of the query. With this or `namedGraphs` its FROM and
   * FROM NAMED count for nothing (SPARQL 1.1 Protocol, section 2.1.4), and what is left out is none.
   */
  readonly defaultGraphs?: readonly string[] | undefined
  /** The graphs that GRAPH knows. */
  readonly namedGraphs?: readonly string[] | undefined
}

/** One row of a SELECT: an RDF/JS term by the name of its variable. Unbound ones are left out. */
export type SparqlBindings = Readonly<Record<string, Term>>

/**
 * The answer of a query, by its form: SELECT, ASK, CONSTRUCT and DESCRIBE. Rows and quads are made
 * as they are read; leaving the loop ends the question. A quad of a CONSTRUCT may come twice.
 */
export type SparqlResult =
  | {
      readonly type: 'bindings'
      /** The names of the variables in the order of the SELECT, without the `?`. */
      readonly variables: readonly string[]
      readonly bindings: AsyncIterable<SparqlBindings>
    }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'quads'; readonly quads: AsyncIterable<Quad> }

export interface SparqlRequest extends SparqlOptions {
  /** An Accept header (RFC 9110, section 12.5.1). Anything by default. */
  readonly accept?: string | undefined
  /**
   * How long the engine may work on it, in milliseconds; then `LK_QUERY_BUDGET`. Time in which the
   * answer waits for its reader does not count, unless another query waits for the thread. No end
   * by default.
   */
  readonly maxMs?: number | undefined
  /** Where queries wait for a thread, lanes take turns. Such as a user. */
  readonly lane?: string | undefined
}

/** A serialised answer; or, where the client takes none of the formats, those that there are. */
export type SparqlAnswer =
  | {
      readonly type: 'answer'
      /** With its charset where it has one. */
      readonly contentType: string
      /** Chunks of about 16 KiB. Read it, leave it by return(), or abort by the signal. */
      readonly body: AsyncIterable<Uint8Array>
    }
  | { readonly type: 'not-acceptable'; readonly offered: readonly string[] }

/** What a SPARQL engine may ask of one version of a graph. */
export interface SparqlSnapshot extends Pick<Graph, 'match' | 'count' | 'graphs'> {
  close(): void
}

/** What a SPARQL engine asks for a version of, for each query. */
export interface SparqlGraph {
  snapshot(options?: { readonly signal?: AbortSignal | undefined }): Promise<SparqlSnapshot>
}

/**
 * SPARQL 1.1 Query. Both questions reject with `LK_GRAPH_QUERY` for what cannot be run: a text that is
 * no query, an update, SERVICE; with `LK_PEER_MISSING` where the engine is not installed; and
 * with what the graph's own questions reject with.
 */
export interface SparqlEngine {
  /** Whether the engine is there. It does not come into memory for that. */
  isInstalled(): boolean

  query(graph: SparqlGraph, text: string, options?: SparqlOptions): Promise<SparqlResult>

  /**
   * query(), serialised in the format that the client likes best, by a thread of its own: it rejects
   * with `LK_QUERY_BUDGET` where it runs longer than `maxMs` or holds more than that thread may. It
   * resolves with the first 16 KiB: an error before that is one of the promise, a later one breaks
   * off the body.
   */
  execute(graph: SparqlGraph, text: string, request?: SparqlRequest): Promise<SparqlAnswer>
}
