// A storage error at any call: the core is as before or as after, what was acknowledged is there,
// and nothing is left on disk once the storage works again.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { LorekeepError } from '../../src/errors.js'
import type { KnowledgeStore } from '../../src/knowledge/types.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { coreProblems } from '../fixtures/problems.js'
import { backends, bigStream, exported, slicedMessage, triplesMessage } from '../fixtures/stores.js'

const ref = { user: 'alice', id: 'core' }
const big = Buffer.concat([...bigStream('big', 2.5, encodeMessage)])
const small = encodeMessage(triplesMessage('small', 20))
const sliced = encodeMessage(slicedMessage('sliced'))

const operations: Readonly<Record<string, (knowledge: KnowledgeStore) => Promise<unknown>>> = {
  'append of several slices': (knowledge) => knowledge.import(ref, big),
  'append of one slice': (knowledge) => knowledge.import(ref, sliced),
  'append of a small segment': (knowledge) => knowledge.import(ref, small),
  'append of a small segment with its index': (knowledge) =>
    knowledge.import(ref, small, { index: true }),
  'replace by a small segment': (knowledge) => knowledge.import(ref, small, { mode: 'replace' }),
  replace: (knowledge) => knowledge.import(ref, big, { mode: 'replace' }),
  'replace by nothing': (knowledge) => knowledge.import(ref, [], { mode: 'replace' }),
  delete: (knowledge) => knowledge.delete(ref),
  'import of a bad stream': (knowledge) =>
    knowledge.import(ref, Buffer.concat([big, Buffer.of(0xc1)])),
}

for (const [engine, createBackend] of backends) {
  for (const [name, operate] of Object.entries(operations)) {
    for (const when of ['before', 'after'] as const) {
      t.test(`${engine}: ${name}, failing ${when} each call`, async (t) => {
        let calls = Infinity
        // The first round fails nowhere and counts the calls.
        for (let failAt = 0; failAt <= calls; failAt++) {
          const backend = new FaultyBackend(createBackend(t))
          const errors: unknown[] = []
          const keep = await createLorekeep({
            backend,
            onError: (error) => errors.push(error),
            indexThreads: 0,
          })
          const { knowledge } = keep
          await knowledge.write(ref, [triplesMessage('first')])
          const before = await state(knowledge)
          const start = backend.calls
          Object.assign(backend, { failAt: failAt === 0 ? Infinity : start + failAt, when })
          const result = await settle(operate(knowledge))
          await tidied(backend)
          if (failAt === 0) calls = backend.calls - start
          backend.failAt = Infinity
          const after = await state(knowledge)
          const place = `call ${failAt} of ${calls}`
          if (failAt === 0)
            assert.equal(result.error !== undefined, name === 'import of a bad stream')
          else if (result.error !== undefined) {
            assert.ok(result.error instanceof LorekeepError, place)
            // A failed import leaves the core as it was. Deleting, and replacing by nothing, stage
            // nothing to tell afterwards whether the failed write happened.
            const mayHaveHappened =
              when === 'after' && (name === 'delete' || name === 'replace by nothing')
            if (!mayHaveHappened) assert.deepEqual(after, before, place)
          }
          // The next import takes up what could not be deleted.
          await knowledge.import({ ...ref, id: 'other' }, small)
          await tidied(backend)
          assert.deepEqual(await coreProblems(backend.real), [], place)
          if (after !== undefined)
            assert.equal((await exported(knowledge, ref)).length, after.bytes, place)
          await keep.close()
        }
        t.ok(calls > 2, `${calls} calls`)
      })
    }
  }
}

t.test(
  'a storage that stays broken: nothing is acknowledged, and all is well when it is back',
  async (t) => {
    for (const [engine, createBackend] of backends) {
      for (let failAt = 1; failAt < 12; failAt++) {
        const backend = new FaultyBackend(createBackend(t))
        const errors: unknown[] = []
        const keep = await createLorekeep({
          backend,
          onError: (error) => errors.push(error),
          indexThreads: 0,
        })
        await keep.knowledge.write(ref, [triplesMessage('first')])
        const before = await state(keep.knowledge)
        Object.assign(backend, { failAt: backend.calls + failAt, lasting: true })
        const { error } = await settle(keep.knowledge.import(ref, big, { mode: 'replace' }))
        if (error) {
          backend.failAt = Infinity
          assert.deepEqual(await state(keep.knowledge), before, `${engine} ${failAt}`)
        }
        backend.failAt = Infinity
        const again = await keep.knowledge.import(ref, big, { mode: 'replace' })
        assert.equal(again.duplicate, error === undefined)
        await tidied(backend)
        assert.deepEqual(await coreProblems(backend.real), [], `${engine} ${failAt}`)
        await keep.close()
      }
    }
    t.pass()
  },
)

