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

interface SparqlRequest extends AskOptions {
  readonly accept: string
}

export interface SparqlAnswer {
  readonly contentType: string
  readonly body: AsyncIterable<Uint8Array>
}
