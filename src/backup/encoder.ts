// The bytes of a backup, block by block.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { LorekeepError } from '../errors.js'
import type { Entry, PartitionName } from '../storage.js'
import {
  blockBytes,
  blockHeaderBytes,
  blockKind,
  digestBytes,
  entryHeaderBytes,
  headerBytes,
  magic,
  maxBlockBytes,
  maxKeyBytes,
  partitions,
  trailerBytes,
  trailerKind,
  version,
} from './format.js'
import type { BackupSummary, PartitionCounts } from './types.js'

const pieceBytes = 256 * 1024

/** From this length on a value is not copied. */
const largeBytes = 32 * 1024

export class BackupEncoder {
  bytes = 0
  entries = 0
  readonly #createdAt: number
  readonly #hash = createHash('sha256')
  readonly #counts = new Map(partitions.map((name) => [name, { entries: 0, bytes: 0 }]))
  #partition: PartitionName = partitions[0]!
  /** Of the block that is filling; room for its head is at the beginning of the first. */
  #pieces: Uint8Array[] = []
  /** Bytes of its content. */
  #filled = 0
  #small = Buffer.allocUnsafeSlow(pieceBytes)
  #begin = 0
  #end = blockHeaderBytes

  constructor(createdAt: number) {
    this.#createdAt = createdAt
  }

  header(): Buffer {
    const header = Buffer.alloc(headerBytes)
    magic.copy(header)
    header.writeUInt32LE(version, 8)
    header.writeDoubleLE(this.#createdAt, 12)
    header.writeUInt32LE(crc32(header.subarray(0, 20)), 20)
    return this.#counted(header)
  }

  /** The pieces of blocks that are full by this entry. Partitions come in their order. */
  *add(partition: PartitionName, { key, value }: Entry): Generator<Uint8Array> {
    const size = entryHeaderBytes + key.length + value.length
    if (key.length > maxKeyBytes || value.length >= 2 ** 32) {
      const detail = `an entry of ${key.length} and ${value.length} bytes has no place in a backup`
      throw new LorekeepError('LK_STORAGE_FAILED', detail, { details: { partition } })
    }
    if (partition !== this.#partition || this.#filled + size > maxBlockBytes) yield* this.flush()
    this.#partition = partition
    const counts = this.#counts.get(partition)!
    counts.entries++
    counts.bytes += key.length + value.length
    this.entries++
    this.#reserve(entryHeaderBytes + key.length)
    this.#small.writeUInt32LE(key.length, this.#end)
    this.#small.writeUInt32LE(value.length, this.#end + 4)
    this.#small.set(key, this.#end + entryHeaderBytes)
    this.#end += entryHeaderBytes + key.length
    this.#filled += entryHeaderBytes + key.length
    // What is longer than a block goes on in the next.
    for (let at = 0; ;) {
      const fits = Math.min(value.length - at, maxBlockBytes - this.#filled)
      this.#put(value.subarray(at, at + fits))
      at += fits
      if (at === value.length) break
      yield* this.flush()
    }
    if (this.#filled >= blockBytes) yield* this.flush()
  }

  /** Ends the block that is filling. */
  *flush(): Generator<Uint8Array> {
    if (this.#filled === 0) return
    this.#cut()
    const [first, ...more] = this.#pieces as [Buffer, ...Buffer[]]
    first.writeUInt8(blockKind, 0)
    first.writeUInt8(partitions.indexOf(this.#partition) + 1, 1)
    first.writeUInt16LE(0, 2)
    first.writeUInt32LE(this.#filled, 4)
    let sum = crc32(first.subarray(blockHeaderBytes), crc32(first.subarray(0, 8)))
    for (const piece of more) sum = crc32(piece, sum)
    first.writeUInt32LE(sum, 8)
    this.#pieces = []
    this.#filled = 0
    this.#reserve(blockHeaderBytes)
    this.#end += blockHeaderBytes
    yield this.#counted(first)
    for (const piece of more) yield this.#counted(piece)
  }

  /** To be called last. */
  trailer(): { readonly bytes: Buffer; readonly summary: BackupSummary } {
    const trailer = Buffer.alloc(trailerBytes)
    trailer.writeUInt8(trailerKind, 0)
    let at = 8
    for (const name of partitions) {
      const { entries, bytes } = this.#counts.get(name)!
      trailer.writeBigUInt64LE(BigInt(entries), at)
      trailer.writeBigUInt64LE(BigInt(bytes), at + 8)
      at += 16
    }
    const digest = this.#hash.update(trailer.subarray(0, at)).digest()
    digest.copy(trailer, trailerBytes - digestBytes)
    this.bytes += trailerBytes
    const summary = {
      bytes: this.bytes,
      entries: this.entries,
      partitions: Object.fromEntries(this.#counts) as Record<PartitionName, PartitionCounts>,
      createdAt: new Date(this.#createdAt).toISOString(),
      digest: digest.toString('hex'),
    }
    return { bytes: trailer, summary }
  }

  /** Small ones are put together; large ones are handed on as they are. */
  #put(bytes: Uint8Array): void {
    this.#filled += bytes.length
    if (bytes.length >= largeBytes) {
      this.#cut()
      this.#pieces.push(bytes)
      return
    }
    this.#reserve(bytes.length)
    this.#small.set(bytes, this.#end)
    this.#end += bytes.length
  }

  /** Room in the piece of small things. */
  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#small.length) return
    this.#cut()
    this.#small = Buffer.allocUnsafeSlow(pieceBytes)
    this.#begin = 0
    this.#end = 0
  }

  #cut(): void {
    if (this.#end > this.#begin) this.#pieces.push(this.#small.subarray(this.#begin, this.#end))
    this.#begin = this.#end
  }

  #counted<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
    this.#hash.update(bytes)
    this.bytes += bytes.length
    return bytes
  }
}
