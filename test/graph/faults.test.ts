// A storage error at any call while a core is indexed: the core is as it was, the question works once
// the storage does, and no block is left that no index names.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { encodeMessage } from '../../src/codec/encoder.js'
import { LorekeepError } from '../../src/errors.js'
import type { KnowledgeStore } from '../../src/knowledge/types.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { CoreMessage } from '../../src/types.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { Random } from '../fixtures/random.js'
import { coreProblems } from '../fixtures/problems.js'
import { backends, exported } from '../fixtures/stores.js'
import { entity, matched, messageOf, randomTriples, setOf } from './asked.js'

const ref = { user: 'u', id: 'core' }
const random = new Random(1)
// Each of more than one block: literals that no other import has.
const contents = ['first', 'second', 'third'].map((name) => {
  const long = Array.from({ length: 3 }, (_, n) => ({
    s: entity(name),
    p: entity(`${n}`),
    o: { v: name.repeat(30_000), e: false },
  }))
  return [...long, ...randomTriples(random, 30)]
})
const [first, second, third] = contents.map((triples): CoreMessage => messageOf(triples)) as [
  CoreMessage,
  CoreMessage,
  CoreMessage,
]
const vectors: CoreMessage = [
  'ge',
  {
    m: { i: 'i', m: [], u: 'u', c: 'c' },
    e: Array.from({ length: 300 }, (_, n) => ({
      e: entity(`${n}`),
      v: [
        [n, 1],
        [n, 2, 3],
      ],
    })),
  },
]

interface Operation {
  readonly name: string
  /** Brings the core to where the work begins. */
  readonly prepare: (knowledge: KnowledgeStore) => Promise<unknown>
  readonly run: (knowledge: KnowledgeStore) => Promise<unknown>
  /** How many of `contents` the core has after it. */
  readonly after: number
}

const append = (message: CoreMessage, index: boolean) => (knowledge: KnowledgeStore) =>
  knowledge.import(ref, encodeMessage(message), { index })

const operations: readonly Operation[] = [
  {
    name: 'index()',
    prepare: async (knowledge) => knowledge.write(ref, [first, vectors]),
    run: (knowledge) => knowledge.index(ref),
    after: 1,
  },
  {
    name: 'the first question',
    prepare: async (knowledge) => {
      await append(first, false)(knowledge)
      await append(second, false)(knowledge)
    },
    run: (knowledge) => knowledge.graph({ user: 'u' }).count(),
    after: 2,
  },
  {
    name: 'the first question after an append, whose index takes in the one before',
    prepare: async (knowledge) => {
      await append(first, true)(knowledge)
      await append(second, false)(knowledge)
    },
    run: (knowledge) => matched(knowledge.graph({ user: 'u' })),
    after: 2,
  },
  {
    name: 'index() of several indexes as one',
    prepare: async (knowledge) => {
      await append(first, true)(knowledge)
      await append(second, true)(knowledge)
      await append(third, true)(knowledge)
    },
    run: (knowledge) => knowledge.index(ref),
    after: 3,
  },
  {
    name: 'import with an index',
    prepare: append(first, true),
    run: append(second, true),
    after: 2,
  },
]

for (const [engine, createBackend] of backends) {
  // An engine of its own threads takes longer, and shows no more than which calls there are.
  for (const { name, prepare, run, after } of engine === 'memory'
    ? operations
    : operations.slice(-1)) {
    for (const when of ['before', 'after'] as const) {
      t.test(`${engine}: ${name}, failing ${when} each call`, async (t) => {
        let calls = Infinity
        // The first round fails nowhere and counts the calls.
        for (let failAt = 0; failAt <= calls; failAt++) {
          const backend = new FaultyBackend(createBackend(t))
          const earlier = await createLorekeep({ backend, indexThreads: 0 })
          await prepare(earlier.knowledge)
          // Another one: what has come through it a moment ago would be in its memory.
          const keep = await createLorekeep({ backend, onError: () => undefined })
          const { knowledge } = keep
          await quiet(backend)
          const before = await exported(knowledge, ref)
          const start = backend.calls
          Object.assign(backend, { failAt: failAt === 0 ? Infinity : start + failAt, when })
          const error = await run(knowledge).then(
            () => undefined,
            (error: unknown) => error,
          )
          await quiet(backend)
          if (failAt === 0) calls = backend.calls - start
          backend.failAt = Infinity
          const place = `call ${failAt} of ${calls}`
          if (failAt === 0) assert.equal(error, undefined)
          if (error !== undefined) assert.ok(error instanceof LorekeepError, place)
          const isImport = name === 'import with an index'
          if (error !== undefined || !isImport) {
            assert.ok(before.equals(await exported(knowledge, ref)), place)
          }
          const count = isImport && error !== undefined ? after - 1 : after
          const expected = setOf(contents.slice(0, count).flat())
          assert.deepEqual(await matched(knowledge.graph({ user: 'u' })), expected, place)
          assert.equal((await knowledge.index(ref)).state, 'complete', place)
          assert.deepEqual(await matched(knowledge.graph({ user: 'u' })), expected, place)
          // The next import takes up what could not be deleted.
          await knowledge.write({ user: 'other', id: 'other' }, [first])
          for (let turns = 0; (await coreProblems(backend.real)).length > 0; turns++) {
            if (turns > 300) assert.deepEqual(await coreProblems(backend.real), [], place)
            await turn()
          }
          await keep.close()
          await earlier.close()
        }
        t.ok(calls > 2, `${calls} calls`)
      })
    }
  }
}

/** Waits until the background, perhaps, has done what it can. */
async function quiet(backend: FaultyBackend): Promise<void> {
  for (let calls = -1; calls !== backend.calls;) {
    calls = backend.calls
    for (let turns = 0; turns < 20; turns++) await turn()
  }
}
