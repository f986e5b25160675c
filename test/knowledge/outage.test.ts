// A storage that is out of service: what an outage costs, and how often it is told.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { hasCode } from '../../src/errors.js'
import type { ToldError } from '../../src/lorekeep.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { coreProblems } from '../fixtures/problems.js'
import { slicedMessage, triplesMessage } from '../fixtures/stores.js'
import { KeptBackend } from '../objects/kept-backend.js'

const ref = { user: 'alice', id: 'core' }
const small = encodeMessage(triplesMessage('small'))
// What is staged, and has to be taken back.
const sliced = encodeMessage(slicedMessage('sliced'))

t.test('600 imports that fail are told at most once a second for each kind', async (t) => {
  const backend = new FaultyBackend(new KeptBackend(new MemoryBackend()))
  const told: ToldError[] = []
  const errors: unknown[] = []
  const keep = await createLorekeep({
    backend,
    onError: (error, info) => {
      errors.push(error)
      told.push(info)
    },
  })
  const { knowledge } = keep
  await knowledge.import(ref, small)
  const started = performance.now()
  backend.refusesWrites = true
  const before = backend.calls
  let failed = 0
  const client = async () => {
    while (failed < 600) {
      await t.rejects(knowledge.import(ref, sliced), {
        code: 'LK_STORAGE_UNAVAILABLE',
      })
      failed++
    }
  }
  await Promise.all(Array.from({ length: 5 }, client))
  const seconds = Math.floor((performance.now() - started) / 1000)
  t.ok(told.length <= 2 * (seconds + 1), `${told.length} calls in ${seconds} s`)
  t.ok(
    errors.every((error) => hasCode(error, 'LK_STORAGE_UNAVAILABLE')),
    'of one kind',
  )
  const calls = backend.calls - before
  t.ok(calls < 10 * failed, `${calls} calls of the storage`)

  // It is back: the next write that works takes up what waits.
  backend.refusesWrites = false
  await knowledge.import({ ...ref, id: 'other' }, small)
  while ((await coreProblems(backend.real)).length > 0) await new Promise(setImmediate)
  await keep.close()
  t.ok(
    told.every(({ where }) => where === 'knowledge'),
    'and says whose work it was',
  )
})

t.test('an outage starts no passes of the collector while one waits', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const told: number[] = []
  const keep = await createLorekeep({ backend, onError: (_, { count }) => told.push(count) })
  const { knowledge } = keep
  await knowledge.import(ref, small)
  const writes = async () => {
    const start = backend.calls
    backend.refusesWrites = true
    await t.rejects(knowledge.import(ref, sliced))
    for (let n = 0; n < 20; n++) await new Promise(setImmediate)
    return backend.calls - start
  }
  const first = await writes()
  let last = 0
  for (let n = 0; n < 50; n++) last = await writes()
  t.ok(last <= first, `${first} calls for the first that fails, ${last} for the 50th`)
  backend.refusesWrites = false
  await keep.close()
  const sum = told.reduce((total, count) => total + count, 0)
  t.ok(sum >= 1 && sum <= 10, `${sum} errors of the background`)
})

t.test('what was summed up is told by close()', async (t) => {
  const backend = new FaultyBackend(new KeptBackend(new MemoryBackend()))
  const told: number[] = []
  const keep = await createLorekeep({ backend, onError: (_, { count }) => told.push(count) })
  const { knowledge } = keep
  await knowledge.import(ref, small)
  // Three outages within a second: each is noticed by a pass.
  for (let n = 0; n < 3; n++) {
    backend.refusesWrites = true
    await t.rejects(knowledge.import(ref, sliced))
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
    backend.refusesWrites = false
    await knowledge.import({ ...ref, id: `${n}` }, small)
  }
  await keep.close()
  t.strictSame(
    told.reduce((sum, count) => sum + count, 0),
    3,
  )
})
