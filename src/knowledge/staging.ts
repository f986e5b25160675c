import { IndexBuilder, linkParts } from '../graph/index/index-builder.js'
import type { Storage } from '../storage.js'
import type { CoreTable } from './core-table.js'
import { createId, type IndexRecord } from './records.js'
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

/** What an import writes before it is a part of a core: a segment and, where it is wanted, its index. */
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
  // A failed write may have happened: it is set before the first one.
  #isStaged = false

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
      // From here on a crash leaves a record of the segment, so that its slices can be deleted.
      const ids = this.#builder === undefined ? [this.id] : [this.id, this.#indexId]
      await this.#options.table.stage(...ids)
    }
    await this.#builder?.ready()
    await this.writer.writeFull()
  }

  /** Writes what is left, and gives the index where one is built. */
  async finish(): Promise<BuiltIndex | undefined> {
    const { writer } = this
    const { slices, minLinked, signal } = this.#options
    if (writer.blocks > 0) await this.writeFull()
    const parts = writer.blocks > 0 ? await this.#builder?.finish() : undefined
    await writer.finish()
    await this.#builder?.end()
    if (parts === undefined) return undefined
    const linking = { minLinked, signal, onProgress: undefined }
    return {
      id: this.#indexId,
      sourceBytes: writer.bytes,
      parts: await linkParts(slices, this.#indexId, parts, linking),
    }
  }

  /** Deletes what was written, unless a commit names it. False where one does: it happened after all. */
  async discard(): Promise<boolean> {
    if (!this.#isStaged) return true
    const { table } = this.#options
    await this.writer.settle()
    await this.#builder?.end()
    if (this.#builder !== undefined) await table.discard(this.#indexId, this.tried.index)
    return table.discard(this.id, this.tried.segment)
  }

  /** Ends the thread that builds, if there is one. */
  async end(): Promise<void> {
    await this.#builder?.end()
  }
}
