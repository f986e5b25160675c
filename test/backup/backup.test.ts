import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { createLorekeep, restore } from '../../src/index.js'
import type { Backend, BackupProgress } from '../../src/index.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { exported, openStore, slicedMessage, triplesMessage } from '../fixtures/stores.js'

// Temporary files of others, who may make backups meanwhile, are not looked at.
process.env['TMPDIR'] = t.testdir()

const ref = { user: 'u', id: 'core' }
const core = (name = 'core', triples = 3) => encodeMessage(triplesMessage(name, triples), 0)
const sliced = (name: string) => encodeMessage(slicedMessage(name), 0)

async function filled(t: Parameters<typeof openStore>[0], backend: Backend = new MemoryBackend()) {
  const keep = await openStore(t, backend)
  await keep.knowledge.import(ref, core())
  await keep.objects.defineSchema({
    name: 's',
    fields: [{ name: 'id', type: 'string', primary_key: true }],
  })
  await keep.flows.load('default', { id: 'doc', user: 'u', content: 'A text.' })
  return keep
}

async function restored(t: Parameters<typeof openStore>[0], bytes: Parameters<typeof restore>[1]) {
  const backend = new MemoryBackend()
  const summary = await restore(backend, bytes)
  return { summary, keep: await openStore(t, backend) }
}

t.test('what was backed up restores, from each kind of target and source', async (t) => {
  const dir = t.testdir()
  const keep = await filled(t)
  // Indexed in the background it would come between two backups.
  await keep.knowledge.index({ user: ref.user })
  const file = join(dir, 'a.backup')
  const seen: BackupProgress[] = []
  const summary = await keep.backup(file, { onProgress: (progress) => seen.push(progress) })
  const bytes = readFileSync(file)
  const content = await exported(keep.knowledge, ref)
  t.equal(summary.bytes, bytes.length)
  t.same(
    new Set(seen.map(({ partition }) => partition)),
    new Set(['flows', 'objects', 'cores', 'slices']),
  )
  t.equal(seen.at(-1)?.entries, summary.entries)

  const chunks: Uint8Array[] = []
  const web = new WritableStream<Uint8Array>({ write: (chunk) => void chunks.push(chunk.slice()) })
  await keep.backup(web)
  await keep.backup(pathToFileURL(join(dir, 'b.backup')))
  const through = new PassThrough()
  const piped = through.toArray() as Promise<Buffer[]>
  await keep.backup(through)

  const sources = [
    file,
    pathToFileURL(file),
    bytes,
    [bytes.subarray(0, 50), bytes.subarray(50)],
    Readable.from([bytes]),
    new Blob([bytes]).stream() as ReadableStream<Uint8Array>,
    Buffer.concat(chunks),
    join(dir, 'b.backup'),
    Buffer.concat(await piped),
  ]
  for (const source of sources) {
    const { summary: found, keep: copy } = await restored(t, source)
    t.equal(found.entries, summary.entries)
    t.equal(found.digest.length, 64)
    t.ok((await exported(copy.knowledge, ref)).equals(content))
    t.equal((await copy.flows.stats('default')).queued, 1)
    t.same(
      (await copy.objects.schemas()).map(({ name }) => name),
      ['s'],
    )
  }
})

t.test('LevelDB to memory to LevelDB exports the same bytes', async (t) => {
  const dir = t.testdir()
  const first = await filled(t, new LevelBackend(join(dir, 'first')))
  // More than one slice, each in a file of its own.
  await first.knowledge.import({ user: 'u', id: 'big' }, core('big', 20_000))
  await first.backup(join(dir, '1'))
  const { keep: second } = await restored(t, join(dir, '1'))
  await second.backup(join(dir, '2'))
  const backend = new LevelBackend(join(dir, 'third'))
  await restore(backend, join(dir, '2'))
  const third = await openStore(t, backend)
  for (const id of ['core', 'big']) {
    const bytes = await exported(first.knowledge, { user: 'u', id })
    t.ok((await exported(third.knowledge, { user: 'u', id })).equals(bytes), id)
  }
})

