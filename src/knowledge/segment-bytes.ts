// Where the bytes of a segment lie: in slices, or, where they are few, in one value beside its record.
// Texts that go through flows make thousands of segments of 5 to 60 KB: such a value goes with the
// commit, in one durable write instead of three, and deflated it has about a tenth of the bytes.

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { LorekeepError } from '../errors.js'
import type { Storage } from '../storage.js'
import { sliceKey, smallKey, type SegmentRecord } from './records.js'
import { sliceBytes } from './segment-writer.js'

/** The most bytes of a small segment, as they are stored: longer values would weigh on the records' tree. */
export const maxSmallBytes = 64 * 1024

/**
 * Fewer are not worth it: deflating takes 40 us at least, of the 310 that an import of 2 kB takes of this thread, and
 * LevelDB packs what it writes to its tables with Snappy.
 */
const fewestDeflated = 4096

/** Higher levels save a tenth to a quarter of what is stored, and take up to three times as long. */
const level = 1

/** Of more than so many a piece is tried first; a whole deflates up to that much better. */
const fewestSampled = 32 * 1024
const sampleBytes = 8 * 1024
const allowance = 1.5

/** A segment's bytes as they are stored inline. */
export interface SmallBytes {
  readonly inline: NonNullable<SegmentRecord['inline']>
  readonly stored: Uint8Array
  /** As they were given. */
  readonly content: Uint8Array
}

/** What both partitions are to a reader of segments. */
export interface SegmentPlaces {
  readonly cores: Pick<Storage, 'get'>
  readonly slices: Pick<Storage, 'get'>
}

/** Which segment it is, and what its record says. */
export interface PlacedSegment {
  readonly generation: string
  readonly n: number
  readonly segment: SegmentRecord
}

/**
 * The bytes of a whole segment as they are stored inline: deflated where that takes half of them or
 * less, else as they are. `undefined` where that is too much. What is given may be `bytes` itself.
 */
export function smallOf(bytes: Uint8Array): SmallBytes | undefined {
  const deflated = bytes.length < fewestDeflated ? undefined : deflate(bytes)
  if (deflated !== undefined) return { inline: 'deflated', stored: deflated, content: bytes }
  if (bytes.length > maxSmallBytes) return undefined
  return { inline: 'plain', stored: bytes, content: bytes }
}

/** `undefined` where it does not become small. */
function deflate(bytes: Uint8Array): Uint8Array | undefined {
  const most = Math.min(maxSmallBytes, Math.floor(bytes.length / 2))
  if (bytes.length > fewestSampled) {
    // Vectors do not deflate: 830 KB of them took 2.4 ms of nothing but finding that out.
    const at = (bytes.length - sampleBytes) >>> 1
    const enough = Math.ceil((allowance * sampleBytes * most) / bytes.length)
    if (deflateTo(enough, bytes.subarray(at, at + sampleBytes)) === undefined) return undefined
  }
  return deflateTo(most, bytes)
}

/** `undefined` where it becomes more than that. */
function deflateTo(most: number, bytes: Uint8Array): Uint8Array | undefined {
  try {
    // One byte more than it may have: what fills that has ended there, and not behind the whole MiB.
    return deflateRawSync(bytes, { level, maxOutputLength: most, chunkSize: most + 1 })
  } catch (error) {
    if (isTooLarge(error)) return undefined
    throw error
  }
}

/**
 * The bytes of a segment from those that are stored inline.
 * @throws LorekeepError `LK_STORAGE_CORRUPT` where they do not come to what its record says
 */
export function bytesOf(
  { inline, bytes }: Pick<SegmentRecord, 'inline' | 'bytes'>,
  stored: Uint8Array,
): Uint8Array {
  // The record may be damaged as well.
  if (bytes > sliceBytes) throw damaged(`a segment of ${bytes} bytes cannot lie inline`)
  const found = unpacked(inline, stored, bytes)
  if (found.length === bytes) return found
  throw damaged(`${found.length} bytes of a segment of ${bytes} are stored inline`)
}

/** @throws LorekeepError `LK_STORAGE_CORRUPT` where that are no bytes, or more than `most` */
export function unpacked(
  inline: SegmentRecord['inline'],
  stored: Uint8Array,
  most = sliceBytes,
): Uint8Array {
  if (inline !== 'deflated') return stored
  try {
    return inflateRawSync(stored, { maxOutputLength: most, chunkSize: Math.max(64, most + 1) })
  } catch (cause) {
    throw damaged(`what is stored inline does not inflate to the ${most} bytes of a segment`, cause)
  }
}

/** How many values it consists of. */
export function piecesOf({ inline, slices }: Pick<SegmentRecord, 'inline' | 'slices'>): number {
  return inline === undefined ? slices : 1
}

/**
 * One of a segment's values, its bytes as they were imported; `undefined` where it is not there.
 * @throws LorekeepError `LK_STORAGE_CORRUPT`, which knows of no core
 */
export async function readPiece(
  { cores, slices }: SegmentPlaces,
  { generation, n, segment }: PlacedSegment,
  piece: number,
): Promise<Uint8Array | undefined> {
  if (segment.inline === undefined) return slices.get(sliceKey(segment.id, piece))
  const stored = await cores.get(smallKey(generation, n))
  return stored && bytesOf(segment, stored)
}

/**
 * The bytes of a segment, from its first value to its last.
 * @throws LorekeepError `LK_STORAGE_CORRUPT`, which knows of no core, also where a value is missing
 */
export async function* segmentSlices(
  places: SegmentPlaces,
  placed: PlacedSegment,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let piece = 0; piece < piecesOf(placed.segment); piece++) {
    const slice = await readPiece(places, placed, piece)
    if (slice === undefined) throw damaged('a slice of a segment is missing')
    yield slice
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
}

function damaged(detail: string, cause?: unknown): LorekeepError {
  return new LorekeepError('LK_STORAGE_CORRUPT', detail, cause === undefined ? {} : { cause })
}
