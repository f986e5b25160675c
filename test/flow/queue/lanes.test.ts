// Lanes that have nothing to give keep nobody behind them from a turn.

import assert from 'node:assert/strict'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { numberIn } from '../../../src/flow/queue/block.js'
import type { Draft } from '../../../src/flow/queue/draft.js'
import { Lanes } from '../../../src/flow/queue/lanes.js'
import { hashOf } from '../../../src/flow/queue/state.js'
import type { Range } from '../../../src/storage.js'
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
