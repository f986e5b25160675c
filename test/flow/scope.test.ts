// Jobs and documents of three users in two collections, in every state: what each scope sees and
// changes of them is what a rule of one line says.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { hasCode } from '../../src/errors.js'
import type { Job, JobEvent } from '../../src/flow/types.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { Scope } from '../../src/scope.js'

const scopes: readonly Scope[] = [
  {},
  { user: 'alice' },
  { user: 'alice', collections: ['a'] },
  { user: 'bob', collections: ['a', 'b'], shared: ['a', 'b'] },
  { collections: ['b'] },
  { user: 'carol' },
  { collections: [] },
]

interface Owned {
  readonly user: string
  readonly collection: string
}

const sees = ({ user, collections = ['a', 'b'] }: Scope, owned: Owned) =>
  (user ?? owned.user) === owned.user && collections.includes(owned.collection)

/** A document of each user, in each collection, for each state: its id says which it is. */
const documents = ['alice', 'bob'].flatMap((user) =>
  ['a', 'b'].flatMap((collection) =>
    ['queued', 'done', 'dead'].map((state) => {
      return { id: `${state} ${collection}`, user, collection, content: state }
    }),
  ),
)

async function filled() {
  const keep = await createLorekeep({ backend: new MemoryBackend(), defaultUser: 'carol' })
  const { flows } = keep
  await flows.define({
    id: 'f',
    maxAttempts: 1,
    steps: [
      {
        name: 'work',
        run: (_, { document }) => {
          if (document.text === 'dead') throw new Error('no')
        },
      },
    ],
  })
  const jobs = new Map<string, Owned>()
  const load = async (chosen: typeof documents) => {
    for (const document of chosen) jobs.set((await flows.load('f', document)).job, document)
  }
  await load(documents.filter(({ content }) => content !== 'queued'))
  const ended = flows.watch({ flow: 'f' })[Symbol.asyncIterator]()
  const runner = flows.run()
  for (let left = jobs.size; left > 0;) {
    const { value } = (await ended.next()) as { readonly value: JobEvent }
    if (value.state === 'done' || value.state === 'dead') left--
  }
  await runner.stop()
  await ended.return?.()
  await load(documents.filter(({ content }) => content === 'queued'))
  return { keep, flows, jobs }
}

const all = async <T>(found: AsyncIterable<T>) => {
  const list: T[] = []
  for await (const one of found) list.push(one)
  return list
}

const nameOf = ({ user, document }: Pick<Job, 'user' | 'document'>) => `${user} ${document}`

const expectedOf = (scope: Scope, fits: (document: (typeof documents)[0]) => boolean) =>
  documents
    .filter((document) => sees(scope, document) && fits(document))
    .map(({ user, id }) => `${user} ${id}`)
    .sort()

