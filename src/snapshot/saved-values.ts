// Bytes that have to wait for a reader, what was overwritten since a snapshot above all: in memory up
// to a bound, then in a temporary file.

import { tmpdir } from 'node:os'
import { crc32 } from 'node:zlib'
import { LorekeepError } from '../errors.js'
import { TemporaryFile } from '../temporary-file.js'

/** A value in memory, or where it lies in the file. */
export type SavedValue =
  | { readonly bytes: Uint8Array }
  | { readonly at: number; readonly length: number; readonly checksum: number }

export class SavedValues {
  readonly #maxBytes: number
  #bytes = 0
  #file: Promise<TemporaryFile> | undefined
  #end = 0
  readonly #underWay = new Set<Promise<unknown>>()
  #closed = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Keeps a value, which is the keeper's from now on. @throws LorekeepError `LK_STORAGE_FAILED` */
  async keep(bytes: Uint8Array): Promise<SavedValue> {
    if (this.#bytes + bytes.length <= this.#maxBytes) {
      this.#bytes += bytes.length
      return { bytes }
    }
    const at = this.#end
    this.#end += bytes.length
    await this.#run((file) => file.write(bytes, at))
    return { at, length: bytes.length, checksum: crc32(bytes) }
  }

  /** A copy, which is the caller's. */
  async read(saved: SavedValue): Promise<Uint8Array> {
    if ('bytes' in saved) return new Uint8Array(saved.bytes)
    const bytes = await this.#run((file) => file.read(saved.at, saved.length))
    if (crc32(bytes) === saved.checksum) return bytes
    throw new LorekeepError('LK_STORAGE_CORRUPT', 'a temporary file has changed')
  }

  /** The value itself, which is not kept any more. */
  async take(saved: SavedValue): Promise<Uint8Array> {
    this.forget(saved)
    return 'bytes' in saved ? saved.bytes : this.read(saved)
  }

  /** The room in the file is not used again: all of it goes with the snapshot. */
  forget(saved: SavedValue): void {
    if ('bytes' in saved) this.#bytes -= saved.bytes.length
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay)
    const file = await this.#file?.catch(() => undefined)
    await file?.close()
  }

  #run<T>(work: (file: TemporaryFile) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new LorekeepError('LK_CLOSED'))
    this.#file ??= TemporaryFile.create('snapshot')
    const running = this.#file.then(work).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      const detail = `the temporary file for what changes meanwhile, in ${tmpdir()}: ${reason}`
      throw new LorekeepError('LK_STORAGE_FAILED', detail, { cause })
    })
    this.#underWay.add(running)
    const done = () => this.#underWay.delete(running)
    running.then(done, done)
    return running
  }
}
