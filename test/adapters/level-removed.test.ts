// A directory that is taken away under its owner: nothing is acknowledged that nobody will find.

import { readdirSync, renameSync, rmSync } from 'node:fs'
import { cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import type { LevelPartition } from '../../adapters/level/partition.js'
import { createLorekeep } from '../../src/index.js'
import type { Lorekeep } from '../../src/index.js'
import { openStore, triplesMessage } from '../fixtures/stores.js'
import { put, text } from '../suite/bytes.js'

const partitions = ['cores', 'flows', 'objects', 'slices']
const out = { code: /^LK_STORAGE_(FAILED|UNAVAILABLE)$/ }

/**
 * A change of each store, small, and as large as needs a value file: that one first in `flows`,
 * which is out of service after a failure.
 */
const changes: Readonly<Record<string, (keep: Lorekeep, n: number) => Promise<unknown>>> = {
  'a core': ({ knowledge }, n) =>
    knowledge.write({ user: 'u', id: `small${n}` }, [triplesMessage('core')]),
  'a large core': ({ knowledge }, n) =>
    knowledge.write({ user: 'u', id: `large${n}` }, [triplesMessage('core', 2000)]),
  objects: ({ objects }, n) =>
    objects.import({
      metadata: { id: 'batch', user: 'u', collection: 'c' },
      schema_name: 'things',
      values: [{ id: n }],
    }),
  'a large document': ({ flows }, n) =>
    flows.load('f', { id: `l${n}`, user: 'u', content: 'long '.repeat(20_000) }),
  'a document': ({ flows }, n) => flows.load('f', { id: `d${n}`, user: 'u', content: 'short' }),
}

/** Every file below, with its length; of the value files' directories, when they last changed. */
async function filesOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true })
  const lines = entries.map(async (name) => {
    const { size, mtimeMs } = await stat(join(directory, name))
    return `${name} ${name.endsWith('values') ? mtimeMs : size}`
  })
  return (await Promise.all(lines)).sort()
}

async function openFilled(t: Test, data: string): Promise<Lorekeep> {
  const keep = await openStore(t, new LevelBackend(data), { onError: () => undefined })
  await keep.flows.define({ id: 'f', steps: [{ name: 'nothing', run: () => undefined }] })
  await keep.objects.defineSchema({
    name: 'things',
    fields: [{ name: 'id', type: 'integer', primary_key: true }],
  })
  for (const [what, change] of Object.entries(changes)) await t.resolves(change(keep, 0), what)
  return keep
}

/** What may lie at the path instead, and what is there afterwards. */
const replacements: Readonly<Record<string, (data: string, aside: string) => Promise<unknown>>> = {
  nothing: (data) => rm(data, { recursive: true }),
  'nothing, as it was moved away': (data, aside) => rename(data, aside),
  'other directories that are empty': async (data) => {
    await rm(data, { recursive: true })
    for (const name of partitions) await mkdir(join(data, name), { recursive: true })
  },
  'a copy of it': async (data, aside) => {
    await cp(data, aside, { recursive: true })
    await rm(data, { recursive: true })
    await rename(aside, data)
  },
}

for (const [what, replace] of Object.entries(replacements)) {
  void t.test(`nothing is acknowledged where there is ${what}`, async (t) => {
    const directory = t.testdir({})
    const data = join(directory, 'data')
    const keep = await openFilled(t, data)
    await replace(data, join(directory, 'aside'))
    const before = await filesOf(directory)
    for (let n = 1; n < 4; n++) {
      for (const [name, change] of Object.entries(changes))
        await t.rejects(change(keep, n), out, name)
      // Between attempts to reopen, too.
      await delay(60)
    }
    await keep.close()
    const after = await filesOf(directory)
    const owners = /\/OWNER-/
    t.strictSame(
      after.filter((name) => !owners.test(name)),
      before.filter((name) => !owners.test(name)),
      'nothing was made',
    )
  })
}

/** A write under way. Its end is told by the event loop, which has no turn before somebody waits for it. */
async function openWriting(t: Test) {
  const directory = t.testdir()
  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  const storage = (await backend.open('objects')) as LevelPartition
  const writing = put(storage, text('a'), text('1'))
  while (storage.batches === 0) await undefined
  // In an object: it would be waited for here.
  return { directory, writing: { end: writing } }
}

void t.test('a write under way while its directory goes is not acknowledged', async (t) => {
  const { directory, writing } = await openWriting(t)
  renameSync(join(directory, 'objects'), join(directory, 'aside'))
  await t.rejects(writing.end, { code: 'LK_STORAGE_FAILED' })
})

void t.test('a write whose log goes is told what is gone', async (t) => {
  const { directory, writing } = await openWriting(t)
  const place = join(directory, 'objects')
  for (const name of readdirSync(place)) if (name.endsWith('.log')) rmSync(join(place, name))
  const message = `${place} has no log any more`
  await t.rejects(writing.end, { code: 'LK_STORAGE_FAILED', message })
})

void t.test('a directory that comes back goes on with all that was acknowledged', async (t) => {
  const directory = t.testdir({})
  const data = join(directory, 'data')
  const keep = await openFilled(t, data)
  await rename(data, join(directory, 'aside'))
  for (const change of Object.values(changes)) await t.rejects(change(keep, 1), out)
  await rename(join(directory, 'aside'), data)
  for (const [what, change] of Object.entries(changes)) {
    for (let attempt = 0; ; attempt++) {
      const error: unknown = await change(keep, 2).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      if (error === undefined) break
      t.match(error, { code: 'LK_STORAGE_UNAVAILABLE' }, what)
      if (attempt === 200) throw error
      await delay(50)
    }
  }
  await keep.close()
  const next = await createLorekeep({ backend: new LevelBackend(data) })
  t.teardown(() => next.close())
  const cores: string[] = []
  for await (const { id } of next.knowledge.list({ user: 'u' })) cores.push(id)
  for (const id of ['large0', 'large2', 'small0', 'small2']) t.ok(cores.includes(id), id)
  const objects: unknown[] = []
  for await (const object of next.objects.find({ schema_name: 'things' })) {
    objects.push(object)
  }
  t.ok(objects.length >= 2)
  t.ok((await next.flows.stats('f')).queued >= 4)
})

void t.test('who removes the owner file takes the directory from its owner', async (t) => {
  const directory = t.testdir()
  const first = new LevelBackend(directory)
  t.teardown(() => first.close())
  const storage = await first.open('objects')
  await put(storage, text('a'), text('1'))
  const place = join(directory, 'objects')
  const owner = (await readdir(place)).find((name) => name.startsWith('OWNER-'))!
  await rm(join(place, owner))
  await t.rejects(put(storage, text('b'), text('2')), { code: 'LK_STORAGE_FAILED' })
  await t.rejects(put(storage, text('c'), text('3')), {
    code: 'LK_STORAGE_UNAVAILABLE',
    message: place,
  })
  await first.close()
  const second = new LevelBackend(directory)
  t.teardown(() => second.close())
  t.same(await (await second.open('objects')).get(text('a')), text('1'))
})
