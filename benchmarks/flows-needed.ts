// What loads cannot leave out, whatever they are written in: each text is decoded and is UTF-8, what came together is one
// value with a checksum, its jobs are in their users' lanes, and all of it is one synced batch. And what jobs whose step
// does nothing cannot leave out: the value is read and checked, each text is a string again, no newer load of its document
// was processed, and synced batches say which jobs have begun before they do, what is told of those that have ended, and
// which load of each document was the last, under a key of its own since it is by its document that it is looked for. While
// jobs run, the next are read, and what became of the ones before is written.

import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { EncodedDocument } from '../src/flow/types.js'
import * as bench from './measure.js'
import { openRaw, rawKey, rawOptions, type RawLevel } from './peers.js'

export const neededName =
  'the same decoded, checked and written by classic-level as one synced batch'
export const workNeededName =
  'the same read, checked, decoded and recorded by classic-level in synced batches'

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
    const claim = async (number: number): Promise<readonly Job[]> => {
      if (number > blocks) return []
      const jobs = read(asBuffer((await level.get(blockKey(number))) as Uint8Array))
      const latest = await level.getMany(jobs.map(latestKey))
      bench.check(
        latest.every((known) => known === undefined),
        'no newer load was processed',
      )
      return jobs
    }
    let commits = 0
    const commit = (begun: readonly Job[], ended: readonly Job[]) => {
      const at = Date.now()
      const leases = { beat: 1, begun: begun.map(({ id }) => [id, randomUUID()]) }
      const records = [
        put(leasesKey(++commits), json(leases)),
        put(doneKey(commits), json({ at, done: ended.map(({ id, document }) => [id, document]) })),
        ...ended.map((job) => put(latestKey(job), json({ at, job: job.id }))),
      ]
      return level.batch(records, { sync: true })
    }
    let characters = 0
    const step = async ({ text }: Job) => {
      await Promise.resolve()
      characters += text.length
    }
    const time = await bench.seconds(async () => {
      let ended: readonly Job[] = []
      let running = await claim(1)
      await commit(running, ended)
      for (let next = 2; running.length > 0; next++) {
        const claimed = await claim(next)
        const committed = commit(claimed, ended)
        await Promise.all(running.map(step))
        await committed
        ended = running
        running = claimed
      }
      await commit([], ended)
    })
    // All of them are ASCII.
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
      values.map((value, n) => put(key(n < 2 ? version : 0, n), value)),
      { sync: true },
    )
  }
}

interface Job {
  readonly id: string
  readonly document: string
  readonly text: string
}

/** The length of the header, the header, the texts, and a checksum of all that. */
function block(documents: readonly EncodedDocument[]): Uint8Array {
  const texts: Buffer[] = []
  const jobs = documents.map(({ id, text, metadata, collection }): Listed => {
    const bytes = Buffer.from(text, 'base64')
    bench.check(isUtf8(bytes), 'a text is UTF-8')
    texts.push(bytes)
    return [id, collection, bytes.length, metadata]
  })
  const header = json({ id: randomUUID(), at: Date.now(), jobs })
  const whole = Buffer.concat([Buffer.alloc(4), header, ...texts, Buffer.alloc(4)])
  whole.writeUInt32LE(header.length)
  whole.writeUInt32LE(crc32(whole.subarray(0, -4)), whole.length - 4)
  return whole
}

type Listed = readonly [
  document: string,
  collection: string | undefined,
  bytes: number,
  metadata: unknown,
]

function read(block: Buffer): Job[] {
  bench.check(crc32(block.subarray(0, -4)) === block.readUInt32LE(block.length - 4), 'a block')
  let at = 4 + block.readUInt32LE(0)
  const { id, jobs } = JSON.parse(block.toString('utf8', 4, at)) as {
    readonly id: string
    readonly jobs: readonly Listed[]
  }
  return jobs.map(([document, , bytes], place) => {
    return { id: `${id}-${place}`, document, text: block.toString('utf8', at, (at += bytes)) }
  })
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

const blockKey = (number: number) => key(number, 0)
const leasesKey = (commit: number) => Buffer.from(`leases ${commit}`)
const doneKey = (commit: number) => Buffer.from(`done ${commit}`)
const latestKey = ({ document }: Job) => Buffer.from(`latest ${document}`)

function put(key: Uint8Array, value: Uint8Array) {
  return { type: 'put', key, value } as const
}

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

function json(record: object): Buffer {
  return Buffer.from(JSON.stringify(record))
}