t.test('a file replaces the one of its name when it is whole, and is for its owner', async (t) => {
  const dir = t.testdir({ old: 'old' })
  const keep = await filled(t)
  await keep.backup(join(dir, 'new'))
  if (process.platform !== 'win32') t.equal(statSync(join(dir, 'new')).mode & 0o777, 0o600)
  symlinkSync('old', join(dir, 'link'))
  await keep.backup(join(dir, 'link'))
  t.equal(readFileSync(join(dir, 'old')).subarray(0, 8).toString(), 'LKBACKUP')
  for (const [before, after] of [
    [0o644, 0o600],
    [0o400, 0o400],
  ] as const) {
    chmodSync(join(dir, 'old'), before)
    await keep.backup(join(dir, 'old'))
    if (process.platform !== 'win32') t.equal(statSync(join(dir, 'old')).mode & 0o777, after)
  }
  chmodSync(join(dir, 'old'), 0o600)
  writeFileSync(join(dir, 'old'), 'old')
  const failing = { signal: AbortSignal.abort(new Error('enough')) }
  await t.rejects(keep.backup(join(dir, 'old'), failing), { message: 'enough' })
  const controller = new AbortController()
  const onProgress = () => controller.abort(new Error('half way'))
  await t.rejects(keep.backup(join(dir, 'old'), { signal: controller.signal, onProgress }), {
    message: 'half way',
  })
  await t.rejects(keep.backup(join(dir, 'none', 'a')), { code: 'ENOENT' })
  t.equal(readFileSync(join(dir, 'old'), 'utf8'), 'old')
  t.same(readdirSync(dir).sort(), ['link', 'new', 'old'])
})

t.test('what is no target or source is a TypeError', async (t) => {
  const keep = await filled(t)
  for (const target of [undefined, null, 7, '', {}]) {
    await t.rejects(keep.backup(target as never), TypeError)
  }
  for (const source of [undefined, null, 7, {}]) {
    await t.rejects(restore(new MemoryBackend(), source as never), TypeError)
  }
  await t.rejects(restore(undefined as never, 'x'), TypeError)
})

t.test('options that cannot be are a TypeError, and write nothing', async (t) => {
  const dir = t.testdir()
  const file = join(dir, 'file')
  const keep = await filled(t)
  await keep.backup(file, { signal: undefined, onProgress: undefined })
  for (const options of [
    { signall: AbortSignal.abort() },
    { signal: 'now' },
    { signal: null },
    { onProgress: true },
    null,
    7,
  ] as never[]) {
    await t.rejects(keep.backup(join(dir, 'none'), options), TypeError)
    const backend = new FaultyBackend(new MemoryBackend())
    await t.rejects(restore(backend, file, options), TypeError)
    t.equal(backend.calls, 0)
  }
  t.same(readdirSync(dir), ['file'])
})

t.test('a target that fails ends the backup with its error', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const keep = await openStore(t, backend)
  const node = new Writable({
    write: (_chunk, _encoding, callback) => callback(new Error('the disk is full')),
  })
  await t.rejects(keep.backup(node), { message: 'the disk is full' })
  t.ok(node.destroyed)
  const web = new WritableStream({
    write: () => {
      throw new Error('the reader left')
    },
  })
  await t.rejects(keep.backup(web), { message: 'the reader left' })
  // The layer costs nothing again: a write is a write.
  const cores = await backend.open('cores')
  const { calls } = backend
  await cores.write([])
  t.equal(backend.calls, calls + 1)
  t.equal((await keep.knowledge.import(ref, core())).duplicate, false)
})

t.test('a storage that fails ends the backup, and destroys its target', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const keep = await openStore(t, backend)
  const target = new PassThrough().resume()
  backend.failAt = backend.calls + 1
  await t.rejects(keep.backup(target), { code: 'LK_STORAGE_FAILED' })
  t.ok(target.destroyed)
})

