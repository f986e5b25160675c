// Reads a backup that comes in any pieces. Nothing is given out before its checksum was right, and
// nothing that the bytes claim is believed, or makes room, before the bytes themselves are there.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { LorekeepError } from '../errors.js'
import type { Entry, PartitionName } from '../storage.js'
import {
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
import { markerKey } from './marker.js'
import type { BackupSummary, PartitionCounts } from './types.js'

/** Entries of one partition, in the order of their keys. */
export interface DecodedBlock {
  readonly partition: PartitionName
  readonly entries: readonly Entry[]
}

type Part = 'header' | 'start' | 'block' | 'content' | 'trailer' | 'end'

/** The lengths of parts that have one. `start` is the first byte of a block or of the trailer. */
const lengths = { header: headerBytes, start: 1, block: blockHeaderBytes, trailer: trailerBytes }

/** What a backup is often piped through, by the name of the command. */
const compressions = [
  { name: 'zstd', magic: Buffer.of(0x28, 0xb5, 0x2f, 0xfd) },
  { name: 'gzip', magic: Buffer.of(0x1f, 0x8b) },
  { name: 'xz', magic: Buffer.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00) },
]

export class BackupDecoder {
  bytes = 0
  entries = 0
  readonly #hash = createHash('sha256')
  readonly #counts = new Map(partitions.map((name) => [name, { entries: 0, bytes: 0 }]))
  #part: Part = 'header'
  /** For all parts but the content of blocks, whose entries are views of a buffer of its own. */
  readonly #heads = Buffer.allocUnsafeSlow(trailerBytes)
  /** The part that is being put together. */
  #buffer = this.#heads
  #filled = 0
  #length = headerBytes
  #partition = 0
  #checksum = 0
  #headSum = 0
  #lastKey: Uint8Array | undefined
  #open: OpenEntry | undefined
  #createdAt = 0
  #summary: BackupSummary | undefined;

