// Durable import into LevelDB against decoding the same stream, and against classic-level alone
// storing the same bytes.

import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { LevelBackend } from '../adapters/level/index.js'
import { createLorekeep } from '../src/index.js'
import * as bench from './measure.js'
import type { Target } from './measure.js'
import { isNativeAccelerationEnabled, openRaw, rawKey, rawOptions, UnpackrStream } from './peers.js'
import { createStream, cut, ref, sha256, type Kind, type Stream } from './stream.js'

const rounds = 7
const streamBytes = 160 * bench.MiB

export async function measureImport(
  kind: Kind,
  targets: { readonly decoding: Target; readonly raw: Target },
): Promise<void> {
  const stream = createStream(kind, streamBytes)
  const chunks = cut(stream.bytes, 128 * 1024)
  const slices = cut(stream.bytes, bench.MiB)
  bench.note(`import-${kind}: ${stream.bytes.length} bytes, ${stream.messages} messages`)
  bench.note(`  msgpackr's native part: ${isNativeAccelerationEnabled}`)
  const { ours, decoding, plain, bulk } = await bench.interleave(rounds, {
    ours: (round) => importStream(stream, chunks, isChecked(round)),
    decoding: () => decodeStream(stream, chunks),
    plain: (round) => putSlices(slices, rawOptions.default, stream, isChecked(round)),
    bulk: (round) => putSlices(slices, rawOptions.bulk, stream, isChecked(round)),
  })
  const scenario = `import ${kind}`
  const compare = (peer: string, theirs: readonly number[], target: Target) =>
    bench.report(bench.compareRates({ scenario, peer }, stream.bytes.length, ours, theirs, target))
  compare('msgpackr UnpackrStream decoding', decoding, targets.decoding)
  compare('classic-level synced puts, its defaults', plain, targets.raw)
  compare('classic-level synced puts, bulk options', bulk, targets.raw)
}

/** What was stored is read back before the first round that counts, and after the last. */
const isChecked = (round: number) => round === -1 || round === rounds - 1

function importStream(
  stream: Stream,
  chunks: readonly Buffer[],
  readBack: boolean,
): Promise<number> {
  return bench.inDirectory(async (directory) => {
    await using lorekeep = await createLorekeep({ backend: new LevelBackend(directory) })
    const { knowledge } = lorekeep
    let time = 0
    time = await bench.seconds(async () => {
      const summary = await knowledge.import(ref, Readable.from(chunks))
      bench.check(summary.digest === stream.digest, 'the digest of the import')
    })
    const stat = await knowledge.stat(ref)
    const items = stream.kind === 'triples' ? stat?.triples : stat?.entities
    bench.check(
      stat?.messages === stream.messages && items === stream.items,
      'the counts of the core',
    )
    if (readBack) {
      const parts: Uint8Array[] = []
      for await (const part of await knowledge.export(ref)) parts.push(part)
      bench.check(sha256(Buffer.concat(parts)) === stream.digest, 'the bytes of the export')
    }
    return time
  })
}

async function decodeStream(stream: Stream, chunks: readonly Buffer[]): Promise<number> {
  let messages = 0
  let items = 0
  const time = await bench.seconds(async () => {
    const decoder = new UnpackrStream({ useRecords: false })
    decoder.on('data', ([, data]: [string, { t?: unknown[]; e?: unknown[] }]) => {
      messages++
      items += (data.t ?? data.e ?? []).length
    })
    await finished(Readable.from(chunks).pipe(decoder))
  })
  bench.check(messages === stream.messages && items === stream.items, 'the decoded counts')
  return time
}

function putSlices(
  slices: readonly Buffer[],
  options: object,
  stream: Stream,
  readBack: boolean,
): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const level = await openRaw(directory, options)
    const time = await bench.seconds(async () => {
      for (const [n, slice] of slices.entries()) await level.put(rawKey(n), slice, { sync: true })
    })
    if (readBack) {
      const found = slices.map((_, n) => level.getSync(rawKey(n)) ?? new Uint8Array(0))
      bench.check(
        sha256(Buffer.concat(found)) === stream.digest,
        "the bytes in classic-level's hands",
      )
    }
    await level.close()
    return time
  })
}
