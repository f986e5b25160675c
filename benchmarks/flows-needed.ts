// What loads cannot leave out, whatever they are written in: each text is decoded and is UTF-8, what came together is one
// value with a checksum, its jobs are in their users' lanes, and all of it is one synced batch.

import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { EncodedDocument } from '../src/flow/types.js'
import * as bench from './measure.js'
import { openRaw, rawKey, rawOptions } from './peers.js'

export const neededName =
  'the same decoded, checked and written by classic-level as one synced batch'

/** The seconds for all documents, so many in each batch, one batch after the other. */
export function loadNeeded(
  documents: readonly EncodedDocument[],
  together: number,
): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const level = await openRaw(directory, rawOptions.default)
    const counts = { queued: 0, active: 0, waiting: 0, done: 0, dead: 0 }
    let version = 0
    const time = await bench.seconds(async () => {
      for (let at = 0; at < documents.length; at += together) {
        const batch = documents.slice(at, at + together)
        counts.queued += batch.length
        const head = { version: ++version, token: randomUUID(), nextBlock: version }
        const values = [block(batch), ...lanes(batch), json(counts), json(head)]
        await level.batch(
          values.map((value, n) => ({ type: 'put', key: key(n < 2 ? version : 0, n), value })),
          { sync: true },
        )
      }
    })
    await level.close()
    return time
  })
}

function block(documents: readonly EncodedDocument[]): Uint8Array {
  const texts: Buffer[] = []
  const jobs = documents.map(({ id, text, metadata, collection }) => {
    const bytes = Buffer.from(text, 'base64')
    bench.check(isUtf8(bytes), 'a text is UTF-8')
    texts.push(bytes)
    return [id, collection, bytes.length, metadata]
  })
  const header = json({ id: randomUUID(), at: Date.now(), jobs })
  const whole = Buffer.concat([header, ...texts, Buffer.alloc(4)])
  whole.writeUInt32LE(crc32(whole.subarray(0, -4)), whole.length - 4)
  return whole
}

/** For each user a hash of each document. */
function lanes(documents: readonly EncodedDocument[]): Buffer[] {
  const lanes = new Map<string, number[]>()
  for (const { user, id } of documents) {
    const lane = lanes.get(user ?? '') ?? []
    lane.push(crc32(id))
    lanes.set(user ?? '', lane)
  }
  return [...lanes.values()].map((hashes) => Buffer.from(new Uint32Array(hashes).buffer))
}

function key(version: number, n: number): Uint8Array {
  return Buffer.concat([rawKey(version), Buffer.alloc(24, n)])
}

function json(record: object): Buffer {
  return Buffer.from(JSON.stringify(record))
}
