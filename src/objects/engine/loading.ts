// The newest state, from the storage: all of it, or by what others have changed since the one that is known.

import { readableNow } from '../../damage.js'
import { LorekeepError } from '../../errors.js'
import { memberKey } from '../../presence.js'
import { decodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import {
  allBlocks,
  allBuilding,
  allChanges,
  allCollections,
  allRetired,
  allRuns,
  allSchemas,
  buildingKey,
  changeKey,
  allHeads,
  commonKey,
  headKey,
  keptChanges,
  pagesOf,
  partsOf,
  runKey,
  type ChangeRecord,
  type HeadRecord,
  type LaneRecord,
  type RecordChange,
  type RetiredRecord,
} from './records.js'
import { laneCount, laneOf } from './lanes.js'
import { laneIn, type Head, type Heads, type State } from './state.js'
import { StateBuilder } from './state-builder.js'

export interface Loaded {
  readonly state: State
  /** Records, with their pages, that belong to no state: runs of indexes that nothing names. */
  readonly orphans: readonly Orphan[]
}

export interface Orphan {
  readonly key: Uint8Array
  readonly pages: readonly number[]
}

/**
 * Changes of a lane that are read together with its head: mostly others are not further ahead. Of one lane alone more,
 * for who has waited while others had their turns.
 */
const aheadOfAll = 8
const aheadOfOne = 128

/** `undefined` where nothing was ever written. @throws LorekeepError `LK_STORAGE_*` */
export async function loadState(storage: Storage): Promise<Loaded | undefined> {
  for (;;) {
    const heads = await readHeads(storage)
    if (heads === undefined) return undefined
    const loaded = await loadAround(storage, heads)
    if (loaded !== undefined) return loaded
  }
}

/** The state as it lay in the storage when it was asked for. */
export interface Look {
  /** Whether it is still the newest. */
  readonly isSame: boolean
  /** The newest, for whoever still knows the state that the look was about. */
  follow(): Promise<Followed>
}

export interface Followed {
  /** As of one moment. */
  readonly state: State
  /** What is known from now on, where commits of ours have come meanwhile; undefined where that cannot be told. */
  readonly onto: (known: State) => State | undefined
  /** It may be of another history, which gives the numbers of pages anew. */
  readonly isOther: boolean
}

/** A version of a lane that was made since. */
interface Made {
  readonly lane: number
  readonly version: number
  readonly changes: readonly RecordChange[]
  readonly after: readonly number[]
}

/**
 * One read tells whether others have changed something, and mostly what: in all lanes, or in one alone. Of one, too,
 * all lanes are followed where something has changed that concerns them.
 */
export async function lookBehind(storage: Storage, state: State, lane?: number): Promise<Look> {
  const { heads } = state
  const keys = [commonKey()]
  for (let n = 0; n < laneCount; n++) if (lane === undefined || n === lane) keys.push(headKey(n))
  const known = [0, ...heads.others.keys()].filter((n) => lane === undefined || n === lane)
  const most = lane === undefined ? aheadOfAll : aheadOfOne
  for (const n of known) {
    const { version } = laneIn(heads, n)
    for (let ahead = 1; ahead <= most; ahead++) keys.push(changeKey(version + ahead))
  }
  const values = await storage.getMany(keys)
  const read = new Map(keys.map((key, n) => [textOf(key), values[n]]))
  const common = read.get(textOf(commonKey()))
  const isCommon = isSame(common, heads.common)
  if (lane !== undefined && !isCommon) return lookBehind(storage, state)
  const main = lane === undefined || lane === 0 ? read.get(textOf(headKey())) : heads.main.bytes
  if (main === undefined) throw new LorekeepError('LK_STORAGE_CORRUPT', 'the head is gone')
  const others = new Map(heads.others)
  for (let n = 1; n < laneCount; n++) {
    if (lane !== undefined && lane !== n) continue
    const bytes = read.get(textOf(headKey(n)))
    if (bytes !== undefined) others.set(n, headFrom(bytes, heads.others.get(n)))
    // Of another history, where it had not been made.
    else others.delete(n)
  }
  const newest: Heads = { main: headFrom(main, heads.main), others, common }
  const isNewest = isCommon && newest.main === heads.main && isEach(others, heads.others)
  const follow = async (): Promise<Followed> => {
    const made = await changesBetween(storage, heads, newest, read)
    if (made !== undefined) {
      const onto = ontoOf(made, newest, state)
      return { state: applied(state, made, newest), onto, isOther: false }
    }
    const loaded = await loadState(storage)
    if (loaded === undefined) throw new LorekeepError('LK_STORAGE_CORRUPT', 'the head is gone')
    const { state: all } = loaded
    const onto = (current: State) => {
      if (current === state) return all
      const isBehind = lanesOf(current.heads).every(
        (n) => laneIn(current.heads, n).version <= laneIn(all.heads, n).version,
      )
      return isBehind ? all : undefined
    }
    return { state: all, onto, isOther: true }
  }
  return { isSame: isNewest, follow }
}

function ontoOf(made: readonly Made[], newest: Heads, base: State) {
  return (known: State): State => {
    const isAhead = (lane: number) =>
      laneIn(known.heads, lane).version > laneIn(newest, lane).version
    const kept = made.filter(({ lane, version }) => version > laneIn(known.heads, lane).version)
    if (known === base) return applied(base, made, newest)
    const others = new Map(newest.others)
    for (const [lane, head] of known.heads.others) if (isAhead(lane)) others.set(lane, head)
    const { main, common } = isAhead(0) ? known.heads : newest
    return applied(known, kept, { main, common, others })
  }
}

/** The state with what others have made. */
export function applied(
  state: State,
  made: readonly Pick<Made, 'lane' | 'changes'>[],
  heads: Heads,
): State {
  const builder = new StateBuilder(state)
  for (const { lane, changes } of made) {
    for (const change of changes) builder.apply(change, lane)
  }
  return builder.finish(heads)
}

/** In the order in which they were made; `undefined` where that is not written down. */
async function changesBetween(
  storage: Storage,
  from: Heads,
  to: Heads,
  read: ReadonlyMap<string, Uint8Array | undefined>,
): Promise<Made[] | undefined> {
  const versions: { lane: number; version: number }[] = []
  for (const lane of new Set([...lanesOf(from), ...lanesOf(to)])) {
    const [before, after] = [laneIn(from, lane), laneIn(to, lane)]
    const count = after.version - before.version
    if (count < 0 || count > keptChanges) return undefined
    if (count === 0 && before.token !== after.token) return undefined
    for (let n = 1; n <= count; n++) versions.push({ lane, version: before.version + n })
  }
  const unread = versions
    .map(({ version }) => changeKey(version))
    .filter((key) => !read.has(textOf(key)))
  const values = unread.length === 0 ? [] : await storage.getMany(unread)
  const more = new Map(unread.map((key, n) => [textOf(key), values[n]]))
  const lanes = new Map<number, Made[]>()
  const tokens = new Map(lanesOf(from).map((lane) => [lane, laneIn(from, lane).token]))
  for (const { lane, version } of versions) {
    const key = textOf(changeKey(version))
    const value = read.get(key) ?? more.get(key)
    // One that is damaged is as good as missing.
    const record = readableNow(() => value && decodeRecord<ChangeRecord>(value))
    if (record === undefined) return undefined
    const { before, token, changes, after = [] } = record
    // Of another history: after a fail-over that lost the end of this one.
    if (before !== (tokens.get(lane) ?? '')) return undefined
    tokens.set(lane, token)
    const made = lanes.get(lane) ?? []
    lanes.set(lane, made)
    made.push({ lane, version, changes, after })
  }
  for (const lane of lanes.keys()) {
    if (tokens.get(lane) !== laneIn(to, lane).token) return undefined
  }
  return inOrder(lanes)
}

/** Those of one lane come in their order; where one was made of all lanes, others come before it, or after. */
function inOrder(lanes: ReadonlyMap<number, readonly Made[]>): Made[] {
  const ordered: Made[] = []
  const at = new Map<number, number>()
  const take = (lane: number, upTo: number) => {
    const made = lanes.get(lane) ?? []
    let n = at.get(lane) ?? 0
    for (; n < made.length && (made[n] as Made).version <= upTo; n++) ordered.push(made[n] as Made)
    at.set(lane, n)
  }
  for (const made of lanes.get(0) ?? []) {
    for (const version of made.after) take(laneOf(version), version)
    ordered.push(made)
  }
  for (const lane of lanes.keys()) if (lane !== 0) take(lane, Infinity)
  return ordered
}

/** `undefined` where others have made versions meanwhile that cannot be followed. */
async function loadAround(storage: Storage, from: Heads): Promise<Loaded | undefined> {
  const builder = new StateBuilder()
  // The first pages of all are read at once.
  const kinds = {
    blocks: storage.scan(allBlocks()),
    run: storage.scan(allRuns()),
    schema: storage.scan(allSchemas()),
    collection: storage.scan(allCollections()),
    building: storage.scan(allBuilding()),
  }
  for (const [kind, pages] of Object.entries(kinds)) {
    for await (const page of pages) {
      for (const { key, value } of page) {
        const record = decodeRecord<{ readonly lane?: number }>(value)
        const change = [kind, ...partsOf(key), record] as unknown as RecordChange
        builder.apply(change, record.lane ?? 0)
      }
    }
  }
  // What was read is one version if nobody has made another one meanwhile, or with what they have changed.
  const to = await readHeads(storage)
  if (to === undefined) return undefined
  const made = await changesBetween(storage, from, to, new Map())
  if (made === undefined) return undefined
  for (const { lane, changes } of made) {
    for (const change of changes) builder.apply(change, lane)
  }
  const state = builder.finish(to)
  const orphans: Orphan[] = []
  for (const [index, run, record] of builder.unnamed()) {
    orphans.push({ key: runKey(index, run), pages: pagesOf(record) })
  }
  return { state, orphans }
}

/** All heads as of one moment; `undefined` where nothing was ever written. */
async function readHeads(storage: Storage): Promise<Heads | undefined> {
  let main: Head<HeadRecord> | undefined
  let common: Uint8Array | undefined
  const others = new Map<number, Head>()
  // They are one page.
  for await (const page of storage.scan(allHeads())) {
    for (const { key, value } of page) {
      const [lane] = partsOf(key)
      if (lane === undefined) main = headFrom(value)
      else if (lane === 0) common = value
      else others.set(Number(lane), headFrom(value))
    }
  }
  return main && { main, others, common }
}

function headFrom<Kind extends LaneRecord>(bytes: Uint8Array, known?: Head<Kind>): Head<Kind> {
  return known !== undefined && isSame(bytes, known.bytes)
    ? known
    : { record: decodeRecord<Kind>(bytes), bytes }
}

const lanesOf = ({ others }: Heads): number[] => [0, ...others.keys()]

function isEach(a: ReadonlyMap<number, Head>, b: ReadonlyMap<number, Head>): boolean {
  return a.size === b.size && [...a].every(([lane, head]) => b.get(lane) === head)
}

export function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return Buffer.compare(a, b) === 0
}

