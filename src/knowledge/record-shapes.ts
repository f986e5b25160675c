// What a record has to be before anything is made of it: its bytes may be those of something else.

import type { PartName } from '../graph/index/keys.js'
import type { PartRecord, PassagesRecord, VectorRecord } from '../graph/index/layout.js'
import { decodeRecord } from '../record.js'
import { isCount, isKeyText } from '../verify/shapes.js'
import type { CoreRecord, LibraryRecord, SegmentRecord, WaitingRecord } from './records.js'
import { maxSmallBytes } from './segment-bytes.js'
import { sliceBytes } from './segment-writer.js'

export const countNames = ['bytes', 'messages', 'triples', 'entities', 'vectors'] as const

export function isCoreRecord(core: CoreRecord, user: string, id: string): boolean {
  return (
    core.user === user &&
    core.id === id &&
    isKeyText(core.generation) &&
    isCount(core.segments) &&
    countNames.every((name) => isCount(core[name])) &&
    isDigest(core.digest) &&
    isTime(core.createdAt) &&
    isTime(core.updatedAt)
  )
}

export function isSegmentRecord(segment: SegmentRecord): boolean {
  return (
    isKeyText(segment.id) &&
    isCount(segment.slices) &&
    countNames.every((name) => isCount(segment[name])) &&
    isDigest(segment.digest) &&
    isTime(segment.createdAt) &&
    liesSomewhere(segment)
  )
}

function liesSomewhere({ inline, slices, bytes }: SegmentRecord): boolean {
  if (inline === undefined) return slices === Math.ceil(bytes / sliceBytes)
  const most = inline === 'plain' ? maxSmallBytes : sliceBytes
  return ['deflated', 'plain'].includes(inline) && slices === 0 && bytes > 0 && bytes <= most
}

export function isLibraryRecord({ parts }: LibraryRecord): boolean {
  return Array.isArray(parts) && parts.every(isPartRecord)
}

function isPartRecord(part: PartRecord | null): boolean {
  if (part === null || !isKeyText(part.id) || !isCount(part.number)) return false
  const { values, vectors, passages } = part
  const hasOther = vectors !== undefined || passages !== undefined
  return (
    [part.terms, part.termWords, part.sources, part.places].every(isWord) &&
    [part.triples, part.lists, part.placeRows].every(isWord) &&
    typeof part.hasGraphs === 'boolean' &&
    (values === undefined || (values !== null && [values.numbers, values.moments].every(isWord))) &&
    part.triples > 0 !== hasOther &&
    (vectors === undefined || isVectorRecord(vectors)) &&
    (passages === undefined || (vectors === undefined && isPassagesRecord(passages)))
  )
}

function isVectorRecord(vectors: VectorRecord | null): boolean {
  if (vectors === null) return false
  const { dimensions, count, links } = vectors
  return [dimensions, count, links].every(isWord) && dimensions > 0
}

function isPassagesRecord(passages: PassagesRecord | null): boolean {
  if (passages === null) return false
  const { count, words, wordBytes, listBytes, lengths } = passages
  if (typeof lengths !== 'object' || (lengths as object | null) === null) return false
  const { title, heading, text } = lengths
  const areWords = [count, words, wordBytes, listBytes].every(isWord)
  return areWords && count > 0 && [title, heading, text].every(isCount)
}

/** What a part counts fits into the words of its files. Larger numbers would make many keys to look for. */
function isWord(value: unknown): boolean {
  return isCount(value) && value < 2 ** 32
}

/** The names of parts, also of a record of which more is wrong. */
export function partNamesIn({ parts }: LibraryRecord): readonly PartName[] {
  if (!Array.isArray(parts)) return []
  return (parts as readonly (Partial<PartName> | null)[]).flatMap((part) =>
    isKeyText(part?.id) && isCount(part.number) ? [{ id: part.id, number: part.number }] : [],
  )
}

export function isWaitingRecord({ core, bytes, isSoon }: WaitingRecord): boolean {
  return typeof core === 'string' && isCount(bytes) && typeof isSoon === 'boolean'
}

/** A field of a record that is told elsewhere where it is none. */
export function fieldOf(value: Uint8Array, name: string): string | undefined {
  try {
    const field = decodeRecord<Record<string, unknown>>(value)[name]
    return typeof field === 'string' ? field : undefined
  } catch {
    return undefined
  }
}

function isDigest(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}
