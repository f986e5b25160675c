// The newest state, from the storage: all of it, or by what others have changed since the one that is known.

import { LorekeepError } from '../../errors.js'
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
  headKey,
  keptChanges,
  pagesOf,
  partsOf,
  runKey,
  type ChangeRecord,
  type HeadRecord,
  type RecordChange,
  type RetiredRecord,
} from './records.js'
import type { State } from './state.js'
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

/** Changes that are read together with the head: mostly others are not further ahead. */
const readAhead = 8

/** `undefined` where nothing was ever written. @throws LorekeepError `LK_STORAGE_*` */
export async function loadState(storage: Storage): Promise<Loaded | undefined> {
  for (;;) {
    const headBytes = await storage.get(headKey())
    if (headBytes === undefined) return undefined
    const loaded = await loadAround(storage, headBytes)
    if (loaded !== undefined) return loaded
  }
}

/** The state as it lay in the storage when it was asked for. */
export interface Look {
  /** Whether it is still the newest. */
  readonly isSame: boolean
  /** The newest, for whoever still knows the state that the look was about. */
  follow(): Promise<State>
}

/** One read tells whether others have changed something, and mostly what. */
export async function lookBehind(storage: Storage, state: State): Promise<Look> {
  const { version, token } = state.head
  const keys = Array.from({ length: readAhead }, (_, n) => changeKey(version + 1 + n))
  const [headBytes, ...next] = await storage.getMany([headKey(), ...keys])
  if (headBytes === undefined) throw new LorekeepError('LK_STORAGE_CORRUPT', 'the head is gone')
  const follow = async () => {
    const head = decodeRecord<HeadRecord>(headBytes)
    const changes = await changesBetween(storage, { version, token }, head, next)
    if (changes !== undefined) {
      const builder = new StateBuilder(state)
      for (const change of changes) builder.apply(change)
      return builder.finish(head, headBytes)
    }
    const loaded = await loadState(storage)
    if (loaded === undefined) throw new LorekeepError('LK_STORAGE_CORRUPT', 'the head is gone')
    return loaded.state
  }
  return { isSame: Buffer.compare(headBytes, state.headBytes) === 0, follow }
}

/** What leads from one version to another; `undefined` where that is not written down. */
async function changesBetween(
  storage: Storage,
  from: Pick<HeadRecord, 'version' | 'token'>,
  to: HeadRecord,
  known: readonly (Uint8Array | undefined)[],
): Promise<RecordChange[] | undefined> {
  const count = to.version - from.version
  if (count < 1 || count > keptChanges) return undefined
  const values = known.slice(0, count)
  if (values.length < count) {
    const keys = Array.from({ length: count - values.length }, (_, n) =>
      changeKey(from.version + values.length + 1 + n),
    )
    values.push(...(await storage.getMany(keys)))
  }
  let { token } = from
  const all: RecordChange[] = []
  for (const value of values) {
    if (value === undefined) return undefined
    const { before, token: after, changes } = decodeRecord<ChangeRecord>(value)
    // Of another history: after a fail-over that lost the end of this one.
    if (before !== token) return undefined
    token = after
    for (const change of changes) all.push(change)
  }
  return token === to.token ? all : undefined
}

/** `undefined` where others have made versions meanwhile that cannot be followed. */
async function loadAround(storage: Storage, headBytes: Uint8Array): Promise<Loaded | undefined> {
  const builder = new StateBuilder()
  const kinds = {
    block: allBlocks(),
    run: allRuns(),
    schema: allSchemas(),
    collection: allCollections(),
    building: allBuilding(),
  }
  for (const [kind, range] of Object.entries(kinds)) {
    for await (const page of storage.scan(range)) {
      for (const { key, value } of page) {
        builder.apply([kind, ...partsOf(key), decodeRecord(value)] as unknown as RecordChange)
      }
    }
  }
  // What was read is one version if nobody has made another one meanwhile, or with what they have changed.
  let head = decodeRecord<HeadRecord>(headBytes)
  const after = await storage.get(headKey())
  if (after === undefined) return undefined
  if (Buffer.compare(after, headBytes) !== 0) {
    const newest = decodeRecord<HeadRecord>(after)
    const changes = await changesBetween(storage, head, newest, [])
    if (changes === undefined) return undefined
    for (const change of changes) builder.apply(change)
    head = newest
  }
  const state = builder.finish(head, after)
  const orphans: Orphan[] = []
  for (const [index, run, record] of builder.unnamed()) {
    orphans.push({ key: runKey(index, run), pages: pagesOf(record) })
  }
  return { state, orphans }
}

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