t.test(
  'a process that ends at any call leaves nothing that the next open does not delete',
  async (t) => {
    const steps = {
      replace: operations['replace'],
      delete: operations['delete'],
      append: operations['append of several slices'],
      'append of a small segment': operations['append of a small segment'],
      'append of a small segment with its index':
        operations['append of a small segment with its index'],
    }
    for (const [name, operate] of Object.entries(steps)) {
      let calls = Infinity
      for (let failAt = 0; failAt <= calls; failAt++) {
        const directory = join(t.testdir(), `${name} ${failAt}`)
        const backend = new FaultyBackend(new LevelBackend(directory))
        const first = await createLorekeep({ backend, onError: () => undefined, indexThreads: 0 })
        await first.knowledge.write(ref, [triplesMessage('first')])
        const before = await state(first.knowledge)
        const start = backend.calls
        if (failAt > 0) Object.assign(backend, { failAt: start + failAt, lasting: true })
        const { error } = await settle((operate as (typeof operations)[string])(first.knowledge))
        await tidied(backend)
        if (failAt === 0) calls = backend.calls - start
        await first.close()

        const second = new LevelBackend(directory)
        const keep = await createLorekeep({ backend: second })
        assert.deepEqual(await coreProblems(second), [], `${name}, call ${failAt} of ${calls}`)
        const after = await state(keep.knowledge)
        if (error) assert.deepEqual(after, before, `${name}, call ${failAt} of ${calls}`)
        else assert.notDeepEqual(after, before, `${name}, call ${failAt} of ${calls}`)
        await keep.close()
      }
      t.ok(calls > 2, `${name}: ${calls} calls`)
    }
  },
)

t.test('a small import whose commit is in doubt is found by the next one', async (t) => {
  for (const [engine, createBackend] of backends) {
    for (const mode of ['append', 'replace'] as const) {
      let found = 0
      for (let failAt = 1; failAt < 8; failAt++) {
        const backend = new FaultyBackend(createBackend(t))
        const keep = await createLorekeep({ backend, onError: () => undefined, indexThreads: 0 })
        const { knowledge } = keep
        await knowledge.write(ref, [triplesMessage('first')])
        const before = await state(knowledge)
        // Where that is the commit it happens, and nobody can ask whether it did.
        Object.assign(backend, { failAt: backend.calls + failAt, when: 'after', lasting: true })
        const { error } = await settle(knowledge.import(ref, small, { mode }))
        Object.assign(backend, { failAt: Infinity, lasting: false })
        const isThere = (await knowledge.stat(ref))?.digest !== before?.digest
        assert.ok(isThere || error !== undefined, `${engine} ${failAt}`)
        const { duplicate } = await knowledge.import(ref, small, { mode })
        assert.equal(duplicate, isThere, `${engine} ${failAt}`)
        if (error !== undefined && isThere) found++
        t.match(await knowledge.stat(ref), { segments: mode === 'append' ? 2 : 1 })
        await tidied(backend)
        t.strictSame(await coreProblems(backend.real), [])
        await keep.close()
      }
      t.equal(found, 1, `${engine}: one call is the commit`)
    }
  }
})

t.test('a failure while opening closes the backend', async (t) => {
  for (const [, createBackend] of backends) {
    const backend = new FaultyBackend(createBackend(t))
    backend.failAt = 1
    await t.rejects(createLorekeep({ backend }), { code: 'LK_STORAGE_FAILED' })
    await t.rejects(backend.open('cores'), { code: 'LK_CLOSED' })
  }
})

async function settle(work: Promise<unknown>): Promise<{ error?: unknown }> {
  try {
    await work
    return {}
  } catch (error) {
    return { error }
  }
}

/** What a reader sees of the core. */
async function state(knowledge: KnowledgeStore) {
  const stat = await knowledge.stat(ref)
  if (!stat) return undefined
  return { ...stat, content: (await exported(knowledge, ref)).toString('base64') }
}

/** Waits until the background has tidied up, or failed as it was told to. */
async function tidied(backend: FaultyBackend): Promise<void> {
  while (!backend.failed && (await coreProblems(backend.real)).length > 0) await turn()
}
