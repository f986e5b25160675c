// The stores of a command: in a data directory, or behind the HTTP interface of a running server, which
// has that directory to itself. The client's methods are those in process; what is not is named here.

import type {
  RemoteFlows,
  RemoteGraph,
  RemoteKnowledge,
  RemoteLorekeep,
  SparqlAnswer,
} from '../../client/index.js'
import type { EncodedDocument, FileDocument, JobEvent, Runner } from '../../flow/types.js'
import type { AskOptions, GraphQuery } from '../../graph/types.js'
import type { ObjectImport, ObjectImportOptions, ObjectImportResult } from '../../objects/types.js'
import type { InputObject } from '../input/object-input.js'

/** What both have: a server's graphs answer SPARQL too, and its loads take a signal. */
export interface Stores extends Pick<RemoteLorekeep, 'objects' | 'close'> {
  readonly knowledge: Omit<RemoteKnowledge, 'graph'> & {
    graph(query: Omit<GraphQuery, 'reads'>): Omit<RemoteGraph, 'sparql'>
  }
  readonly flows: Omit<RemoteFlows, 'load'>
  /** A server gets the texts of the objects. */
  importObjects(batch: ObjectBatch, options: ObjectImportOptions): Promise<ObjectImportResult>
  /** The signal ends the sending, where that takes its time. */
  load(
    flow: string,
    document: EncodedDocument | FileDocument,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly job: string }>
  /** A server runs its flows by itself. */
  run(flow: string): Pick<Runner, 'stop'>
  watch(flow: string, watch: JobWatch): Promise<void>
  /** `accept` is the header of that name. */
  sparql(graph: GraphQuery, text: string, request: SparqlRequest): Promise<SparqlAnswer>
}

export interface SparqlRequest extends AskOptions {
  readonly accept: string
}

export interface JobWatch {
  readonly user?: string
  /** Ends the watching. */
  readonly signal: AbortSignal
  /** Called when events come from here on: at the start, and after each gap between them. */
  readonly onConnected: () => Promise<void>
  readonly onEvent: (event: JobEvent) => void
}

/** An import request whose objects know their text, which is what a server is sent. */
export interface ObjectBatch extends Omit<ObjectImport, 'values'> {
  readonly objects: readonly InputObject[]
}
