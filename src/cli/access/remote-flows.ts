// The flows of a running server.

import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  CompletedDocument,
  CompletedDocumentPage,
  FileDocument,
  Flow,
  FlowStats,
  Job,
  JobEvent,
  JobPage,
  JobQuery,
} from '../../flow/types.js'
import { parseJson } from '../../json-text.js'
import { readEventStream } from '../../event-stream.js'
import type { FlowAccess, JobWatch, KnownDocument } from './flow-access.js'
import { ServerClient } from './server-client.js'
import { ServerError } from '../output/server-error.js'

const defining = {
  sending: 'the flow is as it was',
  sent: 'whether the flow was defined is not known; defining it again is safe',
}
const loading = {
  sending: 'the document was not loaded',
  sent: 'whether the document was loaded is not known; loading it again is safe',
}

/** How long a server may be away while its events are followed: long enough for a restart. */
const patienceMs = 60_000
const retryMs = 500
/** A connection that is silent for so long may be dead: it is made anew. */
const silenceMs = 60_000

export function openRemoteFlows(url: URL, token: string | undefined, flow: string): FlowAccess {
  const server = new ServerClient(url, token)
  const pathOf = (id: string) => `flows/${encodeURIComponent(id)}`
  const ownPath = `flow/${encodeURIComponent(flow)}`
  const jobPath = (job: string) => `${ownPath}/jobs/${encodeURIComponent(job)}`
  const documentPath = (id: string) => `${ownPath}/documents/${encodeURIComponent(id)}`

  const job = async (id: string) => (await server.askJson('GET', jobPath(id))) as Job

  /** One connection, until it breaks. */
  const follow = async ({ user, signal, onConnected, onEvent }: JobWatch) => {
    const response = await server.ask('GET', `${ownPath}/events`, { user }, signal)
    response.setTimeout(silenceMs, () => response.destroy())
    try {
      await onConnected()
      for await (const data of readEventStream(response as AsyncIterable<Buffer>)) {
        onEvent(parseJson(data) as JobEvent)
      }
    } finally {
      response.destroy()
    }
  }

  return {
    async define(id, definition) {
      const json = JSON.stringify(definition)
      return (await server.sendJson('PUT', pathOf(id), {}, json, defining)) as Flow
    },
    list: () => server.all<Flow>('flows'),
    get: async (id, signal) => (await server.askJson('GET', pathOf(id), {}, signal)) as Flow,
    async stats(id) {
      try {
        return (await server.askJson('GET', `flow/${encodeURIComponent(id)}/stats`)) as FlowStats
      } catch (error) {
        if (error instanceof ServerError && error.code === 'LK_HTTP_FORBIDDEN') return undefined
        throw error
      }
    },
    setActive: async (id, active) =>
      (await server.askJson('POST', `${pathOf(id)}/${active ? 'start' : 'stop'}`)) as Flow,
    async remove(id) {
      const response = await server.ask('DELETE', pathOf(id))
      response.resume()
    },

    load: async (document, signal) => {
      if ('bytes' in document) {
        const form = new Response(formOf(document))
        const path = `${ownPath}/service/file-load`
        const body = { type: form.headers.get('content-type') ?? '', bytes: await bytesOf(form) }
        return server.sendBody('POST', path, {}, body, loading, jobIn, signal)
      }
      const path = `${ownPath}/service/text-load`
      return server.send('POST', path, {}, JSON.stringify(document), loading, jobIn, signal)
    },
    run: () => ({ stop: async () => {} }),
    async watch(watch) {
      const { signal } = watch
      let lostAt: number | undefined
      const onConnected = async () => {
        await watch.onConnected()
        lostAt = undefined
      }
      while (!signal.aborted) {
        try {
          await follow({ ...watch, onConnected })
          lostAt ??= performance.now()
        } catch (error) {
          if (signal.aborted) return
          lostAt ??= performance.now()
          if (isFinal(error) || performance.now() - lostAt > patienceMs) throw error
        }
        await sleep(retryMs, undefined, { signal }).catch(() => {})
      }
    },

    jobs: (query, signal) =>
      server.pages<Job>('jobs', `${ownPath}/jobs`, parametersOf(query), query.limit, signal),
    jobPage: async (query) =>
      (await server.askJson('GET', `${ownPath}/jobs`, parametersOf(query))) as JobPage,
    job,
    retry: async (id) => (await server.askJson('POST', `${jobPath(id)}/retry`)) as Job,
    async cancel(id) {
      const response = await server.ask('DELETE', jobPath(id))
      response.resume()
    },

    documents: (user, signal) =>
      server.pages<CompletedDocument>('documents', 'documents', { user }, undefined, signal),
    documentPage: async ({ limit, ...query }) => {
      const parameters = { ...query, ...(limit !== undefined && { limit: String(limit) }) }
      return (await server.askJson('GET', 'documents', parameters)) as CompletedDocumentPage
    },
    document: async ({ user, document }) =>
      (await server.askJson('GET', documentPath(document), { user })) as KnownDocument,
    async removeDocument({ user, document }) {
      const response = await server.ask('DELETE', documentPath(document), { user })
      response.resume()
    },
    async close() {},
  }
}

function parametersOf({ state, limit, reads: _, ...query }: Omit<JobQuery, 'flow' | 'scope'>) {
  return {
    ...query,
    ...(state !== undefined && { state: String(state) }),
    ...(limit !== undefined && { limit: String(limit) }),
  }
}

/** The answer has no body: the job is the last part of its Location. */
function jobIn({ headers: { location = '' } }: IncomingMessage): { readonly job: string } {
  const [, job] = /\/jobs\/([^/?#]+)$/.exec(location) ?? []
  if (job === undefined) throw new Error('the server does not say what became of the document')
  return { job: decodeURIComponent(job) }
}

/** What another attempt would meet again: a server that is there, and refuses. */
function isFinal(error: unknown): boolean {
  return error instanceof ServerError && Number(error.details['status']) < 500
}

function formOf({ bytes, metadata, ...said }: FileDocument): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(said)) form.append(name, value)
  if (metadata !== undefined) form.append('metadata', JSON.stringify(metadata))
  // Its name is a field of its own: in the head of a part it would have to be escaped.
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), 'file')
  return form
}

async function bytesOf(form: Response): Promise<Buffer> {
  return Buffer.from(await form.arrayBuffer())
}