/** Equal where the keys are. */
const textOf = (key: Uint8Array): string => Buffer.from(key).toString('latin1')

/**
 * What is of no use where nobody else is: what others were to follow, and what readers needed; what was being built is
 * dropped, with what there is of it.
 */
export async function withoutOthers(storage: Storage, { state, orphans }: Loaded): Promise<Loaded> {
  const dropped = [...orphans]
  for await (const page of storage.scan(allRetired())) {
    for (const { key, value } of page) {
      dropped.push({ key, pages: decodeRecord<RetiredRecord>(value).pages })
    }
  }
  for await (const page of storage.scan({ ...allChanges(), keysOnly: true })) {
    for (const { key } of page) dropped.push({ key, pages: [] })
  }
  for (const [name, { indexes }] of state.building) {
    dropped.push({ key: buildingKey(name), pages: [] })
    for (const { number, runs } of indexes) {
      for (const { number: run, adds, dels } of runs) {
        dropped.push({ key: runKey(number, run), pages: [...adds.pages, ...dels.pages] })
      }
    }
  }
  return { state: { ...state, building: new Map() }, orphans: dropped }
}

/** Pages that one commit deletes for those who are gone, or some more: a record goes with all of its own. */
const maxLeft = 4096

/**
 * What was kept for the readers of processes that are gone, as far as the state has its versions: no more than one
 * commit deletes.
 */
export async function leftOfGone(storage: Storage, { heads }: State): Promise<Orphan[]> {
  const left: Orphan[] = []
  const members = new Map<string, boolean>()
  const isThere = async (member: string) => {
    const known = members.get(member)
    if (known !== undefined) return known
    const is = (await storage.get(memberKey(member))) !== undefined
    members.set(member, is)
    return is
  }
  let count = 0
  for await (const page of storage.scan(allRetired())) {
    for (const { key, value } of page) {
      const version = Number(partsOf(key)[0])
      const { pages, member } = decodeRecord<RetiredRecord>(value)
      // Where it were lost, the pages would be those of the newest.
      if (version > laneIn(heads, laneOf(version)).version) continue
      if (member !== undefined && (await isThere(member))) continue
      left.push({ key, pages })
      count += pages.length
      if (count >= maxLeft) return left
    }
  }
  return left
}
