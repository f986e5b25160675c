// One range of an answer (RFC 9110, section 14): a download that broke goes on where it did.

import { LorekeepError } from '../errors.js'

/** From the first byte to behind the last. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

/**
 * Undefined where all of it is to be sent: of what is no range of bytes, and of several, that is so.
 * @throws LorekeepError `LK_HTTP_RANGE` where none of it is there
 */
export function rangeOf(header: string | undefined, bytes: number): ByteRange | undefined {
  const found = /^bytes=(\d{0,16})-(\d{0,16})$/i.exec(header?.replace(/\s/g, '') ?? '')
  const [, first = '', last = ''] = found ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    // So many of the end.
    if (Number(last) === 0 || bytes === 0) throw outside(bytes)
    return { from: Math.max(0, bytes - Number(last)), to: bytes }
  }
  const from = Number(first)
  if (last !== '' && Number(last) < from) return undefined
  if (from >= bytes) throw outside(bytes)
  return { from, to: last === '' ? bytes : Math.min(bytes, Number(last) + 1) }
}

function outside(bytes: number): LorekeepError {
  return new LorekeepError('LK_HTTP_RANGE', `there are ${bytes} bytes`, { details: { bytes } })
}
