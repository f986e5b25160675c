// Where `match`, `nearest`, `ask`, `search`, `duplicates`, `merge`, `split`, `sparql` and `index` find the cores that they ask: in a data
// directory, or behind the HTTP interface of a running server, which has that directory to itself.

import type {
  AskOptions,
  Duplicate,
  DuplicatesOptions,
  FoundPassage,
  GraphQuery,
  IndexOptions,
  IndexState,
  LibraryIndexState,
  MatchOptions,
  NearEntity,
  NearestOptions,
  RetrieveQuery,
  SearchQuery,
  Subgraph,
  TriplePattern,
} from '../../graph/types.js'
import type { CoreRef } from '../../knowledge/types.js'
import type { Term, Triple, Vector } from '../../types.js'
import type { SparqlAnswer } from '../../client/index.js'
import { telling } from './loss.js'
import type { SparqlRequest, Stores } from './stores.js'

export interface FoundPassages {
  readonly passages: readonly FoundPassage[]
  /** Whether a server left some out, as all of them are too long for one answer. */
  readonly truncated: boolean
}

export interface GraphAccess {
  /** Fails, as all questions do, where there is no core of those that are named. */
  match(graph: GraphQuery, pattern: TriplePattern, options: MatchOptions): AsyncIterable<Triple>
  count(graph: GraphQuery, pattern: TriplePattern, options: AskOptions): Promise<number>
  nearest(graph: GraphQuery, vector: Vector, options: NearestOptions): Promise<NearEntity[]>
  retrieve(graph: GraphQuery, query: RetrieveQuery): Promise<Subgraph>
  search(graph: GraphQuery, query: SearchQuery): Promise<FoundPassages>
  duplicates(graph: GraphQuery, options: DuplicatesOptions): Promise<readonly Duplicate[]>
  change(how: 'merge' | 'split', graph: GraphQuery, pair: Pair, options: AskOptions): Promise<void>
  /** `accept` is the header of that name. */
  sparql(graph: GraphQuery, text: string, request: SparqlRequest): Promise<SparqlAnswer>
  index(ref: CoreRef, options: IndexOptions): Promise<IndexState>
  indexAll(user: string, options: IndexOptions): Promise<LibraryIndexState>
  indexState(ref: CoreRef): Promise<IndexState>
  indexStateOfAll(user: string): Promise<LibraryIndexState>
  hasCores(user: string): Promise<boolean>
  close(): Promise<void>
}

/** `a` and `b` of merge() and split(). */
export type Pair = readonly [a: Term, b: Term]

const changing = {
  sending: 'nothing was changed',
  sent: 'whether it was changed is not known; saying it again is safe',
}
const indexing = {
  sending: 'nothing was indexed',
  sent: 'whether it was indexed is not known; indexing it again is safe',
}

export function graphIn({ knowledge, sparql, close }: Stores): GraphAccess {
  return {
    match: (graph, pattern, options) => knowledge.graph(graph).match(pattern, options),
    count: (graph, pattern, options) => knowledge.graph(graph).count(pattern, options),
    nearest: (graph, vector, options) => knowledge.graph(graph).nearest(vector, options),
    retrieve: (graph, query) => knowledge.graph(graph).retrieve(query),
    async search(graph, query) {
      const passages = await knowledge.graph(graph).search(query)
      return { passages, truncated: passages.truncated === true }
    },
    duplicates: (graph, options) => knowledge.graph(graph).duplicates(options),
    change: (how, graph, [a, b], options) =>
      telling(changing, knowledge.graph(graph)[how](a, b, options)),
    sparql,
    index: (ref, options) => telling(indexing, knowledge.index(ref, options)),
    indexAll: (user, options) => telling(indexing, knowledge.index({ user }, options)),
    indexState: (ref) => knowledge.indexState(ref),
    indexStateOfAll: (user) => knowledge.indexState({ user }),
    async hasCores(user) {
      for await (const _core of knowledge.list({ user, limit: 1 })) return true
      return false
    },
    close,
  }
}
