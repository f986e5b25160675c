// Reads a LevelDB table without LevelDB: block by block, each only where its checksum is right. Where
// the index of the blocks is damaged, the blocks are looked for by their checksums.

import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { crc32c, unmask, wordsOf } from './crc32c.js'
import { unpack } from './snappy.js'
import { VarintReader } from './varints.js'

/** One operation of LevelDB's: the newest on a key counts. */
export interface LevelOperation {
  readonly key: Uint8Array
  readonly sequence: number
  /** `undefined`: the key was deleted. */
  readonly value: Uint8Array | undefined
}

interface BlockPlace {
  readonly at: number
  readonly length: number
  /** No key in it is larger. */
  readonly last: Uint8Array
}

const footerBytes = 48
const magicBytes = 8
const trailerBytes = 5
const sequenceBytes = 8

/** Longer blocks are not looked for: LevelDB ends them at 4 KiB, or after one entry. */
const maxLookedFor = 256 * 1024

export class TableReader {
  readonly #path: string
  readonly #length: number | undefined
  #blocks: readonly BlockPlace[] | undefined
  #held: { readonly n: number; readonly operations: readonly LevelOperation[] } | undefined

  /** `length`: what the MANIFEST says of it. Whatever lies behind that is no part of it. */
  constructor(path: string, length?: number) {
    this.#path = path
    this.#length = length
  }

  /** The first key and a key that none is behind; `undefined` where nothing of it can be read. */
  async range(): Promise<{ first: Uint8Array; last: Uint8Array } | undefined> {
    const blocks = await this.#places()
    const last = blocks.at(-1)?.last
    for (let n = 0; n < blocks.length; n++) {
      const [operation] = await this.#block(n)
      if (operation !== undefined && last !== undefined) return { first: operation.key, last }
    }
    return undefined
  }

  /** The operations on keys from that one on, in the order of the keys, the newest of each first. */
  async *from(key: Uint8Array | undefined): AsyncGenerator<readonly LevelOperation[]> {
    const blocks = await this.#places()
    let n = 0
    if (key !== undefined) {
      let high = blocks.length
      while (n < high) {
        const middle = (n + high) >>> 1
        if (Buffer.compare((blocks[middle] as BlockPlace).last, key) < 0) n = middle + 1
        else high = middle
      }
    }
    for (; n < blocks.length; n++) {
      const operations = await this.#block(n)
      const wanted = key
        ? operations.filter((one) => Buffer.compare(one.key, key) >= 0)
        : operations
      if (wanted.length > 0) yield wanted
    }
  }

  /** Lets go of what is held of it. */
  forget(): void {
    this.#blocks = undefined
    this.#held = undefined
  }

  async #places(): Promise<readonly BlockPlace[]> {
    if (this.#blocks === undefined) {
      await using file = await open(this.#path, 'r')
      const size = Math.min((await file.stat()).size, this.#length ?? Infinity)
      this.#blocks = (await readIndex(file, size)) ?? (await lookForBlocks(file, size))
    }
    return this.#blocks
  }

  /** Nothing where it is damaged. */
  async #block(n: number): Promise<readonly LevelOperation[]> {
    if (this.#held?.n === n) return this.#held.operations
    const place = (await this.#places())[n] as BlockPlace
    await using file = await open(this.#path, 'r')
    const content = await readBlock(file, place)
    const operations = content === undefined ? [] : operationsIn(content)
    this.#held = { n, operations }
    return operations
  }
}

async function readIndex(file: FileHandle, size: number): Promise<BlockPlace[] | undefined> {
  try {
    const footer = await read(file, Math.max(0, size - footerBytes), Math.min(size, footerBytes))
    const handles = new VarintReader(footer.subarray(0, footer.length - magicBytes))
    handles.number()
    handles.number()
    const index = await readBlock(file, { at: handles.number(), length: handles.number() })
    if (index === undefined) return undefined
    return [...entriesIn(index)].map(({ key, value }) => {
      const handle = new VarintReader(value)
      return { at: handle.number(), length: handle.number(), last: userKeyOf(key) }
    })
  } catch {
    return undefined
  }
}

/** Data blocks lie one behind the other from the beginning; what is no data block is none of them. */
async function lookForBlocks(file: FileHandle, size: number): Promise<BlockPlace[]> {
  const bytes = await read(file, 0, size)
  const source = wordsOf(bytes)
  const blocks: BlockPlace[] = []
  for (let at = 0; at + trailerBytes < size;) {
    const limit = Math.min(size - trailerBytes, at + maxLookedFor)
    let length = 0
    // The byte behind a block says how it is compressed, and the checksum follows.
    for (let end = at + 4; end <= limit && length === 0; end++) {
      const kind = bytes[end]
      if (kind !== 0 && kind !== 1) continue
      const stored = new DataView(bytes.buffer, bytes.byteOffset + end + 1, 4).getUint32(0, true)
      if (crc32c(source, at, end + 1) === unmask(stored)) length = end - at
    }
    // What lies behind a second damage is lost: to look for it from every byte takes hours.
    if (length === 0) break
    try {
      const content = bytes.subarray(at, at + length)
      const plain = bytes[at + length] === 1 ? unpack(content) : content
      const last = operationsIn(plain).at(-1)
      if (last !== undefined) blocks.push({ at, length, last: last.key })
    } catch {
      // The filter, or the names of other blocks.
    }
    at += length + trailerBytes
  }
  return blocks
}

/** `undefined` where its checksum does not match. */
async function readBlock(
  file: FileHandle,
  { at, length }: Pick<BlockPlace, 'at' | 'length'>,
): Promise<Uint8Array | undefined> {
  const bytes = await read(file, at, length + trailerBytes)
  if (bytes.length < length + trailerBytes) return undefined
  const stored = new DataView(bytes.buffer, bytes.byteOffset + length + 1, 4).getUint32(0, true)
  if (crc32c(wordsOf(bytes), 0, length + 1) !== unmask(stored)) return undefined
  const content = bytes.subarray(0, length)
  return bytes[length] === 1 ? unpack(content) : content
}

async function read(file: FileHandle, at: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, at + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes.subarray(0, done)
}

function* entriesIn(block: Uint8Array): Generator<{ key: Uint8Array; value: Uint8Array }> {
  const view = new DataView(block.buffer, block.byteOffset, block.length)
  const restarts = view.getUint32(block.length - 4, true)
  const reader = new VarintReader(block.subarray(0, block.length - 4 * (restarts + 1)))
  let key = new Uint8Array(0)
  while (!reader.done) {
    const shared = reader.number()
    const own = reader.number()
    const length = reader.number()
    const next = new Uint8Array(shared + own)
    if (shared > key.length) throw new RangeError('a key that shares what is not there')
    next.set(key.subarray(0, shared))
    next.set(reader.take(own), shared)
    key = next
    yield { key, value: reader.take(length) }
  }
}

function operationsIn(block: Uint8Array): readonly LevelOperation[] {
  return Array.from(entriesIn(block), ({ key, value }) => {
    const from = key.length - sequenceBytes
    if (from < 0) throw new RangeError('a key without the number of its operation')
    const tail = new DataView(key.buffer, key.byteOffset + from, sequenceBytes).getBigUint64(
      0,
      true,
    )
    const isDeleted = (tail & 0xffn) === 0n
    return {
      key: userKeyOf(key),
      sequence: Number(tail >> 8n),
      value: isDeleted ? undefined : value,
    }
  })
}

/** A key of ours is followed by the number and the kind of its operation. */
function userKeyOf(key: Uint8Array): Uint8Array {
  return key.subarray(0, key.length - sequenceBytes)
}
