import { createHash } from 'node:crypto'
import type { ScanSink } from '../codec/scanner.js'
import type { Storage } from '../storage.js'
import { sliceKey } from './records.js'

/** The most bytes of one stored value, and of one chunk of an export. */
export const sliceBytes = 1024 * 1024

/** Slices that are being written while the next ones fill: enough to keep the disk busy. */
const maxWriting = 8

/**
 * Cuts what a scanner lets through into slices and writes them as they fill. Holds the slice that
 * is filling and at most `maxWriting` that are being written; their buffers are used again.
 */
export class SegmentWriter implements ScanSink {
  bytes = 0
  /** Slices begun; the last one may not be full. */
  slices = 0

  readonly #storage: Storage
  readonly #segment: string
  readonly #hash = createHash('sha256')
  #slice: Buffer | undefined
  #filled = 0
  readonly #full: Buffer[] = []
  readonly #free: Buffer[] = []
  readonly #writing = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | undefined
  #written = 0

  constructor(storage: Storage, segment: string) {
    this.#storage = storage
    this.#segment = segment
  }

  copy(chunk: Uint8Array, from: number, to: number): void {
    let at = from
    while (at < to) {
      if (!this.#slice) {
        this.#slice = this.#free.pop() ?? Buffer.allocUnsafeSlow(sliceBytes)
        this.#filled = 0
        this.slices++
      }
      const fits = Math.min(to - at, sliceBytes - this.#filled)
      this.#slice.set(chunk.subarray(at, at + fits), this.#filled)
      this.#filled += fits
      at += fits
      if (this.#filled === sliceBytes) this.#seal()
    }
    this.bytes += to - from
  }

  /** True once a slice waits to be written. */
  get hasFull(): boolean {
    return this.#full.length > 0
  }

  /** Closes the last slice and gives the SHA-256 of all bytes; nothing may be copied after it. */
  digest(): string {
    if (this.#slice) this.#seal()
    return this.#hash.digest('hex')
  }

  /** Starts writing the full slices, and waits while too many are under way. */
  async writeFull(): Promise<void> {
    for (;;) {
      if (this.#failure) throw this.#failure.error
      const slice = this.#full.shift()
      if (!slice) return
      this.#write(slice)
      if (this.#writing.size >= maxWriting) await Promise.race(this.#writing)
    }
  }

  /** Resolves when every slice is durable. */
  async finish(): Promise<void> {
    await this.writeFull()
    await this.settle()
    if (this.#failure) throw this.#failure.error
  }

  /** Resolves when no write is under way, whatever became of it. */
  async settle(): Promise<void> {
    await Promise.all(this.#writing)
  }

  #seal(): void {
    const slice = (this.#slice as Buffer).subarray(0, this.#filled)
    this.#hash.update(slice)
    this.#full.push(slice)
    this.#slice = undefined
  }

  #write(slice: Buffer): void {
    const key = sliceKey(this.#segment, this.#written++)
    const write = this.#storage
      .write([{ type: 'put', key, value: slice }], { durable: true })
      .then(
        () => {
          if (slice.length === sliceBytes) this.#free.push(slice)
        },
        (error: unknown) => {
          this.#failure ??= { error }
        },
      )
      .finally(() => this.#writing.delete(write))
    this.#writing.add(write)
  }
}
