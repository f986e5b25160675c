// The cores of a server.

import type { ByteSource } from '../byte-source.js'
import { LorekeepError } from '../errors.js'
import type { GraphQuery, IndexState, LibraryIndexState } from '../graph/types.js'
import type {
  CoreExport,
  CorePage,
  CoreRef,
  CoreStat,
  ExportOptions,
  ImportOptions,
  ImportSummary,
  KnowledgeStore,
  OfUser,
} from '../knowledge/types.js'
import { chunksOf, maybe, onCondition, pagesOf, part, versionIn } from './connection.js'
import type { Connection, RemoteConditions } from './connection.js'
import { createGraph } from './graph.js'
import type { RemoteGraph } from './graph.js'

export type RemoteImportOptions = Pick<ImportOptions, 'mode' | 'index' | 'dialect' | 'signal'> &
  RemoteConditions & {
    /** Called with the bytes that were sent until then. */
    readonly onProgress?: (sent: { readonly bytes: number }) => void
  }

/** Those methods of a KnowledgeStore that HTTP has. */
export interface RemoteKnowledge extends Pick<
  KnowledgeStore,
  'export' | 'stat' | 'list' | 'corePage'
> {
  delete(ref: CoreRef, conditions?: RemoteConditions): Promise<boolean>
  /** Of a Blob or File, too. The body goes out as it comes, where the platform can do that. */
  import(
    ref: CoreRef,
    source: ByteSource | Blob,
    options?: RemoteImportOptions,
  ): Promise<ImportSummary>
  graph(query: Omit<GraphQuery, 'reads'>): RemoteGraph
  index(ref: CoreRef, options?: IndexAbort): Promise<IndexState>
  index(all: OfUser, options?: IndexAbort): Promise<LibraryIndexState>
  indexState(ref: CoreRef): Promise<IndexState>
  indexState(all: OfUser): Promise<LibraryIndexState>
}

interface IndexAbort {
  /** Ends the waiting alone: the server goes on. */
  readonly signal?: AbortSignal | undefined
}

