// lorekeep/sparql: SPARQL 1.1 Query over a graph, by an engine that is an optional peer.

import { checkArgument, checkOptions } from '../door/options.js'
import { aCount, aListOfTexts, aSignal, aString, longestTimer, withMethods } from '../door/rules.js'
import { query } from './answer.js'
import { isPeerInstalled } from './peer.js'
import { defaultThreadMb, defaultThreads, ThreadPool } from './thread-pool.js'
import type { SparqlEngine, SparqlGraph } from './types.js'

export type {
  SparqlAnswer,
  SparqlBindings,
  SparqlEngine,
  SparqlGraph,
  SparqlOptions,
  SparqlRequest,
  SparqlResult,
  SparqlSnapshot,
} from './types.js'

export interface SparqlEngineOptions {
  /** Threads that execute() has queries answered in, one query at a time in each. Default 2, or 1
   * where this process may have less than 512 MiB of heap. */
  readonly threads?: number
  /**
   * MiB of memory for what one query of execute() holds, the engine included, which has 40 of them.
   * Default a quarter of the heap that this process may have, at most 512 and at least 80.
   */
  readonly threadMb?: number
}

const engineOptions = { threads: aCount(1), threadMb: aCount(64) }

/** Makes nothing yet: the engine comes into memory, and threads are made, with the first query. */
export function createSparql(options: SparqlEngineOptions = {}): SparqlEngine {
  checkOptions('createSparql()', options, engineOptions)
  const { threads = defaultThreads(), threadMb = defaultThreadMb() } = options
  const pool = new ThreadPool({ threads, threadMb })
  return {
    isInstalled: isPeerInstalled,
    query: async (graph, text, asked) => {
      checkArgument('the graph of query()', graph, aGraph)
      checkArgument('the text of a query', text, aString)
      checkOptions('query()', asked, queryOptions)
      return query(graph, text, asked)
    },
    execute: async (graph, text, request = {}) => {
      checkArgument('the graph of execute()', graph, aGraph)
      checkArgument('the text of a query', text, aString)
      checkOptions('execute()', request, requestOptions)
      return pool.execute(graph, text, request)
    },
  }
}

const aGraph = withMethods<SparqlGraph>('a graph, as knowledge.graph() gives it', 'snapshot')
const queryOptions = {
  signal: aSignal,
  baseIRI: aString,
  defaultGraphs: aListOfTexts,
  namedGraphs: aListOfTexts,
}
const requestOptions = {
  ...queryOptions,
  accept: aString,
  maxMs: aCount(1, longestTimer),
  lane: aString,
}
