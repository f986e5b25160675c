// Opening the partition: the first head, the version of the format, and what a crash left.

import { randomBytes } from 'node:crypto'
import { hasCode, LorekeepError } from '../../errors.js'
import { decodeRecord, encodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import { formatKey, headKey, pageKey, type HeadRecord } from './records.js'
import { loadState, type Loaded, type State } from './state.js'

const formatVersion = 1

/** @throws LorekeepError `LK_STORAGE_*` */
export async function openState(objects: Storage): Promise<State> {
  const format = await objects.get(formatKey())
  if (format === undefined) {
    const head: HeadRecord = {
      version: 1,
      token: randomBytes(8).toString('hex'),
      nextRow: 1,
      nextPage: 1,
      nextIndex: 1,
      hashKey: randomBytes(8).toString('hex'),
    }
    await objects.write(
      [
        { type: 'put', key: formatKey(), value: encodeRecord({ format: formatVersion }) },
        { type: 'put', key: headKey(), value: encodeRecord(head) },
      ],
      { durable: true, require: [{ type: 'absent', key: formatKey() }] },
    )
  } else {
    const { format: version } = decodeRecord<{ format: number }>(format)
    if (version !== formatVersion) {
      const detail = `this version reads objects of format ${formatVersion}, the data is of format ${version}`
      throw new LorekeepError('LK_STORAGE_FORMAT', detail)
    }
  }
  const loaded = await loadState(objects)
  if (loaded === undefined) throw new LorekeepError('LK_STORAGE_CORRUPT', 'the head is gone')
  if (loaded.orphans.length === 0) return loaded.state
  return (await sweep(objects, loaded)) ?? openState(objects)
}

/** Deletes what the building of an index left. `undefined` where somebody else has written. */
async function sweep(objects: Storage, { state, orphans }: Loaded): Promise<State | undefined> {
  // A new version, so that whoever is still at it learns that its work is gone.
  const token = randomBytes(8).toString('hex')
  const head = { ...state.head, version: state.head.version + 1, token }
  const headBytes = encodeRecord(head)
  const gone = orphans.flatMap(({ key, pages }) => [key, ...pages.map(pageKey)])
  try {
    await objects.write(
      [
        ...gone.map((key) => ({ type: 'del', key }) as const),
        { type: 'put', key: headKey(), value: headBytes },
      ],
      { durable: true, require: [{ type: 'equals', key: headKey(), value: state.headBytes }] },
    )
  } catch (error) {
    if (hasCode(error, 'LK_STORAGE_CONFLICT')) return undefined
    throw error
  }
  return { ...state, head, headBytes }
}
