// A core of 4 GiB, imported, against a program that writes the same bytes to files of 1 MiB and syncs each of
// them, four in flight: what a disk gives who does nothing but write. Beside it what an import cannot leave out,
// whatever it is written in: every byte checked, hashed, and summed by pieces of 16 KiB, in files of 4 MiB, each
// synced, four in flight.

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import xxhash from 'xxhash-wasm'
import { LevelBackend } from '../adapters/level/index.js'
import { CoreScanner } from '../src/codec/scanner.js'
import { createLorekeep } from '../src/index.js'
import * as bench from './measure.js'
import { sumsOf } from './checked-files.js'
import { createStream, cut, ref, type Stream } from './stream.js'

const rounds = 7
const inFlight = 4
/** Slices in a file of what cannot be left out. */
const together = 4
/** With the last message less than 128 MiB: `maxCoreBytes` is 4 GiB. */
const streamBytes = 128 * bench.MiB - 16 * 1024
const times = 32

const stream = createStream('triples', streamBytes)
const bytes = times * stream.bytes.length
const digest = digestOf(repeated([stream.bytes]))
bench.note(`import-large: ${bytes} bytes, ${times * stream.messages} messages`)
const chunks = cut(stream.bytes, 128 * 1024)
const slices = cut(stream.bytes, bench.MiB)
const { h64Raw } = await xxhash()
const { ours, theirs, needed } = await bench.interleave(rounds, {
  ours: (round) => importAll(stream, round === rounds - 1),
  theirs: () => writeFiles(),
  needed: () => doWhatIsNeeded(),
})
const scenario = 'import of 4 GiB'
const peer = 'files of 1 MiB, each synced (fdatasync), 4 in flight'
bench.report(bench.compareRates({ scenario, peer }, bytes, ours, theirs, { least: 0.8 }))
const limit = 'the same checked, hashed and summed, in files of 4 MiB, each synced, 4 in flight'
bench.report(bench.compareRates({ scenario, peer: limit }, bytes, ours, needed, { least: 0.8 }))

function importAll({ messages, items }: Stream, readBack: boolean): Promise<number> {
  return bench.inDirectory(async (directory) => {
    await using keep = await createLorekeep({ backend: new LevelBackend(directory) })
    const { knowledge } = keep
    const time = await bench.seconds(async () => {
      const summary = await knowledge.import(ref, repeated(chunks))
      bench.check(summary.digest === digest, 'the digest of the import')
    })
    const stat = await knowledge.stat(ref)
    const isWhole = stat?.messages === times * messages && stat.triples === times * items
    bench.check(isWhole, 'the counts of the core')
    if (readBack) {
      const hash = createHash('sha256')
      for await (const slice of await knowledge.export(ref)) hash.update(slice)
      bench.check(hash.digest('hex') === digest, 'the bytes of the export')
    }
    return time
  })
}

function writeFiles(): Promise<number> {
  return bench.inDirectory((directory) =>
    bench.seconds(async () => {
      const all = repeated(slices)
      let count = 0
      const write = async () => {
        for (const slice of all) {
          const file = await open(join(directory, `${count++}`), 'wx')
          await file.write(slice)
          await file.datasync()
          await file.close()
        }
      }
      await Promise.all(Array.from({ length: inFlight }, write))
      bench.check(count === times * slices.length, 'the count of the files')
    }),
  )
}

function doWhatIsNeeded(): Promise<number> {
  return bench.inDirectory((directory) =>
    bench.seconds(async () => {
      const hash = createHash('sha256')
      const free: Buffer[] = []
      const full: Buffer[] = []
      let block: Buffer = Buffer.allocUnsafeSlow(bench.MiB)
      let filled = 0
      let files = 0
      const end = () => {
        const slice = block.subarray(0, filled)
        hash.update(slice)
        sumsOf(slice, h64Raw)
        full.push(slice)
        block = free.pop() ?? Buffer.allocUnsafeSlow(bench.MiB)
        filled = 0
      }
      const copy = (chunk: Uint8Array, from: number, to: number) => {
        for (let at = from; at < to;) {
          const fits = Math.min(to - at, bench.MiB - filled)
          block.set(chunk.subarray(at, at + fits), filled)
          filled += fits
          at += fits
          if (filled === bench.MiB) end()
        }
      }
      const write = async (values: readonly Buffer[]) => {
        const file = await open(join(directory, `${files++}`), 'wx')
        let at = 0
        for (const value of values) {
          await file.write(value, 0, value.length, at)
          at += value.length
        }
        await file.datasync()
        await file.close()
        for (const { buffer } of values) free.push(Buffer.from(buffer))
      }
      const writing = new Set<Promise<void>>()
      const writeFull = () => {
        const written = write(full.splice(0, together)).finally(() => writing.delete(written))
        writing.add(written)
      }
      const scanner = new CoreScanner({ copy }, ref)
      for (const chunk of repeated(chunks)) {
        scanner.push(chunk)
        while (full.length >= together) {
          writeFull()
          while (writing.size >= inFlight) await Promise.race(writing)
        }
      }
      scanner.finish()
      end()
      while (full.length > 0) writeFull()
      await Promise.all(writing)
      bench.check(hash.digest('hex') === digest, 'the digest of the files')
    }),
  )
}

function* repeated(pieces: readonly Buffer[]): Generator<Buffer, void, undefined> {
  for (let n = 0; n < times; n++) yield* pieces
}

function digestOf(pieces: Iterable<Buffer>): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}
