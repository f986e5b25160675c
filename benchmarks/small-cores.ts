// Durable imports of 10,000 cores of 2 kB, one after the other and 16 at once, against classic-level's synced puts of
// the same bytes, one after the other: one put for each import is what "durable" costs. Beside it what an import
// cannot leave out, whatever it is written in: every byte checked and hashed, and one synced batch that has as many
// records of the same lengths, of one core or of the 16 that come at once.

import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { LevelBackend } from '../adapters/level/index.js'
import { encodeMessage } from '../src/codec/encoder.js'
import { CoreScanner } from '../src/codec/scanner.js'
import { createLorekeep } from '../src/index.js'
import { inFlight } from './flows-data.js'
import { triplesOf } from './library-data.js'
import * as bench from './measure.js'
import { openRaw, rawKey, rawOptions, type RawLevel } from './peers.js'

const rounds = 7
const count = 10_000
const atOnce = 16
const triples = 16
const user = 'small'

const nameOf = (n: number) => `core ${n}`
const streams = Array.from({ length: count }, (_, n) => {
  const m = { i: nameOf(n), m: [], u: user, c: 'default' }
  return Buffer.from(encodeMessage(['t', { m, t: triplesOf(n).slice(0, triples) }]))
})
const meanBytes = Math.round(streams.reduce((sum, { length }) => sum + length, 0) / count)
bench.note(`small-cores, ${meanBytes} bytes each`)

const { one, sixteen, puts, putsAtOnce, needed, neededAtOnce } = await bench.interleave(rounds, {
  one: () => importAll(1),
  sixteen: () => importAll(atOnce),
  puts: () => putAll(1),
  putsAtOnce: () => putAll(atOnce),
  needed: () => withLevel((level) => doWhatIsNeeded(level, 1)),
  neededAtOnce: () => withLevel((level) => doWhatIsNeeded(level, atOnce)),
})

const operations = { count, unit: 'imports/s' }
const peer = 'classic-level synced puts of the same bytes, one after the other'
const alone = `import ${count} cores of 2 kB, one after the other`
const together = `import ${count} cores of 2 kB, ${atOnce} at once`
bench.report(
  bench.compareOperations({ scenario: alone, peer }, operations, one, puts, { least: 0.9 }),
)
const limit = 'the same checked, hashed and written as one synced batch'
const toLimit = { scenario: alone, peer: `${limit} each` }
bench.report(bench.compareOperations(toLimit, operations, one, needed, { least: 0.8 }))
bench.report(
  bench.compareOperations({ scenario: together, peer }, operations, sixteen, puts, { least: 2 }),
)
const toGroups = { scenario: together, peer: `${limit} for ${atOnce}` }
bench.report(bench.compareOperations(toGroups, operations, sixteen, neededAtOnce, { least: 0.8 }))
const crowded = { scenario: together, peer: `classic-level synced puts, ${atOnce} at once` }
bench.report(bench.compareOperations(crowded, operations, sixteen, putsAtOnce))

function importAll(atOnce: number): Promise<number> {
  return bench.inDirectory(async (directory) => {
    await using keep = await createLorekeep({ backend: new LevelBackend(directory) })
    const { knowledge } = keep
    const time = await bench.seconds(() =>
      inFlight(streams.entries(), atOnce, ([n, stream]) =>
        knowledge.import({ user, id: nameOf(n) }, stream),
      ),
    )
    let found = 0
    for await (const { triples: has } of knowledge.list({ user })) {
      bench.check(has === triples, 'the triples of a core')
      found++
    }
    bench.check(found === count, 'how many cores there are')
    const last = await buffer(await knowledge.export({ user, id: nameOf(count - 1) }))
    bench.check(last.equals(streams.at(-1) as Buffer), 'the last core')
    return time
  })
}

function putAll(atOnce: number): Promise<number> {
  return withLevel((level) =>
    inFlight(streams.entries(), atOnce, ([n, stream]) =>
      level.put(rawKey(n), stream, { sync: true }),
    ),
  )
}

/** So many cores in each batch, one batch after the other. Where several come at once, the next are made meanwhile. */
async function doWhatIsNeeded(level: RawLevel, together: number): Promise<void> {
  let writing = Promise.resolve()
  for (let at = 0; at < count; at += together) {
    if (together === 1) await writing
    const records = streams
      .slice(at, at + together)
      .flatMap((stream, n) => recordsOf(at + n, stream))
    await writing
    writing = level.batch(records, { sync: true })
  }
  await writing
}

function recordsOf(n: number, stream: Buffer) {
  const pieces: Uint8Array[] = []
  const copy = (bytes: Uint8Array, from: number, to: number) => {
    pieces.push(bytes.slice(from, to))
  }
  const scanner = new CoreScanner({ copy }, { id: nameOf(n), user })
  scanner.push(stream)
  scanner.finish()
  const value = Buffer.concat(pieces)
  const digest = createHash('sha256').update(value).digest('hex')
  const record = Buffer.from(JSON.stringify({ user, id: nameOf(n), digest, more: ' '.repeat(250) }))
  const key = (kind: number) => Buffer.concat([Buffer.from([kind]), rawKey(n), Buffer.alloc(30)])
  const values = [value, record, record, Buffer.alloc(0), Buffer.alloc(60)]
  return values.map((each, kind) => ({ type: 'put' as const, key: key(kind), value: each }))
}

function withLevel(work: (level: RawLevel) => Promise<unknown>): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const level = await openRaw(directory, rawOptions.default)
    const time = await bench.seconds(() => work(level))
    await level.close()
    return time
  })
}
