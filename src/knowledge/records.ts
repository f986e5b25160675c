// The keys and records of the `cores` and `slices` partitions. docs/format.md says who writes and
// who deletes each kind.

import { randomFillSync } from 'node:crypto'
import { decodeKey, encodeKey, keyPrefix } from '../keys.js'
import type { PartName } from '../graph/index/keys.js'
import type { PartRecord } from '../graph/index/layout.js'
import type { Range } from '../storage.js'
import type { CoreCounts, CoreRef, CoreStat } from './types.js'
import { checkArgument } from '../door/options.js'
import { Problems } from '../door/problems.js'
import { aRule, wrongName } from '../door/rules.js'
import { isRecord } from '../door/wording.js'

/** What the partition `cores` is written in. Data of another version is refused. */
export const formatVersion = 3

/** The newest state of a core: its generation names the segments that belong to it. */
export interface CoreRecord extends CoreStat {
  readonly generation: string
}

/** As callers see it. */
export function toStat({ generation: _, ...stat }: CoreRecord): CoreStat {
  return stat
}

/**
 * What one import brought, and its counts: `slices` values under slice keys of `id`, or one under the
 * small key of its place.
 */
export interface SegmentRecord extends CoreCounts {
  readonly id: string
  readonly slices: number
  /** How its bytes lie under its small key; then it has no slices. */
  readonly inline?: 'deflated' | 'plain' | undefined
  readonly digest: string
  readonly createdAt: string
}

/** The parts of the index of all that a user has. */
export interface LibraryRecord {
  readonly parts: readonly PartRecord[]
}

/** Of a segment that no part has yet: whose it is, and its length. */
export interface WaitingRecord {
  readonly core: string
  readonly bytes: number
  /** Whether it was asked to be indexed, or is so small that it is in any case: soon, and not by a question. */
  readonly isSoon: boolean
}

/** A segment, or parts, that no record names yet: being made, or left to be deleted. */
export interface StagedRecord {
  readonly state: 'importing' | 'discarded'
  /** Who makes it, of those who share the store. */
  readonly member?: string
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
export const libraryKey = (user: string) => encodeKey('library', user)
export const waitingKey = (user: string, generation: string, segment: number) =>
  encodeKey('waiting', user, generation, segment)
export const waitingOf = (user: string) => keyPrefix('waiting', user)
export const allWaiting = () => keyPrefix('waiting')
export const retiredKey = (user: string, generation: string) =>
  encodeKey('retired', user, generation)
export const retiredOf = (user: string) => keyPrefix('retired', user)
export const waitingIn = (user: string, generation: string) =>
  keyPrefix('waiting', user, generation)
/** That somebody changed what a user has, by the slots of those who share the store. */
export const tickKey = (user: string, slot: number, kind: number) =>
  encodeKey('tick', user, slot, kind)
export const ticksOf = (user: string) => keyPrefix('tick', user)
export const allTicks = () => keyPrefix('tick')
export const slotKey = (slot: number) => encodeKey('slot', slot)
export const slots = () => keyPrefix('slot')
export const libraries = () => keyPrefix('library')
/** Of a segment, or of all parts that a work makes. */
export const stagedKey = (id: string) => encodeKey('staged', id)
export const allStaged = () => keyPrefix('staged')
export const garbageKey = (generation: string) => encodeKey('garbage', generation)
export const allGarbage = () => keyPrefix('garbage')
/** Of a part that no library has any more. */
export const garbagePartKey = ({ id, number }: PartName) => encodeKey('garbage-part', id, number)
export const allGarbageParts = () => keyPrefix('garbage-part')
export const formatKey = () => encodeKey('format')

// slices
export const sliceKey = (segment: string, index: number) => encodeKey(segment, index)
/** Also of parts of an index, by what they were made under. */
export const slicesOf = (segment: string) => keyPrefix(segment)
export const blocksOfPart = ({ id, number }: PartName) => keyPrefix(id, number)

/** A part in words, as pins and what waits to be deleted have it. No id has a slash. */
export const partName = ({ id, number }: PartName) => `${id}/${number}`

/** What a record of something that is to be deleted is about, in words: an id, or a part. */
export function nameOfDiscarded(key: Uint8Array): string {
  return decodeKey(key).slice(1).join('/')
}

/** Where that record lies, and all values of what is named so. */
export function placesOfDiscarded(name: string): { record: Uint8Array; values: Range } {
  const [id = '', number] = name.split('/')
  if (number === undefined) return { record: stagedKey(id), values: slicesOf(id) }
  const part = { id, number: Number(number) }
  return { record: garbagePartKey(part), values: blocksOfPart(part) }
}

/**
 * A name that no other process makes: milliseconds, then 80 random bits. Later ones sort later,
 * so that an LSM tree gets the slices of an import in order and never has to merge them.
 */
export function createId(now: number): string {
  if (randomAt === random.length) {
    randomFillSync(random)
    randomAt = 0
  }
  const from = randomAt
  randomAt += randomBytesOfId
  return now.toString(16).padStart(12, '0') + random.toString('hex', from, randomAt)
}

// Drawn for many ids at once: each drawing takes 5 us, and a small import makes three ids.
const randomBytesOfId = 10
const random = Buffer.alloc(100 * randomBytesOfId)
let randomAt = random.length

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
