// Export from LevelDB against classic-level alone reading values of the same size, each in the
// fastest of its ways. The first pass after opening maps the tables; the second finds them mapped,
// as far as they may stay so. Beside it what an export cannot leave out: files that are read and checked.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { LevelBackend } from '../adapters/level/index.js'
import { profiles } from '../adapters/level/profiles.js'
import { createLorekeep } from '../src/index.js'
import { CheckedFiles, filesName } from './checked-files.js'
import { check, compareRates, inDirectory, interleave, MiB, note, report } from './measure.js'
import { median, seconds } from './measure.js'
import { openRaw, rawKey, rawOptions, type RawLevel } from './peers.js'
import { createStream, cut, ref, sha256, type Stream } from './stream.js'

const rounds = 7
const target = { least: 0.6 }
/** Of what cannot be left out. */
const share = { least: 0.8 }

/** What lorekeep's own directory of slices is opened with. */
const ownOptions = {
  compression: profiles.slices.compression,
  writeBufferSize: profiles.slices.writeBufferBytes,
  maxFileSize: profiles.slices.maxFileBytes,
  maxOpenFiles: profiles.slices.maxOpenFiles,
  cacheSize: profiles.slices.cacheBytes,
}

type Read = (level: RawLevel, slices: number, take: (slice: Uint8Array) => void) => Promise<void>

const ways: Readonly<Record<string, Read>> = {
  getSync: async (level, slices, take) => {
    for (let n = 0; n < slices; n++) take(level.getSync(rawKey(n)) as Uint8Array)
  },
  'awaited get': async (level, slices, take) => {
    for (let n = 0; n < slices; n++) take((await level.get(rawKey(n))) as Uint8Array)
  },
  '4 gets in flight': async (level, slices, take) => {
    const ahead: Promise<Uint8Array | undefined>[] = []
    for (let n = 0; n < slices + 3; n++) {
      if (n < slices) ahead.push(level.get(rawKey(n)))
      if (n >= 3) take((await ahead.shift()) as Uint8Array)
    }
  },
}

await inDirectory(async (directory) => {
  const stream = createStream('triples', 160 * MiB)
  const slices = cut(stream.bytes, MiB)
  const own = join(directory, 'own')
  const bulk = join(directory, 'bulk')
  const lorekeep = join(directory, 'lorekeep')
  await fillRaw(own, ownOptions, slices)
  await fillRaw(bulk, rawOptions.bulk, slices)
  await fillLorekeep(lorekeep, stream)
  const directoryOfFiles = join(directory, 'files')
  await mkdir(directoryOfFiles)
  const files = await CheckedFiles.write(directoryOfFiles, slices)

  for (const pass of ['first', 'second'] as const) {
    const repeat = pass === 'second'
    note(`export, ${pass} pass`)
    const read = (where: string, options: object, way: Read) => (round: number) =>
      readRaw(where, options, way, stream, repeat, round === -1)
    const contestants = {
      ours: (round: number) => exportCore(lorekeep, stream, repeat, round === -1),
      files: (round: number) =>
        timePass((take) => readFiles(files, take), stream, repeat, round === -1),
      ...Object.fromEntries(
        Object.entries(ways).flatMap(([name, way]) => [
          [`own: ${name}`, read(own, ownOptions, way)],
          [`bulk: ${name}`, read(bulk, rawOptions.bulk, way)],
        ]),
      ),
    }
    const times: Record<string, number[]> = await interleave(rounds, contestants)
    const scenario = `export, ${pass} pass`
    const ours = times['ours'] as number[]
    const limit = times['files'] as number[]
    report(compareRates({ scenario, peer: filesName }, stream.bytes.length, ours, limit, share))
    for (const options of ['own', 'bulk']) {
      const [name, theirs] = fastest(options, times)
      const peer = `classic-level, ${options === 'own' ? 'our' : 'bulk'} options, ${name}`
      report(compareRates({ scenario, peer }, stream.bytes.length, ours, theirs, target))
    }
  }
  await exportCore(lorekeep, stream, false, true)
})

function fastest(options: string, times: Record<string, number[]>): [string, number[]] {
  const mine = Object.keys(ways).map((name): [string, number[]] => [
    name,
    times[`${options}: ${name}`] as number[],
  ])
  return mine.reduce((a, b) => (median(b[1]) < median(a[1]) ? b : a))
}

async function fillRaw(where: string, options: object, slices: readonly Buffer[]) {
  const level = await openRaw(where, options)
  for (const [n, slice] of slices.entries()) await level.put(rawKey(n), slice, { sync: true })
  await level.close()
}

async function fillLorekeep(where: string, stream: Stream): Promise<void> {
  await using lorekeep = await createLorekeep({ backend: new LevelBackend(where) })
  const summary = await lorekeep.knowledge.import(ref, stream.bytes)
  check(summary.digest === stream.digest, 'the digest of the import')
}

async function exportCore(
  where: string,
  stream: Stream,
  repeat: boolean,
  compare: boolean,
): Promise<number> {
  await using lorekeep = await createLorekeep({ backend: new LevelBackend(where) })
  const read = async (take: (slice: Uint8Array) => void) => {
    for await (const slice of await lorekeep.knowledge.export(ref)) take(slice)
  }
  return await timePass(read, stream, repeat, compare)
}

async function readFiles(files: CheckedFiles, take: (slice: Uint8Array) => void): Promise<void> {
  for await (const slice of files.read()) take(slice)
}

async function readRaw(
  where: string,
  options: object,
  way: Read,
  stream: Stream,
  repeat: boolean,
  compare: boolean,
): Promise<number> {
  const level = await openRaw(where, options)
  const slices = Math.ceil(stream.bytes.length / MiB)
  const time = await timePass((take) => way(level, slices, take), stream, repeat, compare)
  await level.close()
  return time
}

/** Times a pass, the second one where `repeat`; the bytes are compared in one that is not timed. */
async function timePass(
  read: (take: (slice: Uint8Array) => void) => Promise<void>,
  stream: Stream,
  repeat: boolean,
  compare: boolean,
): Promise<number> {
  let bytes = 0
  const count = (slice: Uint8Array) => (bytes += slice.length)
  if (repeat) await read(() => undefined)
  const time = await seconds(() => read(count))
  check(bytes === stream.bytes.length, 'the length of what was read')
  if (compare) {
    const parts: Uint8Array[] = []
    await read((slice) => parts.push(slice))
    check(sha256(Buffer.concat(parts)) === stream.digest, 'the bytes that were read')
  }
  return time
}
