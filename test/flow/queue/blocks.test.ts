// Blocks of documents that are read before somebody has asked for them.

import t from 'tap'
import type { Storage } from '../../../src/storage.js'
import { Blocks } from '../../../src/flow/queue/blocks.js'
import { BlockBuilder, DocumentBlock, Ticket } from '../../../src/flow/queue/block.js'
import { Lanes } from '../../../src/flow/queue/lanes.js'
import { blockKey, slotsPerBlock } from '../../../src/flow/queue/records.js'
import { MemoryBackend } from '../../../adapters/memory.js'
import { altered } from '../../fixtures/altered-storage.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { documentOf, openQueue, steps } from './queues.js'

/** Notes which keys are read one by one, and waits with each until it is let go. */
function slow(real: Storage) {
  const asked: Uint8Array[] = []
  const waiting: (() => void)[] = []
  const get: Storage['get'] = async (key) => {
    asked.push(key)
    await new Promise<void>((resolve) => waiting.push(resolve))
    return real.get(key)
  }
  const letGo = () => {
    for (const go of waiting.splice(0)) go()
  }
  return { storage: altered(real, { get }), asked, letGo }
}

function bytesOf(id: string, length = 10): Uint8Array {
  const builder = new BlockBuilder()
  builder.add('f', new Ticket(documentOf(id, 'alice', 'x'.repeat(length)), 1))
  return builder.build(id, 0)
}

async function stored(count: number, length?: number) {
  const storage = await new MemoryBackend().open('flows')
  await storage.write(
    Array.from({ length: count }, (_, n) => {
      return { type: 'put', key: blockKey(n), value: bytesOf(`b${n}`, length) }
    }),
  )
  return storage
}

t.test('what is read ahead is there, once for all who want it', async (t) => {
  const { storage, asked, letGo } = slow(await stored(3))
  const blocks = new Blocks(storage)
  blocks.readAhead([0, 1])
  blocks.readAhead([1, 2, 7])
  t.equal(asked.length, 4)
  t.equal(blocks.peek(1), undefined)
  const coming = blocks.coming(1)
  letGo()
  await coming
  await blocks.coming(7)
  for (const number of [0, 1, 2]) t.equal(blocks.peek(number)?.count, 1)
  t.equal(blocks.peek(7), undefined, 'there is none')
  t.equal(blocks.coming(7), undefined)
  blocks.readAhead([0, 1, 2])
  t.equal(asked.length, 4)
})

t.test('what was on its way when all was forgotten is not kept', async (t) => {
  const { storage, letGo } = slow(await stored(1))
  const blocks = new Blocks(storage)
  blocks.keep(1, new DocumentBlock(bytesOf('b1')))
  blocks.readAhead([0])
  const old = blocks.coming(0)
  blocks.clear()
  t.equal(blocks.peek(1), undefined)
  t.equal(blocks.coming(0), undefined)
  letGo()
  blocks.readAhead([0])
  const coming = blocks.coming(0)
  await old
  t.equal(blocks.peek(0), undefined, 'nor is it by who asks again')
  letGo()
  await coming
  t.equal(blocks.peek(0)?.count, 1)
})

t.test('what is forgotten while it comes does not come', async (t) => {
  const { storage, letGo } = slow(await stored(1))
  const blocks = new Blocks(storage)
  blocks.readAhead([0])
  const coming = blocks.coming(0)
  blocks.forget(0)
  letGo()
  await coming
  t.equal(blocks.peek(0), undefined)
})

t.test('eight are read ahead, and fewer where they are large', async (t) => {
  const small = slow(await stored(20))
  const some = new Blocks(small.storage)
  some.readAhead(Array(20).keys())
  t.equal(small.asked.length, 8)
  const large = slow(await stored(20, 3 * 1024 * 1024))
  const few = new Blocks(large.storage)
  few.readAhead([0])
  large.letGo()
  await few.coming(0)
  few.readAhead([1, 2, 3, 4])
  t.equal(large.asked.length, 1 + 2)
})

t.test('where others share the storage, a claim reads ahead for the next one', async (t) => {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const loader = await openQueue(await memory.backend().open('flows'))
  for (let n = 0; n < 6; n++) await loader.load('f', documentOf(`d${n}`))
  const real = await memory.backend().open('flows')
  const keys: string[] = []
  const get: Storage['get'] = (key) => {
    keys.push(String(key))
    return real.get(key)
  }
  const getMany: Storage['getMany'] = (asked) => {
    for (const key of asked) keys.push(String(key))
    return real.getMany(asked)
  }
  const queue = await openQueue(altered(real, { get, getMany }))
  const wanted = (n: number) => keys.filter((key) => key === String(blockKey(n))).length
  const numberOf = (number: number) => Math.floor(number / 4096)
  const [first] = (await queue.claim('f', 1)).jobs
  await new Promise((resolve) => setImmediate(resolve))
  const at = numberOf(first!.number)
  t.strictSame(
    [1, 2, 3, 4, 5].map((more) => wanted(at + more)),
    [1, 1, 1, 1, 0],
  )
  for (let n = 1; n < 5; n++) {
    const [job] = (await queue.claim('f', 1)).jobs
    t.equal(job?.document.document, `d${n}`)
    t.equal(wanted(at + n), 1, 'from memory')
    await queue.complete(job!, steps)
  }
})

t.test('of lanes the blocks come in the order of turns', async (t) => {
  const lanes = new Lanes('f')
  // Behind a look at all there is nothing but what is added.
  const storage = await new MemoryBackend().open('flows')
  const nothing = { scan: storage.scan.bind(storage), putRun: () => {}, deleteRun: () => {} }
  await lanes.fill(nothing, 1)
  const run = (block: number, length: number, again = false) => {
    const first = block * slotsPerBlock
    return { first, hashes: new Uint32Array(length), again, stored: first }
  }
  const users: readonly [string, ReturnType<typeof run>[]][] = [
    ['a', [run(1, 2), run(2, 2), run(3, 2), run(9, 2)]],
    ['b', [run(4, 1, true), run(5, 9)]],
    ['c', [run(1, 9), run(6, 9)]],
  ]
  for (const [user, runs] of users) for (const each of runs) lanes.add(user, each)
  t.strictSame([...lanes.blocksAhead(15)], [1, 2, 5, 3])
  t.strictSame([...lanes.blocksAhead(2)], [1])
  t.strictSame([...lanes.blocksAhead(0)], [])
})
