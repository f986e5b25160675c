// What a KnowledgeStore takes and gives.

import type { ByteSource } from '../byte-source.js'
import type { ChangeConditions } from '../conditions.js'
import type {
  Graph,
  GraphQuery,
  IndexOptions,
  IndexState,
  LibraryIndexState,
} from '../graph/types.js'
import type { ExportDialect, ImportDialect } from '../codec/dialects/names.js'
import type { NamedPageOptions, Page } from '../paging.js'
import type { CoreMessage } from '../types.js'

/** The name of a core: whose it is, and which. Non-empty well-formed strings, 1,024 bytes at most. */
export interface CoreRef {
  readonly user: string
  readonly id: string
}

/** All that a user has. */
export interface OfUser {
  readonly user: string
  readonly id?: never
}

/** What a run of core messages holds. `bytes` is its length as an export. */
export interface CoreCounts {
  readonly bytes: number
  readonly messages: number
  readonly triples: number
  /** Entity embeddings; an entity that occurs twice counts twice. */
  readonly entities: number
  readonly vectors: number
}

/**
 * The conditions are of the core's `digest`. They are looked at before anything is read, and again in the
 * step that makes what was read a part of the core.
 */
export interface ImportOptions extends ChangeConditions {
  /** `append` (the default) adds a segment, `replace` swaps the whole core in one step. */
  readonly mode?: 'append' | 'replace'
  /**
   * How often an `append` leaves this content in the core: it adds nothing where it is there as often.
   * Default 1, and no more with `replace`. For who imports message by message, some of which are the
   * same on purpose.
   */
  readonly copies?: number
  /**
   * Indexes what is imported, for questions: from 1 MiB on in the same pass, so that both are there
   * when the import has ended, less soon after. False by default: then what is small is indexed soon
   * all the same, and more by index(), or by the first question about more than 4 MiB of such.
   * Questions see it at once in any case.
   */
  readonly index?: boolean
  /** `any` (the default) reads every dialect of docs/dialects.md, `specification` that one alone. */
  readonly dialect?: ImportDialect
  /** Aborts the import, which leaves nothing; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Called now and then with what has been read until then. It may not throw. */
  readonly onProgress?: (progress: CoreCounts) => void
}

export interface ExportOptions {
  /**
   * `specification` (the default) gives the core as it is stored, `trustgraph-2` what the newest
   * version of the reference system imports. The numbers of the export are those of the core.
   */
  readonly dialect?: ExportDialect
  /** Only the bytes from this one on. Of the specification's dialect alone, as `to`. Default 0. */
  readonly from?: number
  /** Only the bytes before this one; all where there are fewer. */
  readonly to?: number
  /** Aborts the export, also while it is read. */
  readonly signal?: AbortSignal
}

/** What an import brought. All numbers are this import's own, not the core's totals. */
export interface ImportSummary extends CoreCounts {
  /** SHA-256 of the stored bytes, in lower-case hexadecimal. */
  readonly digest: string
  /** The core's `digest` then: what `ifVersion` of the next change takes. */
  readonly version: string
  /** True where the core held exactly this content already, and nothing was stored. */
  readonly duplicate: boolean
  /** What the stream was: `specification`, or a name of docs/dialects.md. */
  readonly dialect: string
  /** What a core has no place for and was left out: messages by their types, `members` of maps. */
  readonly skipped: Readonly<Record<string, number>>
}

export interface CoreStat extends CoreRef, CoreCounts {
  readonly segments: number
  /**
   * Names the content, in lower-case hexadecimal: the SHA-256 of the export for a core of one
   * segment. Each further segment makes it the SHA-256 of the digest until then followed by the
   * segment's (32 + 32 bytes). It is the version of the core, which `ifVersion` takes.
   */
  readonly digest: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** ISO 8601, UTC; the time of the last import that changed the core. */
  readonly updatedAt: string
}

export interface CoreQuery extends NamedPageOptions {
  readonly user: string
  /** From one time and before the other, in ISO 8601. */
  readonly createdFrom?: string
  readonly createdTo?: string
  /** Of the last import that changed the core. */
  readonly updatedFrom?: string
  readonly updatedTo?: string
}

export interface CorePage extends Page {
  readonly cores: readonly CoreStat[]
}

/**
 * One version of a core, however long it takes to read. Iterate it once, for chunks of at most
 * 1 MiB, or close() it: until then the version stays on disk.
 */
export interface CoreExport extends CoreStat, AsyncIterable<Uint8Array> {
  close(): void
  [Symbol.dispose](): void
}

/** Bulk storage of knowledge cores. Every method rejects with `LK_CLOSED` after close(). */
export interface KnowledgeStore {
  /**
   * Reads a core stream to its end and stores it durably: all of it or, after any error, nothing.
   * @throws LorekeepError `LK_CORE_REF`, `LK_CORE_FORMAT`, `LK_CORE_TYPE`, `LK_CORE_TOO_LARGE`, `LK_STORAGE_*`
   */
  import(ref: CoreRef, source: ByteSource, options?: ImportOptions): Promise<ImportSummary>

  /** @throws LorekeepError `LK_CORE_NOT_FOUND`; while iterating also `LK_STORAGE_*` */
  export(ref: CoreRef, options?: ExportOptions): Promise<CoreExport>

  /**
   * import() from objects. The messages' own `m.i` and `m.u` give way to the core's.
   * @throws LorekeepError also `LK_CORE_MESSAGE` where an object has not the shape of a message
   */
  write(
    ref: CoreRef,
    messages: Iterable<CoreMessage> | AsyncIterable<CoreMessage>,
    options?: ImportOptions,
  ): Promise<ImportSummary>

  /** The messages of one version of a core, decoded. @throws LorekeepError `LK_CORE_NOT_FOUND` */
  messages(ref: CoreRef, options?: { readonly signal?: AbortSignal }): AsyncIterable<CoreMessage>

  /** `undefined` where there is no such core. */
  stat(ref: CoreRef): Promise<CoreStat | undefined>

  /**
   * The user's cores in the byte order of their ids, read piece by piece; `limit` bounds it only where it is given.
   * @throws LorekeepError `LK_CORE_REF`, `LK_CURSOR`
   */
  list(query: CoreQuery): AsyncIterable<CoreStat>

  /** One page of them. @throws LorekeepError as list() */
  corePage(query: CoreQuery): Promise<CorePage>

  /** Durable. False where there was no such core. */
  delete(ref: CoreRef, conditions?: ChangeConditions): Promise<boolean>

  /** Cores of a user as one graph, to be asked. Nothing is read before the first question. */
  graph(query: GraphQuery): Graph

  /**
   * Indexes what is not yet, with approximate indexes of vectors where there are many: of a core, or
   * with the user alone of all cores, whose parts are then merged as far as they can be. Durable; the
   * cores themselves are not touched.
   * @throws LorekeepError `LK_CORE_NOT_FOUND`, `LK_STORAGE_*`
   */
  index(ref: CoreRef, options?: IndexOptions): Promise<IndexState>
  index(all: OfUser, options?: IndexOptions): Promise<LibraryIndexState>

  /** @throws LorekeepError `LK_CORE_NOT_FOUND` */
  indexState(ref: CoreRef): Promise<IndexState>
  indexState(all: OfUser): Promise<LibraryIndexState>
}
