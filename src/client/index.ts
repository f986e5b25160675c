// lorekeep/client: the stores of a server, by HTTP, as they are in process. It imports no module of Node,
// and nothing that is not small.

import { Connection } from './connection.js'
import type { ConnectOptions } from './options.js'
import { createFlows } from './flows.js'
import type { RemoteFlows } from './flows.js'
import { createKnowledge } from './knowledge.js'
import type { RemoteKnowledge } from './knowledge.js'
import { createObjects } from './objects.js'
import type { RemoteObjects } from './objects.js'

export { hasCode, LorekeepError } from '../errors.js'
export type { CodedError, ErrorCode } from '../errors.js'
export { ServerError } from './connection.js'
export type { RemoteConditions } from './connection.js'
export type { ConnectOptions } from './options.js'
export type { RemoteFileDocument, RemoteFlows, RemoteWatchQuery } from './flows.js'
export type { RemoteGraph, SparqlAnswer } from './graph.js'
export type { RemoteImportOptions, RemoteKnowledge } from './knowledge.js'
export type { RemoteObjects } from './objects.js'

export interface RemoteLorekeep {
  readonly knowledge: RemoteKnowledge
  readonly objects: RemoteObjects
  readonly flows: RemoteFlows
  /** Ends what is under way, with `LK_CLOSED`. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The stores of a server. Nothing is sent before something is asked. */
export function connect(options: ConnectOptions): RemoteLorekeep {
  const connection = new Connection(options)
  const close = async () => connection.close()
  return {
    knowledge: createKnowledge(connection),
    objects: createObjects(connection, options.flow),
    flows: createFlows(connection),
    close,
    [Symbol.asyncDispose]: close,
  }
}
