import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { createLorekeep, restore } from '../../src/index.js'
import type { Backend, LorekeepError, PartitionName, RestoreProgress } from '../../src/index.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { exported, openStore, triplesMessage } from '../fixtures/stores.js'

const names: readonly PartitionName[] = ['cores', 'slices', 'objects', 'flows']
const ref = { user: 'u', id: 'core' }

/** A backup of some blocks. */
async function backupFile(t: Test): Promise<string> {
  const file = join(t.testdir(), 'a.backup')
  const keep = await openStore(t, new MemoryBackend())
  await keep.knowledge.import(ref, encodeMessage(triplesMessage('core', 30_000), 0))
  await keep.backup(file)
  return file
}

async function entriesOf(backend: Backend): Promise<number> {
  let entries = 0
  for (const name of names) {
    const storage = await backend.open(name)
    for await (const page of storage.scan({ keysOnly: true })) entries += page.length
  }
  return entries
}

const skip = process.platform === 'win32' && 'it has no pipes with names'

t.test('a pipe is read once, and let go of where it is not read', { skip }, async (t) => {
  const bytes = readFileSync(await backupFile(t))
  const pipe = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const backend = new MemoryBackend()
  const writing = writeFile(pipe, bytes)
  const [summary] = await Promise.all([restore(backend, pipe), writing])
  t.equal(summary.bytes, bytes.length)
  t.equal(await entriesOf(backend), summary.entries)
  // Of more than a pipe has room for.
  t.ok(bytes.length > 2 ** 16)
  const unread = t.rejects(writeFile(pipe, bytes), { code: 'EPIPE' })
  await t.rejects(restore(backend, pipe), { code: 'LK_BACKUP_NOT_EMPTY' })
  await unread
})

t.test('an abort does not wait for a pipe that is silent', { skip }, async (t) => {
  const pipe = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const opening = open(pipe, 'w')
  const controller = new AbortController()
  const { signal } = controller
  const restoring = restore(new MemoryBackend(), pipe, { signal })
  const writer = await opening
  // Most likely it reads by then; it ends alike before.
  await sleep(50)
  controller.abort(new Error('enough'))
  await t.rejects(restoring, { message: 'enough' })
  await writer.close()
})

t.test('a damaged or cut file is refused before the backend is touched', async (t) => {
  const file = await backupFile(t)
  const bytes = readFileSync(file)
  const bad = `${file}.bad`
  for (const at of [9, 40, bytes.length >> 1, bytes.length - 100, bytes.length - 1]) {
    const flipped = Buffer.from(bytes)
    flipped[at]! ^= 4
    writeFileSync(bad, flipped)
    const directory = join(dirname(file), 'data')
    await t.rejects(restore(new LevelBackend(directory), bad), { code: 'LK_BACKUP_DAMAGED' })
    t.notOk(existsSync(directory))
    writeFileSync(bad, bytes.subarray(0, at))
    await t.rejects(restore(new LevelBackend(directory), bad), { code: 'LK_BACKUP_DAMAGED' })
    t.notOk(existsSync(directory))
  }
  writeFileSync(bad, 'not a backup')
  const backend = new FaultyBackend(new MemoryBackend())
  await t.rejects(restore(backend, bad), { code: 'LK_BACKUP_FORMAT' })
  await t.rejects(restore(backend, `${file}.none`), { code: 'ENOENT' })
  t.equal(backend.calls, 0)
})

t.test('a compressed backup is told from other files', async (t) => {
  const file = await backupFile(t)
  const bytes = readFileSync(file)
  for (const [looksLike, compressed] of [
    ['gzip', gzipSync(bytes)],
    ['zstd', Buffer.from('28b52ffd0458', 'hex')],
    ['xz', Buffer.from('fd377a585a000004', 'hex')],
  ] as const) {
    for (const source of [compressed, file]) {
      writeFileSync(file, compressed)
      await t.rejects(restore(new MemoryBackend(), source), {
        code: 'LK_BACKUP_FORMAT',
        details: { looksLike },
      })
    }
  }
  const other = Buffer.from('28b52ffc0458', 'hex')
  const { details } = (await restore(new MemoryBackend(), other).catch(
    (error: unknown) => error,
  )) as LorekeepError
  t.same(details, {})
})

t.test('a damaged or cut stream leaves an empty backend, good for the next', async (t) => {
  const file = await backupFile(t)
  const bytes = readFileSync(file)
  const backend = new MemoryBackend()
  for (const at of [30, bytes.length >> 1, bytes.length - 1]) {
    const flipped = Buffer.from(bytes)
    flipped[at]! ^= 1
    await t.rejects(restore(backend, flipped), { code: 'LK_BACKUP_DAMAGED' })
    t.equal(await entriesOf(backend), 0)
    await t.rejects(restore(backend, [bytes.subarray(0, at)]), { code: 'LK_BACKUP_DAMAGED' })
    t.equal(await entriesOf(backend), 0)
  }
  await restore(backend, [bytes])
  const keep = await openStore(t, backend)
  t.ok(await keep.knowledge.stat(ref))
})

