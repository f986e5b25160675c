// What the import of a workspace takes and gives.

import type { ByteSource } from '../byte-source.js'
import type { EncodedDocument } from '../flow/types.js'
import type { CoreRef, ImportSummary } from '../knowledge/types.js'
import type { RdfRest } from '../rdf/import.js'
import type { RdfLoss } from '../rdf/parse.js'
import type { CoreMessage } from '../types.js'

/** The path of a file, its bytes, or a stream of them, which waits in a temporary file. */
export type WorkspaceSource = string | URL | ByteSource

/** How much of an archive is looked at: what one is made of may come from anybody. */
export interface WorkspaceLimits {
  /** Bytes of the archive, unpacked. 64 GiB by default. */
  readonly maxUnpackedBytes: number
  /** How many times as long as the file it may be unpacked, beyond its first 64 MiB. 500 by default. */
  readonly maxRatio: number
  /** Members of the archive. 2,000,000 by default. */
  readonly maxMembers: number
  /** Bytes of the manifest, and of what describes one document. 16 MiB by default. */
  readonly maxJsonBytes: number
  /**
   * Bytes of a text that is read to be loaded. 256 MiB by default: what a flow takes (`maxTextBytes`)
   * is mostly less.
   */
  readonly maxDocumentBytes: number
}

export interface WorkspaceOptions {
  /** Whose cores and documents they become. */
  readonly user: string
  /** The flow that texts of the library are loaded into. Without it they are counted alone. */
  readonly flow?: string | undefined
  /** The collection of the documents' knowledge. `default` by default. */
  readonly collection?: string | undefined
  /**
   * `append` (the default) adds to cores that are there what they have not, and passes over documents
   * that are known; `replace` puts cores in the place of those, and loads documents again.
   */
  readonly mode?: 'append' | 'replace' | undefined
  /** What becomes of datatypes, languages and named graphs. `keep` by default. */
  readonly loss?: RdfLoss | undefined
  /** Indexes each core, as the option of import() does. False by default. */
  readonly index?: boolean | undefined
  readonly limits?: Partial<WorkspaceLimits> | undefined
  /** Between one core or document and the next it leaves whole ones behind, and nothing of the rest. */
  readonly signal?: AbortSignal | undefined
  /** Called now and then. It may not throw. */
  readonly onProgress?: ((progress: WorkspaceProgress) => void) | undefined
}

export interface WorkspaceProgress {
  /** The archive is read twice: nothing is stored before all of it was checked. */
  readonly step: 'checking' | 'importing'
  /** Of the file, in this step. */
  readonly bytes: number
  /** Of the core that is read. */
  readonly triples: number
  /** What is stored: whole cores, and documents in the queue. */
  readonly cores: number
  readonly documents: number
}

/** What became of what was in the archive. Nothing of it is left out of these counts. */
export interface WorkspaceSummary {
  /** What the manifest says. */
  readonly workspace?: string
  readonly exportedAt?: string
  readonly cores: readonly ImportedCore[]
  readonly documents: DocumentCounts
  /** Entries of the configuration, which have no place here. */
  readonly config: number
  /** What else was in the archive and is not known. */
  readonly unknown: { readonly count: number; readonly names: readonly string[] }
}

export interface ImportedCore
  extends Pick<ImportSummary, 'triples' | 'bytes' | 'digest' | 'duplicate'>, RdfRest {
  readonly id: string
  readonly collection: string
}

/** The members but `refusals` add up to `total`. */
export interface DocumentCounts {
  /** In the library of the archive. */
  readonly total: number
  readonly queued: number
  /** Known already, and passed over. */
  readonly present: number
  /** Not taken by the flow. */
  readonly refused: number
  /** The first 100 of these, and why. */
  readonly refusals: readonly {
    readonly document: string
    readonly code: string
    readonly message: string
  }[]
  /** Texts, where no flow was named. */
  readonly withoutFlow: number
  /** Pages, sections and chunks of a text that is in the archive itself. */
  readonly parts: number
  /** What the reference system has answered. */
  readonly answers: number
  /** No texts, by their kind. */
  readonly kinds: Readonly<Record<string, number>>
}

/** Where a workspace goes: the stores of a process, or a server. */
export interface WorkspaceTarget {
  /** Fails where the flow takes no documents. */
  checkFlow(flow: string): Promise<void>
  write(
    ref: CoreRef,
    messages: AsyncIterable<CoreMessage>,
    options: {
      readonly mode: 'append' | 'replace'
      readonly index: boolean
      readonly signal: AbortSignal | undefined
      readonly onProgress: (counts: { readonly triples: number }) => void
    },
  ): Promise<ImportSummary>
  /** Ids of the user's documents that were done, or are in the flow, in whatever order. */
  known(flow: string, user: string): AsyncIterable<string>
  load(flow: string, document: EncodedDocument): Promise<unknown>
}
