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

export class BackupEncoder {
  bytes = 0
  entries = 0
  readonly #createdAt: number
  readonly #hash = createHash('sha256')
  readonly #counts = new Map(partitions.map((name) => [name, { entries: 0, bytes: 0 }]))
  #partition: PartitionName = partitions[0]!
  #block = Buffer.allocUnsafeSlow(blockHeaderBytes + maxBlockBytes)
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

  /** The blocks that are full by this entry; each is the caller's. Partitions come in their order. */
  *add(partition: PartitionName, { key, value }: Entry): Generator<Buffer> {
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
    this.#block.writeUInt32LE(key.length, this.#end)
    this.#block.writeUInt32LE(value.length, this.#end + 4)
    this.#end += entryHeaderBytes
    this.#block.set(key, this.#end)
    this.#end += key.length
    // What is longer than a block goes on in the next.
    for (let at = 0; ;) {
      const fits = Math.min(value.length - at, maxBlockBytes - this.#filled)
      this.#block.set(value.subarray(at, at + fits), this.#end)
      this.#end += fits
      at += fits
      if (at === value.length) break
      yield* this.flush()
    }
    if (this.#filled >= blockBytes) yield* this.flush()
  }

  /** Ends the block that is filling. */
  *flush(): Generator<Buffer> {
    if (this.#filled === 0) return
    const block = this.#block.subarray(0, this.#end)
    block.writeUInt8(blockKind, 0)
    block.writeUInt8(partitions.indexOf(this.#partition) + 1, 1)
    block.writeUInt16LE(0, 2)
    block.writeUInt32LE(this.#filled, 4)
    const sum = crc32(block.subarray(blockHeaderBytes), crc32(block.subarray(0, 8)))
    block.writeUInt32LE(sum, 8)
    this.#block = Buffer.allocUnsafeSlow(blockHeaderBytes + maxBlockBytes)
    this.#end = blockHeaderBytes
    yield this.#counted(block)
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

  get #filled(): number {
    return this.#end - blockHeaderBytes
  }

  #counted(bytes: Buffer): Buffer {
    this.#hash.update(bytes)
    this.bytes += bytes.length
    return bytes
  }
}