for (const scope of scopes) {
  t.test(`reads in ${JSON.stringify(scope)}`, async (t) => {
    const { keep, flows, jobs } = await filled()
    const names = async (found: AsyncIterable<Job>) => (await all(found)).map(nameOf).sort()
    t.strictSame(
      await names(flows.jobs({ flow: 'f', scope })),
      expectedOf(scope, () => true),
    )
    for (const state of ['queued', 'done', 'dead'] as const) {
      const ofState = expectedOf(scope, ({ content }) => content === state)
      t.strictSame(await names(flows.jobs({ flow: 'f', state, scope })), ofState)
      const few = await all(flows.jobs({ flow: 'f', state, scope, limit: 2 }))
      t.equal(few.length, Math.min(2, ofState.length))
    }
    const dead = expectedOf(scope, ({ content }) => content === 'dead')
    t.strictSame(await names(flows.deadLetters('f', { scope })), dead)
    for (const user of ['alice', 'bob']) {
      const ofUser = expectedOf(scope, (document) => document.user === user)
      t.strictSame(await names(flows.jobs({ flow: 'f', user, scope })), ofUser)
      const done = await all(flows.documents({ user, scope }))
      const isDone = expectedOf(scope, (one) => one.user === user && one.content === 'done')
      t.strictSame(done.map(nameOf).sort(), isDone)
    }
    const own = scope.user ?? 'carol'
    const done = await all(flows.documents({ scope, limit: 1 }))
    t.ok(
      done.every(({ user }) => user === own),
      'of the user of the scope',
    )

    for (const [id, owned] of jobs) {
      t.equal((await flows.job(id, { scope }))?.id, sees(scope, owned) ? id : undefined)
      const first = flows.watch({ job: id, scope })[Symbol.asyncIterator]().next()
      const watched = await first.catch((error: unknown) => error)
      if (sees(scope, owned)) t.match(watched, { value: { job: id } })
      else t.ok(hasCode(watched, 'LK_JOB_NOT_FOUND'))
    }
    for (const { id: document, user, ...owned } of documents) {
      const status = await flows.document({ user, document }, { scope })
      t.equal(status?.document, sees(scope, { user, ...owned }) ? document : undefined)
    }

    const events = flows.watch({ flow: 'f', scope })[Symbol.asyncIterator]()
    const loaded = documents.filter((document) => sees(scope, document))
    for (const document of documents) await flows.load('f', { ...document, id: 'new' })
    for (const { user, collection } of loaded) {
      t.match(await events.next(), { value: { type: 'queued', user, collection } })
    }
    const next = events.next()
    await keep.close()
    t.match(await next, { done: true })
  })

  t.test(`changes in ${JSON.stringify(scope)}`, async (t) => {
    const { keep, flows, jobs } = await filled()
    const notFound = (error: unknown) => hasCode(error, 'LK_JOB_NOT_FOUND')
    for (const [id, owned] of jobs) {
      const before = await flows.job(id)
      const retried: unknown = await flows.retry(id, { scope }).catch((error: unknown) => error)
      const isHidden = !sees(scope, owned)
      if (isHidden) {
        t.ok(notFound(retried))
        t.ok(notFound(await flows.cancel(id, { scope }).catch((error: unknown) => error)))
        t.strictSame(await flows.job(id), before)
      } else if (before?.state === 'dead') t.match(retried, { id, state: 'queued' })
      else t.ok(hasCode(retried, 'LK_JOB_STATE'))
    }
    for (const { id: document, user, collection } of documents) {
      const isSeen = sees(scope, { user, collection })
      t.equal(await flows.removeDocument({ user, document }, { scope }), isSeen)
      t.equal((await flows.document({ user, document })) === undefined, isSeen)
    }
    // What no job tells of is deleted by whoever has all of its user's.
    await keep.knowledge.write({ user: 'alice', id: 'core' }, [])
    const isRemoved = await flows.removeDocument({ user: 'alice', document: 'core' }, { scope })
    const mayRemove = scope.collections === undefined && (scope.user ?? 'alice') === 'alice'
    t.equal(isRemoved, mayRemove)
    await keep.close()
  })

  t.test(`loads in ${JSON.stringify(scope)}`, async (t) => {
    const { keep, flows } = await filled()
    for (const document of documents) {
      const before = await flows.stats('f')
      const load = flows.load('f', { ...document, id: 'new' }, { scope })
      const isRefused = hasCode(await load.catch((error: unknown) => error), 'LK_DOCUMENT_ACCESS')
      // The one of the other collection would be replaced.
      const others = { ...document, collection: document.collection === 'a' ? 'b' : 'a' }
      t.equal(isRefused, !sees(scope, document))
      if (isRefused) t.strictSame(await flows.stats('f'), before)
      if (isRefused || sees(scope, others)) continue
      const id = `elsewhere ${document.id}`
      await flows.load('f', { ...others, id })
      const name = { user: document.user, document: id }
      const again = flows.load('f', { ...document, id }, { scope })
      await t.rejects(again, { code: 'LK_DOCUMENT_ACCESS', details: { document: id } })
      t.equal(await flows.document(name, { scope }), undefined)
      t.equal(await flows.removeDocument(name, { scope }), false)
      // A part of it is seen: it is there, and what is hidden keeps it.
      await flows.load('f', { ...document, id })
      t.equal((await flows.document(name, { scope }))?.jobs.length, 1)
      await t.rejects(flows.removeDocument(name, { scope }), { code: 'LK_DOCUMENT_ACCESS' })
      t.equal((await flows.document(name))?.jobs.length, 2)
    }
    const { job } = await flows.load('f', { id: 'mine', content: 'x' }, { scope: { user: 'zoe' } })
    t.equal((await flows.job(job))?.user, 'zoe', 'whose it is where nobody is named')
    await keep.close()
  })
}

t.test('of loads at the same time into two collections the second is refused', async (t) => {
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const { flows } = keep
  const load = (id: string, collection: string, scope: Scope) =>
    flows.load('default', { id, user: 'alice', collection, content: 'x' }, { scope })
  for (let n = 0; n < 50; n++) {
    const [first, second] = await Promise.allSettled([
      load(`d${n}`, 'b', n % 2 === 0 ? { user: 'alice' } : { collections: ['b'] }),
      load(`d${n}`, 'a', { user: 'alice', collections: ['a'] }),
    ])
    t.equal(first.status, 'fulfilled')
    t.match(second, { status: 'rejected', reason: { code: 'LK_DOCUMENT_ACCESS' } })
  }
  t.equal((await flows.stats('default')).queued, 50)
})

t.test(
  'knowledge that no job tells of any more keeps a document from who may not touch it',
  async (t) => {
    await using keep = await createLorekeep({ backend: new MemoryBackend() })
    const { flows, objects, knowledge } = keep
    await flows.define({ id: 'objects', steps: ['chunk', 'index'] })
    await flows.define({ id: 'cores', steps: ['chunk', 'store'] })
    const text = { id: 'd', user: 'alice', content: 'Mary Shelley wrote Frankenstein.' }
    const runner = flows.run()
    const done = async (flow: string, collection: string) => {
      const { job } = await flows.load(flow, { ...text, collection })
      for await (const _ of flows.watch({ job }));
    }
    const scope = { user: 'alice', collections: ['a'] }
    const ref = { document: 'd' }
    const count = async () => (await objects.query({ schema_name: 'lorekeep_chunk' })).total
    for (const [before, after] of [
      ['objects', 'cores'],
      ['cores', 'objects'],
    ] as const) {
      await done(before, 'b')
      await done(after, 'a')
      const [chunks, core] = [await count(), await knowledge.stat({ user: 'alice', id: 'd' })]
      const load = flows.load(after, { ...text, collection: 'a' }, { scope })
      await t.rejects(load, { code: 'LK_DOCUMENT_ACCESS' }, before)
      await t.rejects(flows.removeDocument(ref, { scope }), { code: 'LK_DOCUMENT_ACCESS' }, before)
      t.equal(await count(), chunks)
      t.strictSame(await knowledge.stat({ user: 'alice', id: 'd' }), core)
      t.equal(await flows.removeDocument(ref, { scope: { user: 'alice' } }), true)
    }
    await done('objects', 'a')
    await done('cores', 'a')
    t.equal(await flows.removeDocument(ref, { scope }), true, 'all of it is its own')
    await runner.stop()
  },
)
