// Bytes out of gzip, as many as there may be.

import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { LorekeepError } from '../errors.js'
import { damaged, tooLarge, unreadable } from './faults.js'
import type { WorkspaceLimits } from './types.js'

const chunkSize = 64 * 1024

/** Triples that differ in a number alone come to a hundred to one; zeros to a thousand. */
const ratioFromBytes = 64 * 1024 * 1024

/**
 * Ends where the source ends, and is checked to there. The chunks of the source have to stay as they
 * are.
 * @throws LorekeepError `LK_WORKSPACE_*`
 * @throws what the source fails with
 */
export async function* gunzipped(
  source: AsyncIterable<Uint8Array>,
  { maxUnpackedBytes, maxRatio }: Pick<WorkspaceLimits, 'maxUnpackedBytes' | 'maxRatio'>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const gunzip = createGunzip({ chunkSize })
  let packedBytes = 0
  const head: number[] = []
  let failure: { readonly error: unknown } | undefined
  const packed = async function* () {
    try {
      for await (const chunk of source) {
        packedBytes += chunk.length
        for (let at = 0; head.length < 2 && at < chunk.length; at++) head.push(chunk[at] as number)
        yield chunk
      }
    } catch (error) {
      failure = { error }
      throw error
    }
  }
  // It is told by the iteration.
  pipeline(packed(), gunzip).catch(() => {})
  let bytes = 0
  const next = gunzip[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, void>
  try {
    for (;;) {
      const { done, value } = await next.next().catch((error: unknown) => {
        throw failure === undefined ? faultOf(error, bytes, head) : failure.error
      })
      if (done) return
      bytes += value.length
      if (bytes > maxUnpackedBytes) {
        const reason = `it has more than ${maxUnpackedBytes} bytes unpacked (maxUnpackedBytes)`
        throw tooLarge(reason, { maxUnpackedBytes })
      }
      if (bytes > ratioFromBytes && bytes > maxRatio * packedBytes) {
        const reason = `unpacked it is more than ${maxRatio} times as long as packed (maxRatio)`
        throw tooLarge(reason, { maxRatio })
      }
      yield value
    }
  } finally {
    gunzip.destroy()
  }
}

function faultOf(error: unknown, bytes: number, head: readonly number[]): LorekeepError {
  if (head.length === 0) return unreadable('it is empty')
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'Z_BUF_ERROR') {
    const byteOffset = bytes
    return damaged('the archive ends here, in the middle: it was cut', { byteOffset }, error)
  }
  if (message === 'incorrect header check') {
    const isGzip = head[0] === 0x1f && head[1] === 0x8b
    if (!isGzip) return unreadable('it is not packed by gzip, as the archive of a workspace is')
    return damaged('something stands behind the end of the archive', { byteOffset: bytes }, error)
  }
  return damaged(`gzip says: ${message}`, { byteOffset: bytes }, error)
}
