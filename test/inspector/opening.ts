// The inspector over a store of its own, for runs that are no tests: nobody is asked for a token.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHandler } from '../../src/http/index.js'
import { createLorekeep, type Lorekeep } from '../../src/index.js'
import type { Backend } from '../../src/storage.js'

export interface Opened extends AsyncDisposable {
  readonly keep: Lorekeep
  /** Of the page, with no view in it. */
  readonly url: string
}

export async function openInspector(backend: Backend): Promise<Opened> {
  const keep = await createLorekeep({ backend })
  const { knowledge, objects, flows } = keep
  const authenticate = 'none'
  const handler = createHandler({ knowledge, objects, flows, authenticate, inspector: true })
  const server = createServer((request, response) => void handler(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    keep,
    url: `http://127.0.0.1:${port}/api/v1/inspector`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await keep.close()
    },
  }
}
