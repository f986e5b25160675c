import type { BlockStorage } from '../../block-writer.js'
import { CoreWalker } from '../../codec/walker.js'
import { keepShape } from '../../kept-shapes.js'
import type { PartRecord } from './layout.js'
import { PartBuilder, type Many } from './part-builder.js'
import type { SourceName } from './places.js'

const mostForRoom = 64 << 14

/** Memory that is not touched costs nothing there. */
const kernelRoom = 1 << 16

/** Indexes the bytes of segments as they come. The same bytes in the same slices give the same index. */
export class PartsBuilder {
  readonly #builder: PartBuilder
  readonly #walker: CoreWalker
  readonly #parts: PartRecord[] = []

  /**
   * All of the index is stored under keys that begin with `id`. `bytes`: how many come, where that is known; `many`: where
   * they may be so.
   */
  constructor(
    storage: BlockStorage,
    id: string,
    source: SourceName,
    { bytes = mostForRoom, many }: { bytes?: number; many?: Many } = {},
  ) {
    const room = many === undefined ? roomFor(bytes) : kernelRoom
    this.#builder = new PartBuilder(storage, id, source, room, many)
    this.#walker = new CoreWalker(this.#builder)
  }

  /** Whose the slices that follow are. Between whole segments only. */
  source(next: SourceName): void {
    this.#builder.source(next)
  }

  /** The next slice, which is the caller's again when this returns. */
  push(slice: Uint8Array): void {
    this.#walker.push(slice)
  }

  /** Call after each slice: writes what has to be written before the next one. */
  async writeFull(): Promise<void> {
    this.#parts.push(...(await this.#builder.writeFull()))
  }

  /** The parts by their numbers, all of them durable. */
  async finish(): Promise<PartRecord[]> {
    this.#parts.push(...(await this.#builder.finish()))
    return this.#parts.sort((a, b) => a.number - b.number)
  }

  /** Resolves when no write is under way, whatever became of it. */
  async settle(): Promise<void> {
    await this.#builder.settle()
  }
}

keepShape(
  new PartsBuilder(
    { get: () => Promise.resolve(undefined), write: () => Promise.resolve() },
    '',
    { generation: '', core: '' },
    { bytes: 0 },
  ),
)

/** A triple, or a term, takes some 64 bytes. Where it is less, room is made. */
function roomFor(bytes: number): number {
  const rows = Math.min(1 << 14, Math.max(1 << 8, bytes / 64))
  return 2 ** Math.ceil(Math.log2(rows))
}
