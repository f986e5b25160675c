// What a record has to be before anything is made of it: its bytes may be those of something else.

import type { PartRecord } from '../graph/index/layout.js'
import { decodeRecord } from '../record.js'
import { isCount, isKeyText } from '../verify/shapes.js'
import type { CoreRecord, IndexRecord, SegmentRecord } from './records.js'
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

export function isIndexRecord({ id, to, sourceBytes, parts }: IndexRecord): boolean {
  return (
    isKeyText(id) &&
    isCount(to) &&
    isCount(sourceBytes) &&
    Array.isArray(parts) &&
    parts.every(
      (part: PartRecord) =>
        [part.terms, part.termWords, part.triples, part.memberships].every(isCount) &&
        Number.isSafeInteger(part.collection) &&
        (part.values === undefined || [part.values.numbers, part.values.moments].every(isCount)) &&
        (part.graphs === undefined || [part.graphs.names, part.graphs.rows].every(isCount)) &&
        Array.isArray(part.vectors) &&
        part.vectors.every((file) => [file.dimensions, file.count, file.links].every(isCount)),
    )
  )
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
