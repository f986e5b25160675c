import type { BlockStorage } from '../../block-writer.js'
import { IndexThread } from './index-thread.js'
import type { PartRecord } from './layout.js'
import { unlinked, writeLinks, type LinkOptions } from './links-writer.js'
import { PartsBuilder } from './parts-builder.js'

/** Less than this is indexed where it is: a thread takes some 50 ms to start. */
const minThreadBytes = 8 * 1024 * 1024

/** Makes one index from the bytes of segments, in a thread of its own where they are many. */
export class IndexBuilder {
  readonly #storage: BlockStorage
  readonly #id: string
  readonly #signal: AbortSignal | undefined
  /** What came before it was clear whether it is worth a thread. */
  #held: Uint8Array[] = []
  #heldBytes = 0
  #thread: IndexThread | undefined
  #parts: PartsBuilder | undefined

  /** All of the index is stored under keys that begin with `id`. */
  constructor(storage: BlockStorage, id: string, signal: AbortSignal | undefined) {
    this.#storage = storage
    this.#id = id
    this.#signal = signal
  }

  /** The next slice, which is the caller's again when this returns. */
  push(slice: Uint8Array): void {
    const builder = this.#thread ?? this.#parts
    if (builder !== undefined) {
      builder.push(slice)
      return
    }
    this.#held.push(new Uint8Array(slice))
    this.#heldBytes += slice.length
  }

  /** Call after each slice: waits where the index is behind. */
  async ready(): Promise<void> {
    if (this.#heldBytes < minThreadBytes) return
    if (this.#thread === undefined && this.#parts === undefined) {
      this.#thread = await IndexThread.start(this.#storage, this.#id, this.#signal)
      if (this.#thread !== undefined) {
        for (const held of this.#held.splice(0)) this.#thread.push(held)
      }
    }
    await (this.#thread === undefined ? this.#workHere() : this.#thread.ready())
  }

  /** The parts, all of them durable. */
  async finish(): Promise<PartRecord[]> {
    if (this.#thread !== undefined) return this.#thread.finish()
    const parts = await this.#workHere()
    return parts.finish()
  }

  async #workHere(): Promise<PartsBuilder> {
    this.#parts ??= new PartsBuilder(this.#storage, this.#id)
    for (const slice of this.#held.splice(0)) {
      this.#parts.push(slice)
      await this.#parts.writeFull()
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

/** Vectors that are linked without a thread. */
const maxUnthreaded = 2000

/** Makes the approximate indexes that are missing, durably, and gives the parts with them. */
export async function linkParts(
  storage: BlockStorage,
  index: string,
  parts: readonly PartRecord[],
  options: LinkOptions,
): Promise<readonly PartRecord[]> {
  const { minLinked, signal, onProgress } = options
  const count = unlinked(parts, minLinked)
  if (count === 0) return parts
  const thread = count > maxUnthreaded && (await IndexThread.start(storage, index, signal))
  if (!thread) return writeLinks(storage, index, parts, options)
  try {
    return await thread.link(parts, minLinked, onProgress)
  } finally {
    await thread.end()
  }
}
