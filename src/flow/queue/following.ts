// How a state comes up to the newest head by what the commits in between tell of themselves.

import { readableNow } from '../../damage.js'
import { decodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import { follow } from './changes.js'
import { isSame } from './draft.js'
import { inboxKeys, postedAt, type Posted } from './gate.js'
import {
  changeKey,
  headKey,
  inboxes,
  keptChanges,
  type ChangeRecord,
  type HeadRecord,
} from './records.js'
import type { State } from './state.js'

/** So many changes are asked for together with the head, of which nobody knows whether they are there. */
const guessed = 64

/** The head in storage, changes behind the state, and what was posted, at one moment. */
export interface Ahead {
  readonly head: Uint8Array | undefined
  /** Those that are damaged are missing: whoever needs one reads all anew. */
  readonly changes: readonly (ChangeRecord | undefined)[]
  readonly posted: Posted | undefined
}

/** One read. @throws LorekeepError `LK_STORAGE_*` */
export async function lookAhead(storage: Storage, { head }: State): Promise<Ahead> {
  const [newest, ...values] = await storage.getMany([
    headKey(),
    ...inboxKeys,
    ...keysBehind(head.version, guessed),
  ])
  const posted = newest && postedAt(decodeRecord<HeadRecord>(newest), values.slice(0, inboxes))
  return { head: newest, changes: values.slice(inboxes).map(changeIn), posted }
}

function changeIn(value: Uint8Array | undefined): ChangeRecord | undefined {
  return readableNow(() => value && decodeRecord<ChangeRecord>(value))
}

/** The head in storage, and what was posted at that moment, as far as this state knows of a gate. One read. */
export async function lookAtHead(
  storage: Storage,
  { head }: State,
): Promise<Pick<Ahead, 'head' | 'posted'>> {
  if (head.gate === undefined) return { head: await storage.get(headKey()), posted: undefined }
  const [newest, ...values] = await storage.getMany([headKey(), ...inboxKeys])
  return { head: newest, posted: newest && postedAt(decodeRecord<HeadRecord>(newest), values) }
}

/**
 * Which of these heads were there, of commits of this process: others may have gone on from one, which is told of as
 * long as they can follow. One read. @throws LorekeepError `LK_STORAGE_*`
 */
export async function lookBack(
  storage: Storage,
  heads: readonly Uint8Array[],
): Promise<readonly boolean[]> {
  const records = heads.map((head) => decodeRecord<HeadRecord>(head))
  // Where there are no others, nobody has gone on.
  const told = storage.sharing === undefined ? [] : records
  const keys = told.map(({ version }) => changeKey(version))
  const [newest, ...values] = await storage.getMany([headKey(), ...keys])
  return heads.map((head, place) => {
    return isSame(newest, head) || changeIn(values[place])?.token === records[place]?.token
  })
}

function keysBehind(version: number, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, n) => changeKey(version + 1 + n))
}

/**
 * All changes between the state and the head, that of `seen` or the newest; undefined where they are not there.
 * @throws LorekeepError `LK_STORAGE_*`
 */
export async function changesBehind(
  storage: Storage,
  state: State,
  seen: Ahead | undefined,
): Promise<{
  readonly head: Uint8Array
  readonly changes: readonly ChangeRecord[] | undefined
}> {
  const { head, changes } = seen ?? (await lookAhead(storage, state))
  const none = { head: head ?? new Uint8Array(), changes: undefined }
  if (head === undefined) return none
  const count = decodeRecord<HeadRecord>(head).version - state.head.version
  if (count < 0 || count > keptChanges) return none
  const missing = keysBehind(state.head.version + guessed, Math.max(0, count - guessed))
  const more = missing.length === 0 ? [] : await storage.getMany(missing)
  const all = [...changes.slice(0, count), ...more.map(changeIn)]
  const found = all.filter((change) => change !== undefined)
  return found.length === count ? { head, changes: found } : none
}

/** Whether the state is known to be of the history that was seen, and not of one whose end a fail-over has lost. */
export function isOfHistory({ head, headBytes }: State, seen: Ahead): boolean {
  return isSame(seen.head, headBytes) || seen.changes[0]?.before === head.token
}

/** False where that cannot be done; then the state is of no use any more. */
export function followTo(
  state: State,
  headBytes: Uint8Array,
  changes: readonly ChangeRecord[],
  elapsed: number,
): boolean {
  let head: HeadRecord
  try {
    head = decodeRecord<HeadRecord>(headBytes)
    for (const change of changes) if (!follow(state, change, elapsed)) return false
  } catch {
    // Reading anew will say what is wrong.
    return false
  }
  if (head.token !== state.head.token || head.version !== state.head.version) return false
  state.head = head
  state.headBytes = headBytes
  state.nextBlock = head.nextBlock
  return true
}
