// The stores of a running server, by the client.

import { chunksOf, Connection } from '../../client/connection.js'
import { connect } from '../../client/index.js'
import type { ConnectOptions, RemoteLorekeep } from '../../client/index.js'
import { createFetch } from './node-fetch.js'
import type { ObjectBatch, Stores } from './stores.js'

interface Server {
  readonly url: URL
  readonly token?: string | undefined
  readonly flow?: string | undefined
}

export function connectTo(server: Server): RemoteLorekeep {
  return connect(optionsOf(server))
}

export function openServerStores(server: Server): Stores {
  const { knowledge, objects, flows, close } = connectTo(server)
  return {
    knowledge,
    objects,
    flows,
    importObjects: (batch, options) => objects.import(requestText(batch), options),
    load: (flow, document, signal) => flows.load(flow, document, { signal }),
    run: () => ({ stop: async () => {} }),
    async watch(flow, { onEvent, ...watch }) {
      for await (const event of flows.watch({ flow, ...watch })) onEvent(event)
    },
    sparql: (graph, text, request) => knowledge.graph(graph).sparql(text, request),
    close,
  }
}

/** The token's user; for a token that may act for any, whoever the server takes for it. */
export async function userOfToken(server: Server): Promise<string> {
  const { user, defaultUser = user } = await whoami(server)
  return defaultUser
}

/** Whether the token acts for any user. */
export async function actsForAny(server: Server): Promise<boolean> {
  return (await whoami(server)).user === '*'
}

function whoami(server: Server) {
  const connection = new Connection(optionsOf(server))
  return connection.get<{ readonly user: string; readonly defaultUser?: string }>('whoami')
}

/** The bytes of a backup of everything there. */
export async function backupOfServer(
  server: Server,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const connection = new Connection(optionsOf(server))
  return chunksOf(await connection.ask('GET', 'backup', { isSafe: true, signal }))
}

function optionsOf({ url, token, flow }: Server): ConnectOptions {
  return {
    url,
    ...(token !== undefined && { token }),
    ...(flow !== undefined && { flow }),
    fetch: createFetch(),
  }
}

/** The objects go as they were read: a number that a double cannot hold is for the store to refuse. */
function requestText({ metadata, schema_name, objects }: ObjectBatch): string {
  const values = objects.map(({ text }) => text).join(',')
  const head = JSON.stringify({ metadata, schema_name })
  return `${head.slice(0, -1)},"values":[${values}]}`
}