  /** The blocks that end in these bytes; their entries are the caller's. @throws LorekeepError */
  *push(bytes: Uint8Array): Generator<DecodedBlock> {
    for (let at = 0; at < bytes.length;) {
      if (this.#part === 'end') throw damaged(this.bytes, 'there are bytes after its end')
      const fits = Math.min(bytes.length - at, this.#length - this.#filled)
      this.#buffer.set(bytes.subarray(at, at + fits), this.#filled)
      at += fits
      this.#filled += fits
      this.bytes += fits
      // What is no backup is told from one that is damaged by its first bytes, however few they are.
      if (this.#part === 'header') this.#checkMagic()
      if (this.#filled < this.#length) continue
      const block = this.#take()
      if (block !== undefined) yield block
    }
  }

  /** To be called after the last byte. @throws LorekeepError where that was not the end */
  finish(): BackupSummary {
    if (this.#summary !== undefined) return this.#summary
    if (this.bytes === 0) throw new LorekeepError('LK_BACKUP_FORMAT', 'it is empty')
    throw damaged(this.bytes, 'it ends there, and was cut')
  }

  #take(): DecodedBlock | undefined {
    const part = this.#buffer.subarray(0, this.#length)
    switch (this.#part) {
      case 'header':
        this.#readHeader(part)
        this.#hash.update(part)
        this.#expect('start')
        return undefined
      case 'start':
        if (part[0] !== blockKind && part[0] !== trailerKind) {
          throw damaged(this.bytes, 'neither a block nor the end begins there')
        }
        // The byte is the first one of what comes.
        this.#expect(part[0] === blockKind ? 'block' : 'trailer', part[0])
        return undefined
      case 'block':
        this.#readBlockHeader(part)
        this.#hash.update(part)
        this.#part = 'content'
        this.#length = part.readUInt32LE(4)
        // Of the length that it has at most: a new one, because entries are views of it.
        this.#buffer = Buffer.allocUnsafeSlow(this.#length)
        this.#filled = 0
        return undefined
      case 'content': {
        if (crc32(part, this.#headSum) !== this.#checksum) {
          throw damaged(this.bytes, 'the checksum of the block that ends there is wrong')
        }
        this.#hash.update(part)
        const block = {
          partition: partitions[this.#partition - 1]!,
          entries: this.#entriesOf(part),
        }
        this.#expect('start')
        return block
      }
      default:
        this.#readTrailer(part)
        this.#part = 'end'
        return undefined
    }
  }

  #expect(part: 'start' | 'block' | 'trailer', first?: number): void {
    this.#part = part
    this.#length = lengths[part]
    this.#buffer = this.#heads
    this.#filled = 0
    if (first !== undefined) this.#buffer[this.#filled++] = first
  }

  #checkMagic(): void {
    const length = Math.min(this.#filled, magic.length)
    if (magic.compare(this.#buffer, 0, length, 0, length) === 0) return
    const begin = this.#buffer.subarray(0, this.#filled)
    const looksLike = compressions.find(({ magic }) => {
      return begin.subarray(0, magic.length).equals(magic)
    })?.name
    if (looksLike === undefined) {
      throw new LorekeepError('LK_BACKUP_FORMAT', 'it does not begin as one')
    }
    const detail = `it looks compressed: decompress it first, with ${looksLike} -dc FILE | lorekeep restore - DIR`
    throw new LorekeepError('LK_BACKUP_FORMAT', detail, { details: { looksLike } })
  }

  #readHeader(header: Buffer): void {
    if (crc32(header.subarray(0, 20)) !== header.readUInt32LE(20)) {
      throw damaged(this.bytes, 'the checksum of its head is wrong')
    }
    const found = header.readUInt32LE(8)
    if (found !== version) {
      const detail = `it is of version ${found}, and this program reads version ${version}`
      throw new LorekeepError('LK_BACKUP_FORMAT', detail, { details: { version: found } })
    }
    this.#createdAt = header.readDoubleLE(12)
    // What a Date takes.
    if (!(Math.abs(this.#createdAt) <= 8.64e15)) throw damaged(this.bytes, 'its time is none')
  }

  #readBlockHeader(header: Buffer): void {
    const partition = header[1]!
    const length = header.readUInt32LE(4)
    const isSound =
      partition >= Math.max(1, this.#partition) &&
      partition <= partitions.length &&
      header.readUInt16LE(2) === 0 &&
      length > 0 &&
      length <= maxBlockBytes
    if (!isSound) throw damaged(this.bytes, 'no block has the head that ends there')
    if (partition !== this.#partition) {
      this.#assertNothingOpen()
      this.#lastKey = undefined
    }
    this.#partition = partition
    this.#checksum = header.readUInt32LE(8)
    this.#headSum = crc32(header.subarray(0, 8))
  }

  #entriesOf(content: Buffer): Entry[] {
    const found: Entry[] = []
    let at = 0
    if (this.#open !== undefined) {
      at = this.#open.take(content, 0)
      this.#closeEntry(found)
    }
    while (at < content.length) {
      if (content.length - at < entryHeaderBytes) throw this.#badEntry()
      const keyLength = content.readUInt32LE(at)
      const valueLength = content.readUInt32LE(at + 4)
      at += entryHeaderBytes
      if (keyLength === 0 || keyLength > Math.min(maxKeyBytes, content.length - at)) {
        throw this.#badEntry()
      }
      const key = plain(content, at, at + keyLength)
      at += keyLength
      // The mark of a restore under way is nothing to restore.
      if (Buffer.compare(key, markerKey) === 0) throw this.#badEntry()
      if (this.#lastKey !== undefined && Buffer.compare(this.#lastKey, key) >= 0) {
        throw damaged(this.bytes, 'keys are not in their order in the block that ends there')
      }
      this.#lastKey = key
      if (valueLength <= content.length - at) {
        this.#count(key.length + valueLength)
        found.push({ key, value: plain(content, at, at + valueLength) })
        at += valueLength
      } else {
        this.#open = new OpenEntry(key, valueLength)
        at = this.#open.take(content, at)
      }
    }
    // A key is kept for the next block, and would keep all of this one.
    if (this.#lastKey !== undefined) this.#lastKey = new Uint8Array(this.#lastKey)
    return found
  }

  #closeEntry(found: Entry[]): void {
    const entry = this.#open?.whole()
    if (entry === undefined) return
    this.#open = undefined
    this.#count(entry.key.length + entry.value.length)
    found.push(entry)
  }

  #count(bytes: number): void {
    const counts = this.#counts.get(partitions[this.#partition - 1]!)!
    counts.entries++
    counts.bytes += bytes
    this.entries++
  }

  #readTrailer(trailer: Buffer): void {
    this.#assertNothingOpen()
    const digest = trailer.subarray(trailerBytes - digestBytes)
    const rest = trailer.subarray(0, trailerBytes - digestBytes)
    if (!this.#hash.update(rest).digest().equals(digest)) {
      throw damaged(this.bytes, 'its digest is not that of its bytes')
    }
    let at = 8
    const isZero = rest.subarray(1, at).every((byte) => byte === 0)
    for (const name of partitions) {
      const { entries, bytes } = this.#counts.get(name)!
      const isSame =
        rest.readBigUInt64LE(at) === BigInt(entries) &&
        rest.readBigUInt64LE(at + 8) === BigInt(bytes)
      if (!isSame || !isZero) throw damaged(this.bytes, 'it does not hold what its end says')
      at += 16
    }
    this.#summary = {
      bytes: this.bytes,
      entries: this.entries,
      partitions: Object.fromEntries(this.#counts) as Record<PartitionName, PartitionCounts>,
      createdAt: new Date(this.#createdAt).toISOString(),
      digest: digest.toString('hex'),
    }
  }

  #assertNothingOpen(): void {
    if (this.#open !== undefined) throw this.#badEntry()
  }

  #badEntry(): LorekeepError {
    return damaged(this.bytes, 'an entry does not end where it should')
  }
}

/** An entry that goes on in the next block. */
class OpenEntry {
  readonly #key: Uint8Array
  readonly #length: number
  /** As they come: the length that it claims makes no room. */
  readonly #pieces: Buffer[] = []
  #bytes = 0

  constructor(key: Uint8Array, length: number) {
    this.#key = new Uint8Array(key)
    this.#length = length
  }

  /** Takes what is its own of a block, from `at` on; gives where that ends. */
  take(content: Buffer, at: number): number {
    const piece = content.subarray(at, at + this.#length - this.#bytes)
    this.#pieces.push(piece)
    this.#bytes += piece.length
    return at + piece.length
  }

  whole(): Entry | undefined {
    if (this.#bytes < this.#length) return undefined
    const value = Buffer.concat(this.#pieces, this.#bytes)
    return { key: this.#key, value: plain(value, 0, value.length) }
  }
}

function plain(bytes: Buffer, from: number, to: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from)
}

function damaged(at: number, what: string): LorekeepError {
  return new LorekeepError('LK_BACKUP_DAMAGED', `at byte ${at} ${what}`, { details: { at } })
}
