// The keys and records of the `cores` and `slices` partitions. docs/format.md says who writes and
// who deletes each kind.

import { randomBytes } from 'node:crypto'
import { decodeKey, encodeKey, keyPrefix } from '../keys.js'
import type { PartRecord } from '../graph/index/layout.js'
import type { CoreCounts, CoreRef, CoreStat } from './types.js'
import { checkArgument } from '../door/options.js'
import { Problems } from '../door/problems.js'
import { aRule, wrongName } from '../door/rules.js'
import { isRecord } from '../door/wording.js'

/** What the partition `cores` is written in. Data of another version is refused. */
export const formatVersion = 2

/** The newest state of a core: its generation names the segments that belong to it. */
export interface CoreRecord extends CoreStat {
  readonly generation: string
}

/**
 * What one import brought, and its counts: `slices` values under slice keys of `id`, or one under the
 * small key of its place.
 */
export interface SegmentRecord extends CoreCounts {
  readonly id: string
  readonly slices: number
  /** How its bytes lie under its small key; then it has no slices. */
  readonly inline?: 'deflated' | 'plain'
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
/** Which of its generation's segments a key is of. */
export const segmentAt = (key: Uint8Array) => decodeKey(key)[2] as number
export const segmentsOf = (generation: string) => keyPrefix('segment', generation)
export const smallKey = (generation: string, index: number) => encodeKey('small', generation, index)
export const smallsOf = (generation: string) => keyPrefix('small', generation)
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

const aRefOfCore = aRule<CoreRef>('named by an object { user, id }', isRecord)

/**
 * @throws LorekeepError `LK_CORE_REF` where a name cannot be one, with `details.errors`
 * @throws TypeError where there is no object of names
 */
export function checkRef(ref: CoreRef): CoreRef {
  // With other members, too: what list() gives names a core.
  checkArgument('a core', ref, aRefOfCore)
  const { user, id } = ref
  checkNames([
    ['user', user],
    ['id', id],
  ])
  return { user, id }
}

/** @throws LorekeepError `LK_CORE_REF` */
export function checkName(path: string, value: unknown): string {
  checkNames([[path, value]])
  return value as string
}

/** @throws LorekeepError `LK_CORE_REF` */
export function checkNames(names: Iterable<readonly [path: string, value: unknown]>): void {
  let problems: Problems | undefined
  for (const [path, value] of names) {
    const wrong = wrongName(value, maxNameBytes)
    if (wrong !== undefined) (problems ??= new Problems()).fail(path, wrong)
  }
  problems?.throwIfAny('LK_CORE_REF')
}

const maxNameBytes = 1024
