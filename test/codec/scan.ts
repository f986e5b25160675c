import assert from 'node:assert/strict'
import { CoreScanner, type ScanTarget } from '../../src/codec/scanner.js'
import type { CodecLimits } from '../../src/codec/limits.js'
import { LorekeepError, type Problem } from '../../src/errors.js'

/** Everything that a scan of a stream shows, in a form that can be compared. */
export interface Scanned {
  readonly bytes?: string
  readonly counts?: readonly number[]
  readonly error?: {
    readonly code: string
    readonly messageIndex: unknown
    readonly byteOffset: unknown
    readonly path: unknown
  }
}

/** Scans chunks; an error that is not one of ours is thrown. */
export function scan(
  chunks: Iterable<Uint8Array>,
  target?: ScanTarget,
  limits?: CodecLimits,
): Scanned {
  const parts: Buffer[] = []
  const sink = {
    copy: (chunk: Uint8Array, from: number, to: number) => {
      parts.push(Buffer.from(chunk.subarray(from, to)))
    },
  }
  const scanner = new CoreScanner(sink, target, limits)
  try {
    for (const chunk of chunks) scanner.push(chunk)
    scanner.finish()
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error
    const { messageIndex, byteOffset, errors } = error.details
    const [{ path, message }, ...others] = errors as [Problem, ...Problem[]]
    assert.equal(others.length, 0)
    assert.ok(error.message.endsWith(`: ${message}`), error.message)
    return { error: { code: error.code, messageIndex, byteOffset, path } }
  }
  const { messages, triples, entities, vectors } = scanner
  const bytes = Buffer.concat(parts).toString('latin1')
  return { bytes, counts: [messages, triples, entities, vectors] }
}

export function* cut(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
