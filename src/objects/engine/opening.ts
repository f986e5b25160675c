// Opening the partition: the first head, the version of the format, and what a crash left.

import { randomBytes } from 'node:crypto'
import { hasCode, LorekeepError } from '../../errors.js'
import { decodeRecord, encodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import { formatKey, formatVersion, headKey, pageKey, type HeadRecord } from './records.js'
import { loadState, withoutOthers, type Loaded, type Orphan } from './loading.js'
import type { State } from './state.js'

/** Keys that one write of the sweep deletes, or a few more: a record goes with its pages. */
const maxSwept = 10_000

/**
 * Where nobody else has the storage open, what belongs to no state was left by a former owner.
 * @throws LorekeepError `LK_STORAGE_*`
 */
export async function openState(objects: Storage, isAlone: boolean): Promise<State> {
  const format = await objects.get(formatKey())
  if (format === undefined) await begin(objects)
  else {
    const { format: version } = decodeRecord<{ format: number }>(format)
    if (version !== formatVersion) {
      const detail = `this version reads objects of format ${formatVersion}, the data is of format ${version}`
      throw new LorekeepError('LK_STORAGE_FORMAT', detail)
    }
  }
  const loaded = await loadState(objects)
  if (loaded === undefined) throw new LorekeepError('LK_STORAGE_CORRUPT', 'the head is gone')
  if (!isAlone) return loaded.state
  return (await sweep(objects, await withoutOthers(objects, loaded))) ?? openState(objects, isAlone)
}

async function begin(objects: Storage): Promise<void> {
  const head: HeadRecord = {
    version: 1,
    token: randomBytes(8).toString('hex'),
    nextRow: 1,
    nextPage: 1,
    nextIndex: 1,
    hashKey: randomBytes(8).toString('hex'),
  }
  try {
    await objects.write(
      [
        { type: 'put', key: formatKey(), value: encodeRecord({ format: formatVersion }) },
        { type: 'put', key: headKey(), value: encodeRecord(head) },
      ],
      { durable: true, require: [{ type: 'absent', key: formatKey() }] },
    )
  } catch (error) {
    // Another one has begun at the same moment.
    if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
  }
}

/**
 * Deletes what belongs to no state, some of it at a time. `undefined` where somebody else has
 * written.
 */
async function sweep(objects: Storage, { state, orphans }: Loaded): Promise<State | undefined> {
  let swept = state
  for (let at = 0; at < orphans.length;) {
    const gone: Uint8Array[] = []
    while (at < orphans.length && gone.length < maxSwept) {
      const { key, pages } = orphans[at++] as Orphan
      gone.push(key)
      for (const page of pages) gone.push(pageKey(page))
    }
    // A new version, so that whoever is still at it learns that its work is gone.
    const token = randomBytes(8).toString('hex')
    const { main } = swept.heads
    const record = { ...main.record, version: main.record.version + 1, token }
    const bytes = encodeRecord(record)
    try {
      await objects.write(
        [
          ...gone.map((key) => ({ type: 'del', key }) as const),
          { type: 'put', key: headKey(), value: bytes },
        ],
        { durable: true, require: [{ type: 'equals', key: headKey(), value: main.bytes }] },
      )
    } catch (error) {
      if (hasCode(error, 'LK_STORAGE_CONFLICT')) return undefined
      throw error
    }
    swept = { ...swept, heads: { ...swept.heads, main: { record, bytes } } }
  }
  return swept
}
