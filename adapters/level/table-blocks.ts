// Whether a table file is what LevelDB wrote. It has a checksum behind each block and does not look
// at it when it reads: a key that was damaged makes an entry look absent, or an older one come back,
// and the next compaction writes that into a new table with a new checksum.

import { crc32c, unmask, wordsOf } from './crc32c.js'
import type { Words } from './crc32c.js'
import { unpack } from './snappy.js'
import { VarintReader } from './varints.js'

const footerBytes = 48
const magicBytes = 8
const magic = Buffer.from('57fb808b247547db', 'hex')
/** A byte for the compression and the masked checksum. */
const trailerBytes = 5

/** What is wrong with a table, and where; `undefined` of a whole one. */
export function tableDamage(file: Uint8Array): { at: number; reason: string } | undefined {
  const footer = file.length - footerBytes
  if (footer < 0) return { at: 0, reason: 'shorter than the end of a table' }
  const source = wordsOf(file)
  let at = footer
  try {
    if (Buffer.compare(magic, file.subarray(file.length - magicBytes)) !== 0) {
      return { at: file.length - magicBytes, reason: 'not the end of a table' }
    }
    const handles = new VarintReader(file.subarray(0, file.length - magicBytes), footer)
    const meta = handleFrom(handles)
    const index = handleFrom(handles)
    // Zeros fill it up. LevelDB does not look at them, but they are what it wrote.
    while (!handles.done) {
      at = handles.at
      if (handles.take(1)[0] !== 0) return { at, reason: 'not the end of a table' }
    }
    let end = 0
    for (const block of [index, meta]) {
      at = block.at
      if (!isWhole(source, block, footer)) return damagedBlock(at)
    }
    // Nothing lies between them: each byte is looked at. The other index names the filter, whose
    // damage would make keys look absent.
    for (const block of [...blocksOf(file, index), ...blocksOf(file, meta), meta, index]) {
      at = block.at
      if (block.at !== end || !isWhole(source, block, footer)) return damagedBlock(end)
      end = block.at + block.length + trailerBytes
    }
    return end === footer ? undefined : damagedBlock(end)
  } catch (error) {
    return { at, reason: (error as Error).message }
  }
}

const damagedBlock = (at: number) => ({ at, reason: 'a block whose checksum does not match' })

interface Handle {
  readonly at: number
  readonly length: number
}

function handleFrom(reader: VarintReader): Handle {
  return { at: reader.number(), length: reader.number() }
}

function isWhole(source: Words, { at, length }: Handle, limit: number): boolean {
  const end = at + length
  if (end + trailerBytes > limit) return false
  const { bytes } = source
  const stored =
    bytes[end + 1]! | (bytes[end + 2]! << 8) | (bytes[end + 3]! << 16) | (bytes[end + 4]! << 24)
  return crc32c(source, at, end + 1) === unmask(stored >>> 0)
}

/** The blocks that an index names, in its order. */
function* blocksOf(file: Uint8Array, { at, length }: Handle): Generator<Handle> {
  const stored = file.subarray(at, at + length)
  const index = file[at + length] === 1 ? unpack(stored) : stored
  const view = new DataView(index.buffer, index.byteOffset, index.length)
  // Behind the entries lie the places where keys are whole, and how many those are.
  const restarts = view.getUint32(index.length - 4, true)
  const entries = new VarintReader(index.subarray(0, index.length - 4 * (restarts + 1)))
  while (!entries.done) {
    // What the key shares with the one before.
    entries.number()
    const keyBytes = entries.number()
    const valueBytes = entries.number()
    entries.take(keyBytes)
    yield handleFrom(new VarintReader(entries.take(valueBytes)))
  }
}
