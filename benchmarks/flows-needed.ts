// What loads cannot leave out, whatever they are written in: each text is decoded and is UTF-8, what came together is one
// value with a checksum, its jobs are in their users' lanes, and all of it is one synced batch. And what jobs whose step
// does nothing cannot leave out: the value is read and checked, each text is a string again, and a synced batch says which
// jobs have begun before they do, and which have ended: those of one value while those of the one before are processed.

import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { EncodedDocument } from '../src/flow/types.js'
import * as bench from './measure.js'
import { openRaw, rawKey, rawOptions, type RawLevel } from './peers.js'

export const neededName =
  'the same decoded, checked and written by classic-level as one synced batch'
export const workNeededName =
  'the same read, checked, decoded and ended by classic-level in synced batches'

/** The seconds for all documents, so many in each batch, one batch after the other. */
export function loadNeeded(
  documents: readonly EncodedDocument[],
  together: number,
): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const level = await openRaw(directory, rawOptions.default)
    const time = await bench.seconds(() => fill(level, documents, together))
    await level.close()
    return time
  })
}

/** The seconds from the first claim to the last completion, so many jobs at once. */
export function workNeeded(
  documents: readonly EncodedDocument[],
  together: number,
): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const level = await openRaw(directory, rawOptions.default)
    await fill(level, documents, together)
    const blocks = Math.ceil(documents.length / together)
    let characters = 0
    const step = async ({ text }: Stored) => {
      await Promise.resolve()
      characters += text.length
    }
    const time = await bench.seconds(async () => {
      let ended: readonly Ended[] = []
      const write = (begun: number) =>
        level.put(key(begun, 9), json({ begun, ended }), { sync: true })
      await write(1)
      for (let block = 1; block <= blocks; block++) {
        const value = (await level.get(key(block, 0))) as Uint8Array
        const written = write(block + 1)
        const stored = read(Buffer.from(value.buffer, value.byteOffset, value.length))
        await Promise.all(stored.map(step))
        await written
        ended = stored.map(({ id }) => ({ id, at: Date.now() }))
      }
      await write(blocks + 1)
    })
    const expected = documents.reduce((sum, { text }) => sum + Buffer.byteLength(text, 'base64'), 0)
    bench.check(characters === expected, `the texts: ${characters} of ${expected} characters`)
    await level.close()
    return time
  })
}

async function fill(
  level: RawLevel,
  documents: readonly EncodedDocument[],
  together: number,
): Promise<void> {
  const counts = { queued: 0, active: 0, waiting: 0, done: 0, dead: 0 }
  let version = 0
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
}

interface Header {
  readonly id: string
  readonly at: number
  readonly jobs: readonly {
    readonly id: string
    readonly collection?: string | undefined
    readonly bytes: number
    readonly metadata?: unknown
  }[]
}

interface Stored {
  readonly id: string
  readonly text: string
}

interface Ended {
  readonly id: string
  readonly at: number
}

/** The length of the header, the header, the texts, and a checksum of all that. */
function block(documents: readonly EncodedDocument[]): Uint8Array {
  const texts: Buffer[] = []
  const jobs = documents.map(({ id, text, metadata, collection }) => {
    const bytes = Buffer.from(text, 'base64')
    bench.check(isUtf8(bytes), 'a text is UTF-8')
    texts.push(bytes)
    return { id, collection, bytes: bytes.length, metadata }
  })
  const header = json({ id: randomUUID(), at: Date.now(), jobs } satisfies Header)
  const whole = Buffer.concat([Buffer.alloc(4), header, ...texts, Buffer.alloc(4)])
  whole.writeUInt32LE(header.length)
  whole.writeUInt32LE(crc32(whole.subarray(0, -4)), whole.length - 4)
  return whole
}

function read(block: Buffer): Stored[] {
  bench.check(crc32(block.subarray(0, -4)) === block.readUInt32LE(block.length - 4), 'a block')
  let at = 4 + block.readUInt32LE(0)
  const { jobs } = JSON.parse(block.toString('utf8', 4, at)) as Header
  return jobs.map(({ id, bytes }) => ({ id, text: block.toString('utf8', at, (at += bytes)) }))
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
