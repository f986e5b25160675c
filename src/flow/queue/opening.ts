// Opening the partition: the first head, the first flow, and the version of the format.

import type { Clock } from '../../clock.js'
import { hasCode, LorekeepError } from '../../errors.js'
import { decodeRecord, encodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import type { Flow } from '../types.js'
import { changeKeys, flowKey, formatKey, headKey } from './records.js'
import type { HeadRecord } from './records.js'
import { loadState } from './state.js'
import type { State } from './state.js'

export const formatVersion = 3

/** @throws LorekeepError `LK_STORAGE_*` */
export async function openState(
  storage: Storage,
  firstFlow: Flow,
  token: string,
  clock: Clock,
): Promise<State> {
  const format = await storage.get(formatKey())
  if (format === undefined) await begin(storage, firstFlow, token)
  else {
    const { format: version } = decodeRecord<{ format: number }>(format)
    if (version !== formatVersion) {
      const detail = `this version reads flows of format ${formatVersion}, the data is of format ${version}`
      throw new LorekeepError('LK_STORAGE_FORMAT', detail)
    }
  }
  return loadState(storage, clock)
}

async function begin(storage: Storage, flow: Flow, token: string): Promise<void> {
  const head: HeadRecord = { version: 1, token, nextBlock: 1 }
  try {
    await storage.write(
      [
        { type: 'put', key: formatKey(), value: encodeRecord({ format: formatVersion }) },
        { type: 'put', key: headKey(), value: encodeRecord(head) },
        { type: 'put', key: flowKey(flow.id), value: encodeRecord(flow) },
      ],
      { durable: true, require: [{ type: 'absent', key: formatKey() }] },
    )
  } catch (error) {
    // Another process has begun at the same moment.
    if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
  }
}

/** Nobody is there any more who would follow. */
export async function dropChanges(storage: Storage): Promise<void> {
  for await (const page of storage.scan({ ...changeKeys(), keysOnly: true })) {
    await storage.write(page.map(({ key }) => ({ type: 'del', key })))
  }
}
