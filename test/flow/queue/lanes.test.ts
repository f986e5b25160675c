// Lanes that have nothing to give keep nobody behind them from a turn.

import assert from 'node:assert/strict'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { numberIn } from '../../../src/flow/queue/block.js'
import type { Draft } from '../../../src/flow/queue/draft.js'
import { Lanes } from '../../../src/flow/queue/lanes.js'
import { runKey } from '../../../src/flow/queue/records.js'
import { hashOf } from '../../../src/flow/queue/state.js'
import type { Operation, Range } from '../../../src/storage.js'
import { documentOf, openQueue } from './queues.js'

const stuck = ['a', 'b', 'c']

t.test('where all jobs of those in front wait, what is not in memory is claimed', async (t) => {
  const queue = await openQueue(await new MemoryBackend().open('flows'))
  // A second version of a document waits until the first one is done.
  for (const user of stuck) await queue.load('f', documentOf('d', user))
  assert.equal((await queue.claim('f', stuck.length)).jobs.length, stuck.length)
  for (const user of stuck) await queue.load('f', documentOf('d', user))
  // More than is read of a lane at a time.
  const expected = Array.from({ length: 60 }, (_, n) => `d${n}`)
  for (const id of expected) await queue.load('f', documentOf(id, 'z'))
  const claimed: string[] = []
  for (let claims = 0; claims < expected.length; claims++) {
    for (const { document } of (await queue.claim('f', 2)).jobs) claimed.push(document.document)
  }
  t.strictSame(claimed, expected)
})

t.test('lanes that are stuck are no turns: as many behind them are read', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  const lanes = new Lanes('f')
  const draft = { scan: (range: Range) => storage.scan(range) } as Draft
  // There is nobody: what comes is added.
  while (lanes.lacks) await lanes.fill(draft, 2)
  const behind = ['x', 'y', 'z']
  for (const user of [...stuck, ...behind]) {
    const first = numberIn(await queue.load('f', documentOf('d', user)))!
    const hashes = Uint32Array.of(hashOf('d'))
    lanes.add(user, { first, hashes, again: false, stored: first })
  }
  const take = () => lanes.take(2, (user) => !stuck.includes(user)).map(({ user }) => user)
  for (const user of behind) lanes.forget(user)
  t.strictSame(take(), [], 'nothing of these is in memory')
  await lanes.fill(draft, 2)
  t.strictSame(take(), ['x', 'y'])
  await lanes.fill(draft, 2)
  t.strictSame(take(), ['z'])
})

t.test('of many loads a few hundred are in memory, and all have their turn', async (t) => {
  const count = 700
  for (const isFollowed of [false, true]) {
    const storage = await new MemoryBackend().open('flows')
    const queue = await openQueue(storage)
    const lanes = new Lanes('f')
    const gone: Operation[] = []
    const draft = {
      scan: (range: Range) => storage.scan(range),
      deleteRun: (flow: string, user: string, first: number) => {
        gone.push({ type: 'del', key: runKey(flow, user, first) })
      },
    } as Draft
    // There is nobody: what comes is added.
    while (lanes.lacks) await lanes.fill(draft, 2)
    const expected: number[] = []
    for (let n = 0; n < count; n++) {
      const first = numberIn(await queue.load('f', documentOf(`d${n}`, 'a')))!
      expected.push(first)
      const run = { first, hashes: Uint32Array.of(hashOf(`d${n}`)), again: false }
      if (isFollowed) lanes.follow('a', [], [{ ...run, length: 1 }])
      else lanes.add('a', { ...run, stored: first })
    }
    const held = lanes.blocksAhead(count).size
    t.ok(held >= 64 && held <= 256, `${held} of ${count}`)
    const taken: number[] = []
    while (taken.length < count) {
      if (lanes.lacks) await lanes.fill(draft, 10)
      const turns = lanes.take(10, () => true)
      if (turns.length === 0 && !lanes.lacks) break
      taken.push(...turns.map(({ number }) => number))
      lanes.write(draft)
      await storage.write(gone.splice(0))
    }
    t.strictSame(taken, expected)
  }
})

t.test(
  'what several runs of another bring is known up to a place, whatever their order',
  async (t) => {
    const lanes = new Lanes('f')
    const draft = { scan: async function* () {} } as unknown as Draft
    // There is nobody: what comes is added.
    while (lanes.lacks) await lanes.fill(draft, 2)
    const runs = Array.from({ length: 400 }, (_, n) => {
      return { first: 1 + 2 * n, length: 1, hashes: Uint32Array.of(n), again: true }
    })
    lanes.follow('a', [], [runs[0]!])
    lanes.follow('a', [], runs.slice(1).reverse())
    const taken = lanes.take(1000, () => true).map(({ number }) => number)
    t.equal(taken.length, 256)
    t.strictSame(
      taken,
      runs.slice(0, 256).map(({ first }) => first),
    )
  },
)
