// The cores of a running server.

import type { IncomingMessage } from 'node:http'
import type { CoreStat, ImportSummary } from '../../knowledge/types.js'
import type { CoreAccess, CoreBytes } from './core-access.js'
import { readJson, ServerClient } from './server-client.js'

export function openRemoteCores(url: URL, token: string | undefined): CoreAccess {
  const server = new ServerClient(url, token)
  return {
    async import({ user, id }, source, { mode, index, dialect, signal }) {
      const parameters = { id, user, mode, dialect, ...(index && { index: 'true' }) }
      const request = server.start('POST', 'import-core', parameters, signal)
      request.setHeader('Content-Type', 'application/octet-stream')
      try {
        const response = await server.upload(request, source, {
          sending: 'nothing was stored',
          sent: 'whether the core was stored is not known; importing it again is safe',
        })
        return (await readJson(response)) as ImportSummary
      } catch (error) {
        signal.throwIfAborted()
        throw error
      } finally {
        request.destroy()
      }
    },

    async export({ user, id }, { dialect, signal }) {
      try {
        const asked = { id, user, ...(dialect !== 'specification' && { dialect }) }
        const found = await server.ask('GET', 'export-core', asked, signal)
        return download(server.origin, found, signal)
      } catch (error) {
        signal.throwIfAborted()
        throw error
      }
    },

    list: ({ limit, ...query }) => server.pages<CoreStat>('cores', 'cores', query, limit),

    async stat({ user, id }) {
      const path = `cores/${encodeURIComponent(id)}`
      return (await server.askJson('GET', path, { user })) as CoreStat
    },

    async delete({ user, id }) {
      const response = await server.ask('DELETE', `cores/${encodeURIComponent(id)}`, { user })
      response.resume()
    },

    async close() {},
  }
}

/** A body; one of known length that is shorter is an error. */
function download(origin: string, response: IncomingMessage, signal: AbortSignal): CoreBytes {
  const bytes = Number(response.headers['content-length'] ?? NaN)
  const read = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) yield chunk
    } catch (cause) {
      signal.throwIfAborted()
      const all = Number.isNaN(bytes) ? 'all' : `all of ${bytes} bytes`
      const message = `the connection to ${origin} broke before ${all} had come`
      throw new Error(message, { cause })
    }
  }
  return { bytes, [Symbol.asyncIterator]: read }
}
