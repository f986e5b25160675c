// Backup of a LevelDB store and its restore, against copying the files of the closed store, each
// synced; and how long writers wait while a backup runs, against how long they wait anyway.

import { cp, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { LevelBackend } from '../adapters/level/index.js'
import { encodeMessage } from '../src/codec/encoder.js'
import { createLorekeep, restore } from '../src/index.js'
import type { Lorekeep } from '../src/index.js'
import { triplesMessage } from '../test/fixtures/stores.js'
import { check, compareRates, inDirectory, interleave, median, MiB, note } from './measure.js'
import { report, seconds, spread } from './measure.js'

const rounds = 5
const coreBytes = 160 * MiB
const objects = 50_000
const ref = { user: 'bench', id: 'core' }

await inDirectory(async (directory) => {
  const data = join(directory, 'data')
  const file = join(directory, 'backup')
  const copy = join(directory, 'copy')
  await fill(data)
  let bytes = 0
  let digest = ''

  const backUp = async (target: () => string | Writable) => {
    await using keep = await createLorekeep({ backend: new LevelBackend(data) })
    const time = await seconds(async () => {
      const summary = await keep.backup(target())
      bytes = summary.bytes
    })
    digest = (await keep.knowledge.stat(ref))?.digest ?? ''
    return time
  }
  const times = await interleave(rounds, {
    backup: () => backUp(() => file),
    stream: () => backUp(() => new Writable({ write: (_chunk, _encoding, done) => done() })),
    copy: () => copied(data, copy),
    restore: async () => {
      const target = join(directory, 'restored')
      const backend = new LevelBackend(target)
      const time = await seconds(() => restore(backend, file))
      await using keep = await createLorekeep({ backend })
      check((await keep.knowledge.stat(ref))?.digest === digest, 'the digest of what was restored')
      const { total } = await keep.objects.query({ schema_name: 's', limit: 0 })
      check(total === objects, 'the number of objects that were restored')
      await keep.close()
      await rm(target, { recursive: true })
      return time
    },
  })
  const peer = 'copying the files of the closed store, synced'
  const { backup, stream, copy: theirs, restore: restored } = times
  report(compareRates({ scenario: 'backup to a file', peer }, bytes, backup, theirs))
  const least = stream.map(() => bytes / 150e6)
  const wanted = { scenario: 'backup to a stream', peer: 'what is promised' }
  report(compareRates(wanted, bytes, stream, least, { least: 1 }))
  report(compareRates({ scenario: 'restore from a file', peer }, bytes, restored, theirs))

  await using keep = await createLorekeep({ backend: new LevelBackend(data) })
  const [alone, during]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    alone.push(await longestWait(keep, undefined))
    during.push(await longestWait(keep, () => keep.backup(join(directory, 'busy'))))
    note(`  longest wait: ${alone.at(-1)?.toFixed(0)} ms alone, ${during.at(-1)?.toFixed(0)} ms`)
  }
  const show = (waits: readonly number[]) => `${median(waits).toFixed(0)} ms`
  report({
    scenario: 'longest wait of a writer while a backup runs',
    peer: 'the same while none runs',
    ours: show(during),
    theirs: show(alone),
    ...spread(during.map((wait, n) => wait - (alone[n] as number))),
    unit: 'ms',
    target: { most: 100 },
  })
})

/** Slices and small records, as in a store that is used. */
async function fill(data: string): Promise<void> {
  await using keep = await createLorekeep({ backend: new LevelBackend(data) })
  const message = encodeMessage(triplesMessage('core', 2000))
  const count = Math.ceil(coreBytes / message.length)
  await keep.knowledge.import(
    ref,
    Array.from({ length: count }, () => message),
  )
  await keep.objects.defineSchema({ name: 's', fields: { n: { type: 'integer' } }, indexes: ['n'] })
  for (let from = 0; from < objects; from += 1000) await importSome(keep, from, 1000)
}

async function importSome(keep: Lorekeep, from: number, count: number): Promise<void> {
  const values = Array.from({ length: count }, (_, n) => ({ id: `o${from + n}`, n: from + n }))
  const metadata = { id: `batch ${from}`, user: ref.user, collection: 'c' }
  await keep.objects.import({ metadata, schema_name: 's', values }, { onDuplicate: 'replace' })
}

/** Of imports of ten objects, one after the other, that change what is there: in milliseconds. */
async function longestWait(
  keep: Lorekeep,
  backup: (() => Promise<unknown>) | undefined,
): Promise<number> {
  let ended = false
  const running = backup?.() ?? sleep(1000)
  const end = running.finally(() => (ended = true))
  let longest = 0
  for (let n = 0; !ended; n += 997) {
    const start = performance.now()
    await importSome(keep, n % (objects - 10), 10)
    longest = Math.max(longest, performance.now() - start)
  }
  await end
  return longest
}

async function copied(from: string, to: string): Promise<number> {
  const time = await seconds(async () => {
    await cp(from, to, { recursive: true })
    for (const name of await readdir(to, { recursive: true })) {
      const path = join(to, name)
      if (!(await stat(path)).isFile()) continue
      const handle = await open(path, 'r+')
      await handle.sync()
      await handle.close()
    }
  })
  await rm(to, { recursive: true })
  return time
}
