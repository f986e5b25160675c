// Durable imports of 10,000 cores of 2 kB, one after the other and 16 at once, against classic-level's synced puts of
// the same bytes, one after the other: one put for each import is what "durable" costs. Beside it what an import
// cannot leave out, whatever it is written in: every byte checked and hashed, and one synced batch that has as many
// records of the same lengths.

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

const { one, sixteen, puts, putsAtOnce, needed } = await bench.interleave(rounds, {
  one: () => importAll(1),
  sixteen: () => importAll(atOnce),
  puts: () => putAll(1),
  putsAtOnce: () => putAll(atOnce),
  needed: () =>
    withLevel((level) => inFlight(streams.entries(), 1, (all) => doWhatIsNeeded(level, all))),
})

const operations = { count, unit: 'imports/s' }
const peer = 'classic-level synced puts of the same bytes, one after the other'
const alone = `import ${count} cores of 2 kB, one after the other`
const together = `import ${count} cores of 2 kB, ${atOnce} at once`
bench.report(
  bench.compareOperations({ scenario: alone, peer }, operations, one, puts, { least: 0.9 }),
)
const limit = 'the same checked, hashed and written as one synced batch each'
bench.report(
  bench.compareOperations({ scenario: alone, peer: limit }, operations, one, needed, {
    least: 0.8,
  }),
)
bench.report(
  bench.compareOperations({ scenario: together, peer }, operations, sixteen, puts, { least: 2 }),
)
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

async function doWhatIsNeeded(level: RawLevel, [n, stream]: [number, Buffer]): Promise<void> {
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
  const batch = [value, record, record, Buffer.alloc(0), Buffer.alloc(60)]
  await level.batch(
    batch.map((each, kind) => ({ type: 'put', key: key(kind), value: each })),
    { sync: true },
  )
}

function withLevel(work: (level: RawLevel) => Promise<unknown>): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const level = await openRaw(directory, rawOptions.default)
    const time = await bench.seconds(() => work(level))
    await level.close()
    return time
  })
}