t.test('a source that fails, and an abort, leave an empty backend', async (t) => {
  const bytes = readFileSync(await backupFile(t))
  const backend = new MemoryBackend()
  async function* failing() {
    yield bytes.subarray(0, bytes.length - 10)
    throw new Error('the line is dead')
  }
  await t.rejects(restore(backend, failing()), { message: 'the line is dead' })
  t.equal(await entriesOf(backend), 0)
  const controller = new AbortController()
  async function* silent() {
    yield bytes.subarray(0, bytes.length - 10)
    controller.abort(new Error('enough'))
    await new Promise(() => {})
  }
  const { signal } = controller
  await t.rejects(restore(backend, silent(), { signal }), { message: 'enough' })
  t.equal(await entriesOf(backend), 0)
  const onProgress = () => {
    throw new Error('no more')
  }
  await t.rejects(restore(backend, bytes, { onProgress }), { message: 'no more' })
  t.equal(await entriesOf(backend), 0)
})

t.test('what is not empty is refused, and left as it is', async (t) => {
  const file = await backupFile(t)
  for (const name of names) {
    const backend = new MemoryBackend()
    await (
      await backend.open(name)
    ).write([{ type: 'put', key: Buffer.from('a'), value: Buffer.from('b') }])
    await t.rejects(restore(backend, file), {
      code: 'LK_BACKUP_NOT_EMPTY',
      details: { partition: name },
    })
    t.equal(await entriesOf(backend), 1)
  }
  const backend = new MemoryBackend()
  await openStore(t, backend)
  await t.rejects(restore(backend, file), { code: 'LK_BACKUP_NOT_EMPTY' })
})

t.test('two restores at once into one backend: the second is refused', async (t) => {
  const file = await backupFile(t)
  const backend = new MemoryBackend()
  const first = restore(backend, file)
  await t.rejects(restore(backend, file), { code: 'LK_STORAGE_LOCKED' })
  await first
  await t.rejects(restore(backend, file), { code: 'LK_BACKUP_NOT_EMPTY' })
})

t.test('progress tells of both passes over a file', async (t) => {
  const file = await backupFile(t)
  const seen: RestoreProgress[] = []
  const onProgress = (progress: RestoreProgress) => void seen.push(progress)
  const { bytes } = await restore(new MemoryBackend(), file, { onProgress })
  t.same(new Set(seen.map(({ step }) => step)), new Set(['checking', 'writing']))
  t.ok(seen.every((progress) => progress.bytes <= bytes))
  t.equal(bytes, statSync(file).size)
})

t.test(
  'a restore that is killed leaves what nobody opens, and what can be restored into',
  async (t) => {
    const file = await backupFile(t)
    const { size } = statSync(file)
    const directory = join(dirname(file), 'data')
    for (const share of [0.5, 1]) {
      const child = fork(resolve('dist/test/backup/restore-child.js'), [
        directory,
        file,
        String(Math.floor(size * share) - 40_000),
      ])
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
      t.equal(signal, 'SIGKILL')
      await t.rejects(createLorekeep({ backend: new LevelBackend(directory) }), {
        code: 'LK_BACKUP_UNFINISHED',
      })
    }
    const backend = new LevelBackend(directory)
    await restore(backend, file)
    const keep = await openStore(t, backend)
    const memory = new MemoryBackend()
    await restore(memory, file)
    const copy = await openStore(t, memory)
    t.ok((await exported(keep.knowledge, ref)).equals(await exported(copy.knowledge, ref)))
  },
)

t.test('a failure of any call leaves all, nothing, or what is refused', async (t) => {
  const file = await backupFile(t)
  const complete = new MemoryBackend()
  await restore(complete, file)
  const whole = await entriesOf(complete)
  for (const when of ['before', 'after'] as const) {
    for (const lasting of [false, true]) {
      for (let failAt = 1; ; failAt++) {
        const real = new MemoryBackend()
        const backend = new FaultyBackend(real)
        Object.assign(backend, { failAt, when, lasting })
        const outcome = await restore(backend, file).then(
          () => 'resolved',
          (error: { code?: string }) => error.code,
        )
        const entries = await entriesOf(real)
        if (!backend.failed) {
          t.equal(outcome, 'resolved')
          break
        }
        const where = `${when} call ${failAt}${lasting ? ' and on' : ''}: ${outcome}, ${entries}`
        if (outcome === 'resolved') t.equal(entries, whole, where)
        else if (entries !== 0 && entries !== whole) {
          t.ok(lasting, where)
          await t.rejects(
            createLorekeep({ backend: real }),
            { code: 'LK_BACKUP_UNFINISHED' },
            where,
          )
        }
      }
    }
  }
})

t.test('a deletion of the mark that only seemed to fail leaves no part of a backup', async (t) => {
  const file = await backupFile(t)
  const counted = new FaultyBackend(new MemoryBackend())
  await restore(counted, file)
  const whole = await entriesOf(counted.real)
  // The last call of a restore deletes the mark; some calls later everything fails.
  for (let more = 0; more < 12; more++) {
    const real = new MemoryBackend()
    const backend = new FaultyBackend(real)
    Object.assign(backend, { failAt: counted.calls, when: 'after' })
    backend.beforeCall = async (call) => {
      if (call === counted.calls + 1) Object.assign(backend, { failAt: Infinity })
      if (call > counted.calls + more) throw new Error('the disk is gone')
    }
    await t.rejects(restore(backend, file))
    const entries = await entriesOf(real)
    if (entries === 0 || entries === whole) continue
    await t.rejects(
      createLorekeep({ backend: real }),
      { code: 'LK_BACKUP_UNFINISHED' },
      `${more} calls later: ${entries}`,
    )
  }
})
