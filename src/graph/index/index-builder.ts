import type { BlockStorage } from '../../block-writer.js'
import { Turns } from '../../turns.js'
import { IndexThread } from './index-thread.js'
import type { PartRecord } from './layout.js'
import { minThreadLinked, unlinked, writeLinks, type LinkOptions } from './links-writer.js'
import { PartsBuilder } from './parts-builder.js'
import type { SourceName } from './places.js'

export type { SourceName } from './places.js'

/** Less than this is indexed where it is, unless a thread waits for work: one takes some 50 ms to start. */
const minThreadBytes = 8 * 1024 * 1024
const minWaitingBytes = 64 * 1024

/** Makes one index from the bytes of segments, in a thread of its own where they are many. */
export class IndexBuilder {
  readonly #storage: BlockStorage
  readonly #id: string
  readonly #signal: AbortSignal | undefined
  readonly #first: SourceName
  /** What came before it was clear whether it is worth a thread. */
  #held: (Uint8Array | SourceName)[] = []
  #heldBytes = 0
  #thread: IndexThread | undefined
  #parts: PartsBuilder | undefined

  /** All of the index is stored under keys that begin with `id`. `source`: whose the first slices are. */
  constructor(
    storage: BlockStorage,
    id: string,
    source: SourceName,
    signal: AbortSignal | undefined,
  ) {
    this.#storage = storage
    this.#id = id
    this.#first = source
    this.#signal = signal
  }

  /** Whose the slices that follow are. Between whole segments only. */
  source(next: SourceName): void {
    const builder = this.#thread ?? this.#parts
    if (builder === undefined) this.#held.push(next)
    else builder.source(next)
  }

  /** The next slice, which is the caller's again when this returns. */
  push(slice: Uint8Array): void {
    const builder = this.#thread ?? this.#parts
    if (builder !== undefined) builder.push(slice)
    else {
      this.#held.push(new Uint8Array(slice))
      this.#heldBytes += slice.length
    }
  }

  /** Call after each slice: waits where the index is behind. */
  async ready(): Promise<void> {
    if (this.#heldBytes < minThreadBytes) return
    await this.#startThread()
    await (this.#thread === undefined ? this.#workHere() : this.#thread.ready())
  }

  /** Where it is not made here already. */
  async #startThread(): Promise<void> {
    if (this.#thread !== undefined || this.#parts !== undefined) return
    this.#thread = await IndexThread.start(this.#storage, this.#id, this.#signal)
    if (this.#thread === undefined) return
    this.#thread.source(this.#first)
    for (const held of this.#held.splice(0)) {
      await this.#thread.ready()
      tell(this.#thread, held)
    }
  }

  /** The parts, all of them durable. */
  async finish(): Promise<PartRecord[]> {
    if (this.#heldBytes > minWaitingBytes && IndexThread.isWaiting) await this.#startThread()
    if (this.#thread !== undefined) return this.#thread.finish()
    const parts = await this.#workHere()
    return parts.finish()
  }

  async #workHere(): Promise<PartsBuilder> {
    this.#parts ??= new PartsBuilder(this.#storage, this.#id, this.#first, {
      bytes: this.#heldBytes,
    })
    const turns = new Turns(this.#signal)
    for (const held of this.#held.splice(0)) {
      tell(this.#parts, held)
      await this.#parts.writeFull()
      await turns.pass()
    }
    await this.#parts.writeFull()
    return this.#parts
  }

  /** Call at the end, whatever came of it. Resolves when no write is under way. */
  async end(): Promise<void> {
    await this.#parts?.settle()
    await this.#thread?.end()
  }
}

function tell(builder: IndexThread | PartsBuilder, held: Uint8Array | SourceName): void {
  if (held instanceof Uint8Array) builder.push(held)
  else builder.source(held)
}

/** Makes the approximate indexes that are missing, durably, and gives the parts with them. */
export async function linkParts(
  storage: BlockStorage,
  parts: readonly PartRecord[],
  options: LinkOptions,
): Promise<readonly PartRecord[]> {
  const { minLinked, signal, onProgress } = options
  const count = unlinked(parts, minLinked)
  if (count === 0) return parts
  const thread =
    count >= minThreadLinked && (await IndexThread.start(storage, parts[0]?.id ?? '', signal))
  if (!thread) return writeLinks(storage, parts, options)
  try {
    return await thread.link(parts, minLinked, onProgress)
  } finally {
    await thread.end()
  }
}