/** Takes the first chunk and no more until it is let. */
function stalled() {
  let letGo = () => {}
  const open = new Promise<void>((resolve) => (letGo = resolve))
  const chunks: Buffer[] = []
  let reached = () => {}
  const waiting = new Promise<void>((resolve) => (reached = resolve))
  const target = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, callback) => {
      chunks.push(Buffer.from(chunk))
      reached()
      void open.then(() => callback())
    },
  })
  return { target, letGo, waiting, bytes: () => Buffer.concat(chunks) }
}

t.test('a target that takes nothing holds up nobody, and gets the state of the call', async (t) => {
  const keep = await openStore(t, new LevelBackend(t.testdir()))
  for (let n = 0; n < 12; n++)
    await keep.knowledge.import({ user: 'u', id: `c${n}` }, core(`c${n}`, 10_000))
  const before = new Map<string, Buffer>()
  for (let n = 0; n < 12; n++)
    before.set(`c${n}`, await exported(keep.knowledge, { user: 'u', id: `c${n}` }))
  const { target, letGo, waiting, bytes } = stalled()
  const backup = keep.backup(target)
  await waiting
  // Everything changes, and is acknowledged, while not a byte more is taken.
  for (let n = 0; n < 12; n++) {
    const of = { user: 'u', id: `c${n}` }
    if (n % 3 === 0) await keep.knowledge.delete(of)
    else await keep.knowledge.import(of, core('other', 10), { mode: 'replace' })
    await keep.knowledge.import({ user: 'u', id: `new${n}` }, core('new', 100))
    await keep.flows.load('default', {
      id: `doc${n}`,
      user: 'u',
      content: 'x'.repeat(100_000),
    })
  }
  letGo()
  await backup
  const { keep: copy } = await restored(t, bytes())
  const ids: string[] = []
  for await (const { id } of copy.knowledge.list({ user: 'u' })) ids.push(id)
  t.same(ids, [...before.keys()].sort())
  for (const [id, content] of before) {
    t.ok((await exported(copy.knowledge, { user: 'u', id })).equals(content), id)
  }
  t.equal((await copy.flows.stats('default')).queued, 0)
})

t.test('a storage and a target that answer at once leave turns to others', async (t) => {
  const backend = new MemoryBackend()
  const keep = await filled(t, backend)
  const slices = await backend.open('slices')
  const value = Buffer.alloc(1024 * 1024)
  for (let n = 0; n < 30; n++) {
    await slices.write([{ type: 'put', key: Buffer.from(`z${100 + n}`), value }])
  }
  let turns = 0
  let ended = false
  const backup = keep
    .backup(new Writable({ write: (_chunk, _encoding, callback) => callback() }))
    .finally(() => (ended = true))
  for (; !ended; turns++) await turn()
  await backup
  // Of some 15 pages; one turn where nobody else gets any.
  t.ok(turns > 5, `${turns} turns`)
})

t.test('a backend that others write to is not backed up from here', async (t) => {
  const memory = new MemoryBackend()
  const keep = await filled(t, {
    shared: true,
    open: (name) => memory.open(name),
    close: () => memory.close(),
    [Symbol.asyncDispose]: () => memory.close(),
  })
  await t.rejects(keep.backup(join(t.testdir(), 'a')), { code: 'LK_STORAGE_FAILED' })
})

t.test('close() waits for a backup, and then aborts it', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend(), closeTimeoutMs: 5 })
  const { target, waiting } = stalled()
  const backup = keep.backup(target)
  await waiting
  const closing = keep.close()
  await t.rejects(keep.backup('x'), { code: 'LK_CLOSED' })
  await t.rejects(backup, { code: 'LK_CLOSED' })
  await closing
  t.ok(target.destroyed)

  const patient = await filled(t)
  const slow = stalled()
  const whole = patient.backup(slow.target)
  await slow.waiting
  const closed = patient.close()
  await turn()
  slow.letGo()
  await whole
  await closed
  await restored(t, slow.bytes())
})

t.test('an abort ends a backup that waits for its target', async (t) => {
  const keep = await filled(t)
  for (const target of [stalled().target, stalledWeb()]) {
    const controller = new AbortController()
    const backup = keep.backup(target, { signal: controller.signal })
    await turn()
    controller.abort(new Error('enough'))
    await t.rejects(backup, { message: 'enough' })
  }
})

