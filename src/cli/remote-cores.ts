// The cores of a running server. node:http rather than fetch: its timeouts are ours to set (there
// are none), and an answer that comes before the upload has ended can be read.

import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { CoreStat, ImportSummary } from '../knowledge/types.js'
import type { CoreAccess, CoreBytes } from './core-access.js'
import { describe } from './failure.js'

/** JSON answers are small; a page of 1,000 cores with ids of 1 kB is the largest. */
const maxJsonBytes = 16 * 1024 * 1024

export function openRemoteCores(url: URL, token: string | undefined): CoreAccess {
  const base = url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')

  const start = (method: string, path: string, query: Query, signal?: AbortSignal) => {
    const parameters = Object.entries(query).filter(([, value]) => value !== undefined)
    const target = new URLSearchParams(parameters as [string, string][])
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
      method,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      // As it is: a URL object would take the ids `.` and `..` for directories.
      path: `${base}/api/v1/${path}?${target}`,
      headers: {
        Accept: 'application/json, application/octet-stream',
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      agent: false,
      ...(signal && { signal }),
    })
    return request
  }

  const ask = async (method: string, path: string, query: Query): Promise<IncomingMessage> => {
    const request = start(method, path, query)
    const response = responseOf(request)
    request.end()
    return accepted(await response.catch((error: unknown) => unreachable(url, error)))
  }

  return {
    async import({ user, id }, source, { mode, signal }) {
      const request = start('POST', 'import-core', { id, user, mode }, signal)
      request.setHeader('Content-Type', 'application/octet-stream')
      try {
        const response = await upload(url, request, source)
        return (await readJson(await accepted(response))) as ImportSummary
      } catch (error) {
        signal.throwIfAborted()
        throw error
      } finally {
        // After a refusal there may be more to send than the server is going to read.
        request.destroy()
      }
    },

    async export({ user, id }, { signal }) {
      const request = start('GET', 'export-core', { id, user }, signal)
      const response = responseOf(request)
      request.end()
      try {
        const found = await accepted(
          await response.catch((error: unknown) => unreachable(url, error)),
        )
        return download(url, found, signal)
      } catch (error) {
        signal.throwIfAborted()
        throw error
      }
    },

    async *list(user) {
      let after: string | undefined
      do {
        const query = { user, after, limit: '1000' }
        const page = (await readJson(await ask('GET', 'cores', query))) as {
          readonly cores: readonly CoreStat[]
          readonly next?: string
        }
        yield* page.cores
        after = page.next
      } while (after !== undefined)
    },

    async stat({ user, id }) {
      const path = `cores/${encodeURIComponent(id)}`
      return (await readJson(await ask('GET', path, { user }))) as CoreStat
    },

    async delete({ user, id }) {
      const response = await ask('DELETE', `cores/${encodeURIComponent(id)}`, { user })
      response.resume()
    },

    async close() {},
  }
}

type Query = Readonly<Record<string, string | undefined>>

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  // A failure may come before anyone waits for the response.
  response.catch(() => {})
  return response
}

/** Sends a body and gives the answer, which may come before the body has ended. */
async function upload(
  url: URL,
  request: ClientRequest,
  source: AsyncIterable<Uint8Array>,
): Promise<IncomingMessage> {
  const response = responseOf(request)
  let connected = false
  let sent = false
  request.on('socket', (socket) => socket.once('connect', () => (connected = true)))
  const lost = (error: unknown): never => {
    if (!connected) unreachable(url, error)
    const outcome = sent
      ? 'whether the core was stored is not known; importing it again is safe'
      : 'nothing was stored'
    throw new Error(`the connection to ${url.origin} broke (${describe(error)}): ${outcome}`, {
      cause: error,
    })
  }
  const send = async () => {
    for await (const chunk of source) {
      if (request.destroyed) return
      if (!request.write(chunk)) await writable(request)
    }
    sent = true
    request.end()
  }
  const sending = send()
  sending.catch(() => {})
  return Promise.race([response.catch(lost), sending.then(() => response.catch(lost))])
}

async function writable(request: ClientRequest): Promise<void> {
  if (request.destroyed) return
  await new Promise<void>((resolve) => {
    request.on('drain', settle).on('close', settle)

    function settle(): void {
      request.off('drain', settle).off('close', settle)
      resolve()
    }
  })
}

/** A body of known length; a shorter one is an error. */
function download(url: URL, response: IncomingMessage, signal: AbortSignal): CoreBytes {
  const bytes = Number(response.headers['content-length'] ?? NaN)
  const read = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) yield chunk
    } catch (cause) {
      signal.throwIfAborted()
      const message = `the connection to ${url.origin} broke before all of ${bytes} bytes had come`
      throw new Error(message, { cause })
    }
  }
  return { bytes, [Symbol.asyncIterator]: read }
}

/** The response where it is a success. Else the server's own words, which are those of a local run. */
async function accepted(response: IncomingMessage): Promise<IncomingMessage> {
  const { statusCode = 0, statusMessage = '' } = response
  if (statusCode >= 200 && statusCode < 300) return response
  const problem = await readJson(response).catch(() => undefined)
  const { detail, code } = (problem ?? {}) as { detail?: unknown; code?: unknown }
  if (typeof detail !== 'string' || typeof code !== 'string') {
    throw new Error(`the server answered ${statusCode} ${statusMessage}; is it a lorekeep server?`)
  }
  const advice = adviceFor[code]
  throw new Error(advice === undefined ? detail : `${detail} (${advice})`)
}

const adviceFor: Readonly<Record<string, string>> = {
  LK_HTTP_UNAUTHORIZED: 'give the token with --token or LOREKEEP_TOKEN',
  LK_HTTP_FORBIDDEN: '--user names the user',
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength
      if (bytes > maxJsonBytes) throw new Error('it is too long')
      chunks.push(chunk)
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  } catch (cause) {
    throw new Error(`the server's answer can not be read: ${describe(cause)}`, { cause })
  }
}

function unreachable(url: URL, cause: unknown): never {
  throw new Error(`cannot reach ${url.origin}: ${describe(cause)}`, { cause })
}
