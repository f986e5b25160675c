import { decodeKey } from '../../keys.js'
import type { Entry, Storage } from '../../storage.js'
import { runKey, runKeysOf } from './records.js'

/** Queued jobs of one user with numbers that follow each other. */
export interface Run {
  first: number
  /** A hash of each one's document. */
  hashes: Uint32Array
  /** It was claimed before, and has a record. Such a run is of one job. */
  readonly again: boolean
  /** The number that it is stored under; `undefined` before its commit. */
  stored: number | undefined
}

export function encodeRun({ hashes, again }: Pick<Run, 'hashes' | 'again'>): Buffer {
  const bytes = Buffer.allocUnsafe(1 + 4 * hashes.length)
  bytes[0] = again ? 1 : 0
  for (let slot = 0; slot < hashes.length; slot++) bytes.writeUInt32BE(hashes[slot]!, 1 + 4 * slot)
  return bytes
}

/** In base64. */
export function encodeHashes(hashes: Uint32Array): string {
  return encodeRun({ hashes, again: false }).toString('base64', 1)
}

export function decodeHashes(base64: string): Uint32Array {
  return hashesIn(Buffer.from(base64, 'base64'))
}

export function decodeRun({ key, value }: Entry): { readonly user: string; readonly run: Run } {
  const [, , user, first] = decodeKey(key) as [string, string, string, number]
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const hashes = hashesIn(bytes.subarray(1))
  return { user, run: { first, hashes, again: bytes[0] === 1, stored: first } }
}

function hashesIn(bytes: Buffer): Uint32Array {
  const hashes = new Uint32Array(bytes.length / 4)
  for (let slot = 0; slot < hashes.length; slot++) hashes[slot] = bytes.readUInt32BE(4 * slot)
  return hashes
}

/** The run that a queued job is in; `undefined` for one that is not queued. */
export async function runWith(
  storage: Pick<Storage, 'scan'>,
  flow: string,
  user: string,
  number: number,
): Promise<Run | undefined> {
  const { gt } = runKeysOf(flow, user)
  const range = { gt, lte: runKey(flow, user, number), reverse: true, limit: 1 }
  for await (const [entry] of storage.scan(range)) {
    if (entry === undefined) break
    const { run } = decodeRun(entry)
    return number < run.first + run.hashes.length ? run : undefined
  }
  return undefined
}
