// The keys and records of the `cores` and `slices` partitions. docs/format.md says who writes and
// who deletes each kind.

import { randomBytes } from 'node:crypto'
import { LorekeepError } from '../errors.js'
import { encodeKey, keyPrefix } from '../keys.js'
import type { PartRecord } from '../graph/index/layout.js'
import type { CoreCounts, CoreRef, CoreStat } from './types.js'

/** The newest state of a core: its generation names the segments that belong to it. */
export interface CoreRecord extends CoreStat {
  readonly generation: string
}

/** What one import brought: `slices` values under slice keys of `id`, and their counts. */
export interface SegmentRecord extends CoreCounts {
  readonly id: string
  readonly slices: number
  readonly digest: string
  readonly createdAt: string
}

/** The index of the segments from the number in its key up to `to`. */
export interface IndexRecord {
  /** What its blocks are stored under. */
  readonly id: string
  readonly to: number
  /** Of the segments. */
  readonly sourceBytes: number
  readonly parts: readonly PartRecord[]
}

/** A segment, or an index, that no core names yet: being imported, or left to be deleted. */
export interface StagedRecord {
  readonly state: 'importing' | 'discarded'
}

// cores
export const coreKey = ({ user, id }: CoreRef) => encodeKey('core', user, id)
export const coresOf = (user: string) => keyPrefix('core', user)
export const segmentKey = (generation: string, index: number) =>
  encodeKey('segment', generation, index)
export const segmentsOf = (generation: string) => keyPrefix('segment', generation)
export const contentKey = (generation: string, digest: string) =>
  encodeKey('content', generation, digest)
export const contentsOf = (generation: string) => keyPrefix('content', generation)
export const indexKey = (generation: string, from: number) => encodeKey('index', generation, from)
export const indexesOf = (generation: string) => keyPrefix('index', generation)
export const stagedKey = (segment: string) => encodeKey('staged', segment)
export const allStaged = () => keyPrefix('staged')
export const garbageKey = (generation: string) => encodeKey('garbage', generation)
export const allGarbage = () => keyPrefix('garbage')
export const formatKey = () => encodeKey('format')

// slices
export const sliceKey = (segment: string, index: number) => encodeKey(segment, index)
/** Also of an index, by its id. */
export const slicesOf = (segment: string) => keyPrefix(segment)

/**
 * A name that no other process makes: milliseconds, then 80 random bits. Later ones sort later,
 * so that an LSM tree gets the slices of an import in order and never has to merge them.
 */
export function createId(now: number): string {
  return now.toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
}

/** @throws LorekeepError `LK_CORE_REF` where the name cannot be one, TypeError where there is none */
export function checkRef(ref: CoreRef): CoreRef {
  if (typeof ref !== 'object' || ref === null) throw new TypeError('a core is named { user, id }')
  return { user: checkName('user', ref.user), id: checkName('id', ref.id) }
}

/** @throws LorekeepError `LK_CORE_REF` */
export function checkName(field: 'user' | 'id', value: unknown): string {
  const fail = (found: string): never => {
    throw new LorekeepError('LK_CORE_REF', `'${field}' ${found}`, { details: { field } })
  }
  if (typeof value !== 'string') return fail(`must be a string, not ${typeof value}`)
  if (value === '') return fail('is empty')
  if (!value.isWellFormed()) return fail('holds a lone surrogate')
  const bytes = Buffer.byteLength(value, 'utf8')
  if (bytes > 1024) return fail(`has ${bytes} bytes; at most 1024 are accepted`)
  return value
}
