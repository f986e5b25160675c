// Jobs whose records are damaged: what their documents tell of them, and the lists that they are in.

import { isDamage, orDamage, readable, readRecords } from '../../damage.js'
import type { LorekeepError } from '../../errors.js'
import { foundRecords } from '../../found-records.js'
import { decodeKey } from '../../keys.js'
import type { JobFailure } from '../types.js'
import type { StoredDocument } from './block.js'
import { liesAlone, readDocument } from './documents.js'
import type { Draft } from './draft.js'
import { deadKey, delayedKeys, doneKeys, jobKey } from './records.js'
import type { DoneRecord, JobRecord } from './records.js'
import { runWith } from './run.js'

/** What is there of a job whose record is not. */
export interface Remains {
  readonly number: number
  readonly flow: string
  /** `undefined` where it cannot be read. */
  readonly document: StoredDocument | undefined
  readonly ownBody: boolean
  /** In whose lane it was. */
  readonly user?: string
  /** Of the document's id. */
  readonly hash?: number
}

/** A record of it, of which what is not known is made up. */
export function madeUp(remains: Remains, now: number): JobRecord {
  const { number, flow, document, ownBody, user = '', hash = 0 } = remains
  const job = `lost.${number.toString(36)}`
  const record =
    document === undefined
      ? newRecord({ job, flow, user, document: '', collection: '', createdAt: now })
      : newRecord(document)
  return {
    ...record,
    ...(document === undefined && { lost: hash }),
    ...(ownBody && { ownBody }),
  }
}

export function newRecord(stored: Omit<StoredDocument, 'metadata' | 'text'>): JobRecord {
  const { job, flow, user, document, collection, createdAt } = stored
  return {
    id: job,
    flow,
    user,
    document,
    collection,
    state: 'queued',
    attempts: 0,
    steps: [],
    failures: [],
    createdAt,
    updatedAt: createdAt,
  }
}

/** What of a job cannot be read, beside its document where that is not there either. */
export function unreadableOf(
  { document }: Pick<Remains, 'document'>,
  ...others: string[]
): string[] {
  return document === undefined ? ['the document', ...others] : others
}

export const ofRecord = 'the record of the job'

/** @param unreadable what of a job cannot be read */
export function damageFailure(
  unreadable: readonly string[],
  place: Pick<JobFailure, 'at' | 'attempt' | 'step'>,
): JobFailure {
  const message = `stored data is damaged: ${unreadable.join(' and ')} cannot be read`
  return { ...place, cause: 'failed', code: 'LK_STORAGE_CORRUPT', message }
}

/**
 * The records of jobs that are not under way; in the place of a damaged one what follows from elsewhere, and
 * `undefined` where one is gone. Of a clean draft.
 * @throws LorekeepError `LK_STORAGE_CORRUPT` where it does not follow what has become of a job
 */
export async function jobRecords(
  draft: Draft,
  numbers: readonly number[],
): Promise<readonly (JobRecord | undefined)[]> {
  const found = await readRecords<JobRecord>(draft, numbers.map(jobKey))
  const records: (JobRecord | undefined)[] = []
  for (const [place, number] of numbers.entries()) {
    const record = found[place]
    records.push(isDamage(record) ? await recordAnew(draft, number, record) : record)
  }
  return records
}

/** As jobRecords(), of one whose record is damaged. */
export async function recordAnew(
  draft: Draft,
  number: number,
  damage: LorekeepError,
): Promise<JobRecord> {
  const ownBody = await liesAlone(draft, number)
  const document = await readable(() => readDocument(draft, number, ownBody))
  for (const flow of document === undefined ? draft.state.flows.keys() : [document.flow]) {
    const state = await stateIn(draft, flow, number, document)
    if (state === undefined) continue
    return described({ number, flow, document, ownBody }, state)
  }
  // It waits for its turn, as somebody's run says, or others have changed it meanwhile.
  await draft.assertNewest()
  throw damage
}

type ListedState = Pick<JobRecord, 'state' | 'dueAt'>

/** As the lists of a flow say. */
async function stateIn(
  draft: Draft,
  flow: string,
  number: number,
  document: StoredDocument | undefined,
): Promise<ListedState | undefined> {
  const isDead = (await orDamage(() => draft.get(deadKey(flow, number)))) !== undefined
  if (isDead) return { state: 'dead' }
  for await (const page of draft.scan({ ...delayedKeys(flow), keysOnly: true })) {
    for (const { key } of page) {
      const [, , dueAt, delayed] = decodeKey(key) as [string, string, number, number]
      if (delayed === number) return { state: 'delayed', dueAt }
    }
  }
  for await (const page of foundRecords<DoneRecord>(draft, doneKeys(flow))) {
    if (page.some(({ record }) => record?.numbers.includes(number))) return { state: 'done' }
  }
  const run = document && (await runWith(draft, flow, document.user, number))
  return run && { state: 'queued' }
}

function described(remains: Remains, state: ListedState): JobRecord {
  const record = madeUp(remains, 0)
  const at = new Date(record.updatedAt).toISOString()
  const failure = damageFailure(unreadableOf(remains, ofRecord), { at, attempt: 0, step: '' })
  return { ...record, ...state, failures: [failure] }
}
