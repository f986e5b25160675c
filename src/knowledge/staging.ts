import { IndexBuilder, linkParts } from '../graph/index/index-builder.js'
import type { PartRecord } from '../graph/index/layout.js'
import type { Storage } from '../storage.js'
import type { CoreTable } from './core-table.js'
import { createId, type IndexRecord } from './records.js'
import { smallOf, type SmallBytes } from './segment-bytes.js'
import { SegmentWriter } from './segment-writer.js'

interface StagingOptions {
  readonly table: CoreTable
  readonly slices: Storage
  readonly minLinked: number
  readonly now: () => number
  readonly isIndexed: boolean
  readonly signal: AbortSignal
}

/** An index that was built in the import's own pass: what its record will say. */
export type BuiltIndex = Pick<IndexRecord, 'id' | 'parts' | 'sourceBytes'>

/** What an import has to commit. */
export interface Staged {
  /** The bytes of a segment that goes with the commit itself. */
  readonly small: SmallBytes | undefined
  readonly index: BuiltIndex | undefined
}

/**
 * What an import has before it is a part of a core: a segment and, where it is wanted, its index.
 * Until it turns out to be more than a small one, nothing of the segment is written.
 */
export class Staging {
  readonly id: string
  readonly writer: SegmentWriter
  /** Keys under which the last commit that was tried names what is staged: they tell whether it happened. */
  readonly tried: { segment: Uint8Array | undefined; index: Uint8Array | undefined } = {
    segment: undefined,
    index: undefined,
  }
  readonly #options: StagingOptions
  readonly #indexId: string
  readonly #builder: IndexBuilder | undefined
  // Failed writes may have happened: these are set before the first one.
  #isStaged = false
  #isIndexStaged = false

  constructor(options: StagingOptions) {
    const { slices, now, isIndexed, signal } = options
    this.#options = options
    this.id = createId(now())
    this.#indexId = createId(now())
    this.#builder = isIndexed ? new IndexBuilder(slices, this.#indexId, signal) : undefined
    this.writer = new SegmentWriter(slices, this.id, (slice) => this.#builder?.push(slice))
  }

  /** Writes the slices that are full. */
  async writeFull(): Promise<void> {
    if (!this.#isStaged) {
      this.#isStaged = true
      this.#isIndexStaged = this.#builder !== undefined
      // From here on a crash leaves a record of the segment, so that its slices can be deleted.
      const ids = this.#isIndexStaged ? [this.id, this.#indexId] : [this.id]
      await this.#options.table.stage(...ids)
    }
    await this.#builder?.ready()
    await this.writer.writeFull()
  }

  /** Writes what is left, but for a small segment, and the index where one is built. */
  async finish(): Promise<Staged> {
    const { writer } = this
    writer.end()
    const small = writer.held && smallOf(writer.held)
    if (small !== undefined) await this.#stageIndex()
    else if (writer.blocks > 0) await this.writeFull()
    const parts = writer.blocks > 0 ? await this.#builder?.finish() : undefined
    if (small === undefined) await writer.finish()
    await this.#builder?.end()
    return { small, index: parts && (await this.#linked(parts)) }
  }

  async #stageIndex(): Promise<void> {
    if (this.#builder === undefined) return
    this.#isIndexStaged = true
    await this.#options.table.stage(this.#indexId)
    await this.#builder.ready()
  }

  async #linked(parts: readonly PartRecord[]): Promise<BuiltIndex> {
    const { slices, minLinked, signal } = this.#options
    const linking = { minLinked, signal, onProgress: undefined }
    return {
      id: this.#indexId,
      sourceBytes: this.writer.bytes,
      parts: await linkParts(slices, this.#indexId, parts, linking),
    }
  }

  /** Deletes what was written, unless a commit names it. False where one does: it happened after all. */
  async discard(): Promise<boolean> {
    const { table } = this.#options
    await this.writer.settle()
    await this.#builder?.end()
    // One commit takes both, or neither.
    const isIndexGone =
      !this.#isIndexStaged || (await table.discard(this.#indexId, this.tried.index))
    if (this.#isStaged) return table.discard(this.id, this.tried.segment)
    if (this.#isIndexStaged) return isIndexGone
    return !(await table.isCommitted(this.id, this.tried.segment))
  }

  /** Lets go of a segment that was not written, and ends the thread that builds, if there is one. */
  async end(): Promise<void> {
    this.writer.drop()
    await this.#builder?.end()
  }
}
