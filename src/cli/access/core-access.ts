// Where `import`, `export` and `cores` find their cores: in a data directory, or behind the HTTP
// interface of a running server, which has that directory to itself.

import type { ExportDialect, ImportDialect } from '../../codec/dialects/names.js'
import { LorekeepError } from '../../errors.js'
import type {
  CoreCounts,
  CoreQuery,
  CoreRef,
  CoreStat,
  ImportSummary,
} from '../../knowledge/types.js'
import { CutShort, describe } from '../output/failure.js'
import { telling } from './loss.js'
import type { Stores } from './stores.js'

export interface CoreAccess {
  /** With `index` it is indexed in the end, but by a server soon after where it is small. */
  import(
    ref: CoreRef,
    source: AsyncIterable<Uint8Array>,
    options: {
      readonly mode: 'append' | 'replace'
      readonly index: boolean
      readonly dialect?: ImportDialect | undefined
      readonly signal: AbortSignal
      /** Not called where the counting happens elsewhere. */
      readonly onProgress: (counts: CoreCounts) => void
    },
  ): Promise<ImportSummary>
  /** Fails where there is no such core, or where it ends before its last byte. */
  export(
    ref: CoreRef,
    options: { readonly dialect: ExportDialect; readonly signal: AbortSignal },
  ): Promise<CoreBytes>
  list(query: CoreQuery): AsyncIterable<CoreStat>
  /** Fails where there is no such core. */
  stat(ref: CoreRef): Promise<CoreStat>
  /** Fails where there is no such core. */
  delete(ref: CoreRef): Promise<void>
  close(): Promise<void>
}

export interface CoreBytes extends AsyncIterable<Uint8Array> {
  /** Of the core as it is stored, whatever the dialect. */
  readonly bytes: number
}

const importing = {
  sending: 'nothing was stored',
  sent: 'whether the core was stored is not known; importing it again is safe',
}

export function coresIn(
  { knowledge, close }: Stores,
  { url }: { readonly url?: URL | undefined },
): CoreAccess {
  return {
    async import(ref, source, { dialect, onProgress, ...options }) {
      const told = (counts: Partial<CoreCounts>) => {
        if (counts.triples !== undefined) onProgress(counts as CoreCounts)
      }
      const given = { ...options, ...(dialect && { dialect }), onProgress: told }
      const summary = await telling(importing, knowledge.import(ref, source, given))
      // This process ends before `soon`, which is when a store indexes what is small.
      if (options.index && url === undefined) await indexNow(knowledge, ref, options.signal)
      return summary
    },
    export: (ref, options) => knowledge.export(ref, options),
    list: (query) => knowledge.list(query),
    stat: async (ref) => (await knowledge.stat(ref)) ?? notFound(ref),
    async delete(ref) {
      if (!(await knowledge.delete(ref))) notFound(ref)
    },
    close,
  }
}

/** What is indexed already, as a large import is, is left alone: index() also links parts of other cores. */
async function indexNow(
  knowledge: Stores['knowledge'],
  ref: CoreRef,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { state } = await knowledge.indexState(ref)
    if (state !== 'complete') await knowledge.index(ref, { signal })
  } catch (error) {
    const told = `'${ref.id}' of '${ref.user}' is imported, but not indexed: 'lorekeep index' does it`
    throw new CutShort(`${describe(error)}; ${told}`, error)
  }
}

function notFound({ user, id }: CoreRef): never {
  throw new LorekeepError('LK_CORE_NOT_FOUND', `user '${user}' has no '${id}'`)
}
