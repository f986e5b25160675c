import { createHash } from 'node:crypto'
import { IndexBuilder, linkParts, type SourceName } from '../graph/index/index-builder.js'
import type { PartRecord } from '../graph/index/layout.js'
import type { Storage } from '../storage.js'
import type { CoreTable } from './core-table.js'
import { createId } from './records.js'
import { smallOf, type SmallBytes } from './segment-bytes.js'
import { SegmentWriter } from './segment-writer.js'

interface StagingOptions {
  readonly table: CoreTable
  readonly slices: Storage
  readonly minLinked: number
  /** Who was asked for it. */
  readonly member: string | undefined
  readonly now: () => number
  /** Whose the segment is going to be, where it is indexed. */
  readonly source: SourceName | undefined
  readonly signal: AbortSignal
}

/** What an import has to commit. */
export interface Staged {
  /** The bytes of a segment that goes with the commit itself. */
  readonly small: SmallBytes | undefined
  /** What the index has of a large one; smaller ones wait, and are indexed with others. */
  readonly parts: readonly PartRecord[]
}

/**
 * What an import has before it is a part of a core: a segment and, where it is wanted, its index.
 * Until it turns out to be more than a small one, nothing of the segment is written.
 */
export class Staging {
  readonly id: string
  readonly indexId: string
  readonly writer: SegmentWriter
  /** Keys under which the last commit that was tried names what is staged: they tell whether it happened. */
  readonly tried: { segment: Uint8Array | undefined; parts: Uint8Array | undefined } = {
    segment: undefined,
    parts: undefined,
  }
  readonly #options: StagingOptions
  readonly #builder: IndexBuilder | undefined
  readonly #hash = createHash('sha256')
  /** What the record of it says, once it was written. */
  #staged: Uint8Array = new Uint8Array(0)
  // Failed writes may have happened: these are set before the first one.
  #isStaged = false
  #isIndexStaged = false

  constructor(options: StagingOptions) {
    const { slices, now, source, signal } = options
    this.#options = options
    this.id = createId(now())
    this.indexId = createId(now())
    this.#builder = source && new IndexBuilder(slices, this.indexId, source, signal)
    this.writer = new SegmentWriter(slices, this.id, (slice) => {
      this.#builder?.push(slice)
      // Not in the index's thread: this one would wait for it.
      this.#hash.update(slice)
    })
  }

  /** Closes the last slice and gives the SHA-256 of all bytes; nothing may be copied after it. */
  digest(): string {
    this.writer.end()
    return this.#hash.digest('hex')
  }

  /** Writes the slices that are full, of which there are some. */
  async writeFull(): Promise<void> {
    await this.#stage(this.#builder !== undefined)
    await this.#builder?.ready()
    await this.writer.writeFull()
  }

  /** Writes what is left, but for a small segment, and what is indexed of it. */
  async finish(): Promise<Staged> {
    const { writer } = this
    writer.end()
    // What is remembered of it should not keep a whole block.
    const small = writer.held && smallOf(new Uint8Array(writer.held))
    if (small !== undefined || writer.blocks === 0) return { small, parts: [] }
    await this.#stage(false)
    await writer.writeFull()
    const made = this.#isIndexStaged ? await this.#builder?.finish() : undefined
    await writer.finish()
    await this.#builder?.end()
    return { small, parts: await this.#linked(made ?? []) }
  }

  /** From here on a crash leaves records, so that what was written can be deleted. */
  async #stage(isIndexed: boolean): Promise<void> {
    if (this.#isStaged) return
    this.#isStaged = true
    this.#isIndexStaged = isIndexed
    const ids = isIndexed ? [this.id, this.indexId] : [this.id]
    const { table, member } = this.#options
    this.#staged = await table.stage(member, ...ids)
  }

  async #linked(parts: readonly PartRecord[]): Promise<readonly PartRecord[]> {
    const { slices, minLinked, signal } = this.#options
    return linkParts(slices, parts, { minLinked, signal, onProgress: undefined })
  }

  /** What a commit of the segment, or of what is indexed of it, takes with it, and requires. */
  unstage(id: string) {
    return this.#options.table.unstage(id, this.#staged)
  }

  /** Deletes what was written, unless a commit names it. False where one does: it happened after all. */
  async discard(): Promise<boolean> {
    const { table } = this.#options
    await this.writer.settle()
    await this.discardParts()
    if (this.#isStaged) return table.discard(this.id, this.tried.segment)
    return !(await table.isCommitted(this.id, this.tried.segment))
  }

  /** Deletes what was indexed, unless a commit names it. */
  async discardParts(): Promise<void> {
    await this.#builder?.end()
    if (!this.#isIndexStaged) return
    await this.#options.table.discard(this.indexId, this.tried.parts)
  }

  /** Lets go of a segment that was not written, and ends the thread that builds, if there is one. */
  async end(): Promise<void> {
    this.writer.drop()
    await this.#builder?.end()
  }
}
