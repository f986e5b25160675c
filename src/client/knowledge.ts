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
import { chunksOf, leave, maybe, onCondition, pagesOf, part, versionIn } from './connection.js'
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

/** A cache in between may show an old one for as long as it is asked. */
const mostVersions = 20

export function createKnowledge(connection: Connection): RemoteKnowledge {
  const known = ({ user, id }: CoreRef, signal?: AbortSignal) =>
    connection.get<CoreStat>(`cores/${part(id)}`, { user }, signal)
  const indexPath = (ref: CoreRef | OfUser) =>
    ref.id === undefined ? 'index' : `cores/${part(ref.id)}/index`

  async function open(ref: CoreRef, options: ExportOptions): Promise<CoreExport> {
    const { dialect, from, to, signal } = options
    const isStored = dialect === undefined || dialect === 'specification'
    if (!isStored && (from ?? to) !== undefined) {
      throw new TypeError(`from and to are for what is stored, not for dialect '${dialect}'`)
    }
    // What is known of a core and what is read of it are of one version, by its tag.
    for (let at = 1; ; at++) {
      const stat = await known(ref, signal)
      const end = Math.min(stat.bytes, to ?? Infinity)
      const begin = Math.min(from ?? 0, end)
      const isPart = end - begin < stat.bytes
      const own = new AbortController()
      const close = () => own.abort(new LorekeepError('LK_CLOSED', 'the export was closed'))
      const core = { ...stat, close, [Symbol.dispose]: close }
      if (begin === end && isPart) return { ...core, async *[Symbol.asyncIterator]() {} }
      const response = await connection.ask('GET', 'export-core', {
        query: { id: ref.id, user: ref.user, dialect },
        accept: 'application/octet-stream',
        // Encoding gigabytes takes longer than sending them, but over slow networks. Browsers choose by themselves.
        headers: {
          'Accept-Encoding': 'identity',
          // Of another version all of it is sent, which is left: a range of a shorter one would be refused.
          ...(isPart && {
            Range: `bytes=${begin}-${end - 1}`,
            'If-Range': `"${stat.digest}"`,
          }),
        },
        isSafe: true,
        signal: [own.signal, signal ?? own.signal],
      })
      // What stands in between may have taken it away.
      const version = versionIn(response)
      if (version !== '' && version !== stat.digest) {
        void leave(response)
        if (at < mostVersions) continue
        throw new LorekeepError('LK_STORAGE_UNAVAILABLE', 'the core was another one at each look')
      }
      if (isPart && response.status !== 206) {
        void leave(response)
        throw new LorekeepError('LK_INTERNAL', 'the server does not answer ranges')
      }
      const length = isStored && version !== '' ? end - begin : undefined
      const chunks = () => counted(chunksOf(response), length)
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
      const sending = new Sending(source, onSent === undefined ? onProgress : undefined)
      const asking = { query, type, body: sending.body, headers, signal, onSent }
      try {
        return await connection.json('POST', 'import-core', asking)
      } catch (error) {
        throw sending.failure?.error ?? error
      } finally {
        sending.end()
      }
    },
    export: (ref, options = {}) => open(ref, options),
    stat: (ref) => maybe('LK_CORE_NOT_FOUND', known(ref)),
    list: ({ limit, ...query }) => pagesOf<CoreStat>(connection, 'cores', 'cores', query, limit),
    corePage: (query) => connection.get<CorePage>('cores', { ...query }),
    delete: ({ user, id }, conditions) =>
      connection.remove(`cores/${part(id)}`, 'LK_CORE_NOT_FOUND', conditions, { user }),
    graph: (query) => createGraph(connection, query),
    index: (ref: CoreRef | OfUser, { signal }: IndexAbort = {}) =>
      connection.json<never>('POST', indexPath(ref), { query: { user: ref.user }, signal }),
    indexState: (ref: CoreRef | OfUser) =>
      connection.get<never>(indexPath(ref), { user: ref.user }),
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

/** A source on its way. */
class Sending {
  readonly body: RequestInit['body']
  /** Of the source: fetch would take it for one of the network. */
  failure: { readonly error: unknown } | undefined
  readonly #iterator: Iterator<Uint8Array> | AsyncIterator<Uint8Array> | undefined

  constructor(source: ByteSource | Blob, onProgress: RemoteImportOptions['onProgress']) {
    const isWhole = source instanceof Uint8Array || source instanceof Blob
    if (isWhole && onProgress === undefined) {
      this.body = source as never
      return
    }
    const stream = source instanceof Blob ? source.stream() : source
    const chunks = source instanceof Uint8Array ? [source] : stream
    const iterator = iteratorOf(chunks as Iterable<Uint8Array>)
    this.#iterator = iterator
    let bytes = 0
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      try {
        const { done, value } = await iterator.next()
        if (done === true) return controller.close()
        if (!(value instanceof Uint8Array)) {
          throw new TypeError('a source must give Uint8Array chunks')
        }
        bytes += value.byteLength
        controller.enqueue(value)
        onProgress?.({ bytes })
      } catch (error) {
        this.failure = { error }
        throw error
      }
    }
    // Nothing is taken from the source before somebody takes it from here.
    this.body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
  }

  /** Lets go of the source, however much of it was taken: fetch leaves what it was refused as it is. */
  end(): void {
    // Not awaited: it may be waiting for its next bytes.
    void (async () => this.#iterator?.return?.())().catch(() => undefined)
  }
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
