// A core of 4 GiB, imported, against a program that writes the same bytes to files of 1 MiB and syncs each of
// them, four in flight: what a disk gives who does nothing but write. Beside it what an import cannot leave out,
// whatever it is written in. Most of the free memory is touched before each of them: where a virtual machine gives free memory back
// to its host, the first to need it again would wait for it, 2.5 s a GiB.

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { LevelBackend } from '../adapters/level/index.js'
import { createLorekeep } from '../src/index.js'
import * as bench from './measure.js'
import { importName, importNeeded } from './import-needed.js'
import { createStream, cut, ref, type Stream } from './stream.js'

const rounds = Number(process.env['ROUNDS'] ?? 7)
const inFlight = 4
/** With the last message less than 128 MiB: `maxCoreBytes` is 4 GiB. */
const streamBytes = 128 * bench.MiB - 16 * 1024
const times = 32

const stream = createStream('triples', streamBytes)
const bytes = times * stream.bytes.length
const digest = digestOf(repeated([stream.bytes]))
bench.note(`import-large: ${bytes} bytes, ${times * stream.messages} messages`)
const chunks = cut(stream.bytes, 128 * 1024)
const slices = cut(stream.bytes, bench.MiB)
const { ours, theirs, needed } = await bench.interleave(rounds, {
  ours: afterTouch((round) => importAll(stream, round === rounds - 1)),
  theirs: afterTouch(() => writeFiles()),
  needed: afterTouch(() => importNeeded(repeated(chunks), ref, digest)),
})
const scenario = 'import of 4 GiB'
const peer = 'files of 1 MiB, each synced (fdatasync), 4 in flight'
bench.report(bench.compareRates({ scenario, peer }, bytes, ours, theirs, { least: 0.8 }))
const toNeeded = { scenario, peer: importName }
bench.report(bench.compareRates(toNeeded, bytes, ours, needed, { least: 0.8 }))

/** So that no side fetches what another one has left. */
function afterTouch(run: bench.Contestant): bench.Contestant {
  return (round) => {
    bench.touchMemory(3 * bytes)
    return run(round)
  }
}

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

function* repeated(pieces: readonly Buffer[]): Generator<Buffer, void, undefined> {
  for (let n = 0; n < times; n++) yield* pieces
}

function digestOf(pieces: Iterable<Buffer>): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}