export function createKnowledge(connection: Connection): RemoteKnowledge {
  const stat = ({ user, id }: CoreRef, signal?: AbortSignal) =>
    maybe(
      'LK_CORE_NOT_FOUND',
      connection.json<CoreStat>('GET', `cores/${part(id)}`, {
        query: { user },
        isSafe: true,
        signal,
      }),
    )
  const indexPath = (ref: CoreRef | OfUser) =>
    ref.id === undefined ? 'index' : `cores/${part(ref.id)}/index`

  async function open(ref: CoreRef, options: ExportOptions): Promise<CoreExport> {
    const { dialect, from, to, signal } = options
    if (dialect !== undefined && dialect !== 'specification' && (from ?? to) !== undefined) {
      throw new TypeError(`from and to are for what is stored, not for dialect '${dialect}'`)
    }
    // What is known of a core and what is read of it are of one version, by its tag.
    for (;;) {
      const known = await stat(ref, signal)
      if (known === undefined) throw noCore(ref)
      const end = Math.min(known.bytes, to ?? Infinity)
      const begin = Math.min(from ?? 0, end)
      const isPart = end - begin < known.bytes
      const own = new AbortController()
      const close = () => own.abort(new LorekeepError('LK_CLOSED', 'the export was closed'))
      const core = { ...known, close, [Symbol.dispose]: close }
      if (begin === end && isPart) return { ...core, async *[Symbol.asyncIterator]() {} }
      const ended = signal === undefined ? own.signal : AbortSignal.any([signal, own.signal])
      const response = await connection.ask('GET', 'export-core', {
        query: { id: ref.id, user: ref.user, dialect },
        accept: 'application/octet-stream',
        // Encoding gigabytes takes longer than sending them, but over slow networks. Browsers choose by themselves.
        headers: {
          'Accept-Encoding': 'identity',
          ...(isPart && { Range: `bytes=${begin}-${end - 1}` }),
        },
        isSafe: true,
        signal: ended,
      })
      // A dialect's tag names it behind the version. What stands in between may have taken it away.
      const [version] = versionIn(response).split('.', 1)
      if (version !== '' && version !== known.digest) {
        own.abort()
        continue
      }
      if (isPart && response.status !== 206) {
        own.abort()
        throw new LorekeepError('LK_INTERNAL', 'the server does not answer ranges')
      }
      const isStored = dialect === undefined || dialect === 'specification'
      const length = isStored && version !== '' ? end - begin : undefined
      const chunks = () => counted(chunksOf(response, connection.signalOf(ended)), length)
      return { ...core, [Symbol.asyncIterator]: chunks }
    }
  }

  return {
    async import({ user, id }, source, options = {}) {
      const { mode, index, dialect, signal, onProgress, ...conditions } = options
      const { headers } = onCondition(conditions)
      const query = { id, user, mode, dialect, ...(index === true && { index: 'true' }) }
      const type = 'application/octet-stream'
      const isWhole = source instanceof Uint8Array || source instanceof Blob
      const onSent = isWhole && connection.tellsSent ? onProgress : undefined
      const failed = { error: undefined as unknown }
      const body = bodyOf(source, onSent === undefined ? onProgress : undefined, failed)
      const asking = { query, type, body, headers, signal, onSent }
      try {
        return await connection.json('POST', 'import-core', asking)
      } catch (error) {
        throw failed.error ?? error
      }
    },
    export: (ref, options = {}) => open(ref, options),
    stat: (ref) => stat(ref),
    list: ({ limit, ...query }) => pagesOf<CoreStat>(connection, 'cores', 'cores', query, limit),
    corePage: (query) =>
      connection.json<CorePage>('GET', 'cores', { query: { ...query }, isSafe: true }),
    async delete({ user, id }, conditions) {
      const { headers } = onCondition(conditions)
      const asked = connection.ask('DELETE', `cores/${part(id)}`, { query: { user }, headers })
      return (await maybe('LK_CORE_NOT_FOUND', asked)) !== undefined
    },
    graph: (query) => createGraph(connection, query),
    index: (ref: CoreRef | OfUser, { signal }: IndexAbort = {}) =>
      connection.json<never>('POST', indexPath(ref), { query: { user: ref.user }, signal }),
    indexState: (ref: CoreRef | OfUser) =>
      connection.json<never>('GET', indexPath(ref), { query: { user: ref.user }, isSafe: true }),
  }
}

/** A body that ends early would look whole where nobody counts. */
async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  expected: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    yield chunk
  }
  if (expected !== undefined && bytes !== expected) {
    const found = `the export ended after ${bytes} of ${expected} bytes`
    throw new LorekeepError('LK_STORAGE_UNAVAILABLE', found)
  }
}

function bodyOf(
  source: ByteSource | Blob,
  onProgress: RemoteImportOptions['onProgress'],
  failed: { error: unknown },
): RequestInit['body'] {
  const isWhole = source instanceof Uint8Array || source instanceof Blob
  if (isWhole && onProgress === undefined) return source as never
  const stream = source instanceof Blob ? source.stream() : source
  const chunks = source instanceof Uint8Array ? [source] : stream
  const iterator = iteratorOf(chunks as Iterable<Uint8Array>)
  let bytes = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await iterator.next()
        if (done === true) return controller.close()
        bytes += value.byteLength
        controller.enqueue(value)
        onProgress?.({ bytes })
      } catch (error) {
        // Fetch would take it for one of the network.
        failed.error = error
        throw error
      }
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/** Not every browser can iterate a stream. */
function iteratorOf(chunks: Chunks): Iterator<Uint8Array> | AsyncIterator<Uint8Array> {
  if (Symbol.asyncIterator in chunks) return chunks[Symbol.asyncIterator]() as never
  if (Symbol.iterator in chunks) return chunks[Symbol.iterator]()
  const reader = (chunks as ReadableStream<Uint8Array>).getReader()
  return {
    next: () => reader.read() as Promise<IteratorResult<Uint8Array>>,
    return: async () => {
      await reader.cancel()
      return { done: true as const, value: undefined }
    },
  }
}

function noCore({ user, id }: CoreRef): LorekeepError {
  return new LorekeepError('LK_CORE_NOT_FOUND', `user '${user}' has no '${id}'`)
}
