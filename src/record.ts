// Small records of the stores: JSON.

import { LorekeepError } from './errors.js'
import { parseJson } from './json-text.js'

export function encodeRecord(record: object): Uint8Array {
  return Buffer.from(JSON.stringify(record), 'utf8')
}

/** @throws LorekeepError `LK_STORAGE_CORRUPT` */
export function decodeRecord<R>(bytes: Uint8Array): R {
  try {
    return parseJson(Buffer.from(bytes).toString('utf8')) as R
  } catch (cause) {
    throw new LorekeepError('LK_STORAGE_CORRUPT', 'a record is not JSON', { cause })
  }
}