const skip = process.platform === 'win32' && 'it has no pipes with names'

t.test('an abort, and close(), end a backup to a pipe nobody reads', { skip }, async (t) => {
  const path = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [path])
  const keep = await filled(t)
  const controller = new AbortController()
  const backup = keep.backup(path, { signal: controller.signal })
  await turn()
  controller.abort(new Error('enough'))
  await t.rejects(backup, { message: 'enough' })
  const closing = await createLorekeep({ backend: new MemoryBackend(), closeTimeoutMs: 5 })
  const other = closing.backup(path)
  const closed = closing.close()
  await t.rejects(other, { code: 'LK_CLOSED' })
  await closed
  // Whoever reads at last gets the end of it, and no bytes of either.
  t.equal((await readFile(path)).length, 0)
})

function stalledWeb() {
  return new WritableStream<Uint8Array>({ write: () => new Promise<void>(() => {}) })
}

t.test('several backups at once are each of their own moment', async (t) => {
  const keep = await filled(t)
  const all: ReturnType<typeof stalled>[] = []
  const backups: Promise<unknown>[] = []
  for (let n = 0; n < 3; n++) {
    const one = stalled()
    all.push(one)
    backups.push(keep.backup(one.target))
    await keep.knowledge.import({ user: 'u', id: `later${n}` }, core(`later${n}`))
  }
  for (const { letGo } of all) letGo()
  await Promise.all(backups)
  for (const [n, { bytes }] of all.entries()) {
    const { keep: copy } = await restored(t, bytes())
    const ids: string[] = []
    for await (const { id } of copy.knowledge.list({ user: 'u' })) ids.push(id)
    t.equal(ids.length, 1 + n)
  }
})

t.test('no temporary file is left', async (t) => {
  const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('lorekeep-snapshot-'))
  t.same(left(), [])
})

t.test(
  'a backup whose target takes nothing stands still, whatever the sizes of its blocks',
  async (t) => {
    const KiB = 1024
    for (const size of [100, 700, 1024, 1500, 3000]) {
      const backend = new MemoryBackend()
      const keep = await filled(t, backend)
      const slices = await backend.open('slices')
      for (let n = 0; n * size < 24 * KiB; n++) {
        const value = Buffer.alloc(size * KiB)
        await slices.write([{ type: 'put', key: Buffer.from(`z${100 + n}`), value }])
      }
      const { target, letGo, waiting } = stalled()
      let bytes = 0
      const backup = keep.backup(target, { onProgress: (progress) => (bytes = progress.bytes) })
      await waiting
      // The looks of one who waits are 50 ms apart.
      for (let before = -1; before !== bytes; await sleep(200)) before = bytes
      t.ok(bytes < 10 * 1024 * KiB, `${bytes} bytes of 24 MiB in values of ${size} KiB`)
      letGo()
      await backup
      t.ok(bytes > 24 * 1024 * KiB)
    }
  },
)

t.test('slices are deleted when the last backup has read them', async (t) => {
  const backend = new MemoryBackend()
  const keep = await filled(t, backend)
  await keep.knowledge.import(ref, sliced('core'), { mode: 'replace' })
  const slices = await backend.open('slices')
  const count = async () => {
    let found = 0
    for await (const page of slices.scan({ keysOnly: true })) found += page.length
    return found
  }
  // More than waits in memory for the target: the snapshot is held until it was read.
  const value = Buffer.alloc(1024 * 1024)
  for (let n = 0; n < 10; n++) {
    await slices.write([{ type: 'put', key: Buffer.from(`z${n}`), value }])
  }
  t.equal(await count(), 11)
  const { target, letGo, waiting } = stalled()
  const backup = keep.backup(target)
  await waiting
  await keep.knowledge.import(ref, sliced('other'), { mode: 'replace' })
  // Long enough for whoever would delete it now.
  for (let turns = 0; turns < 200; turns++) await turn()
  t.equal(await count(), 12)
  letGo()
  await backup
  // Hangs where nobody takes it up.
  while ((await count()) > 11) await turn()
})
