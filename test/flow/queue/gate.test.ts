// What closes the gate of loads, and what comes while it is being closed.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import {
  gateKey,
  headKey,
  inboxes,
  inboxKey,
  postKey,
  type HeadRecord,
} from '../../../src/flow/queue/records.js'
import type { JobQueue } from '../../../src/flow/queue/queue.js'
import { LorekeepError } from '../../../src/errors.js'
import { decodeRecord } from '../../../src/record.js'
import type { Operation, Storage } from '../../../src/storage.js'
import { altered } from '../../fixtures/altered-storage.js'
import { flowProblems } from '../../fixtures/problems.js'
import { countOf, crowd, type Crowd, members, postSize } from './crowd.js'
import { documentOf, drained, flowOf, openQueue } from './queues.js'

/** It is exact: the gate is closed for it. */
const exactly = (queue: JobQueue, id: string) =>
  queue.load('f', documentOf(id), { check: () => undefined })

const endsGate = (operations: readonly Operation[]) => {
  return operations.some(({ type, key }) => type === 'del' && Buffer.compare(key, gateKey()) === 0)
}

async function gateOf(storage: Storage): Promise<HeadRecord['gate']> {
  return decodeRecord<HeadRecord>((await storage.get(headKey()))!).gate
}

/** One more who shares the storage, and writes by this. */
async function queueWith(
  { memory, clock }: Crowd,
  write: (real: Storage, ...parameters: Parameters<Storage['write']>) => Promise<void>,
): Promise<JobQueue> {
  const real = await memory.backend().open('flows')
  const through: Storage['write'] = (operations, options) => write(real, operations, options)
  return openQueue(altered(real, { write: through }), { clock })
}

/** A write that waits where it ends the gate. */
function withHold() {
  let release: () => void = () => undefined
  const isReleased = new Promise<void>((resolve) => (release = resolve))
  return {
    release,
    write: async (real: Storage, ...[operations, options]: Parameters<Storage['write']>) => {
      if (endsGate(operations)) await isReleased
      return real.write(operations, options)
    },
  }
}

async function turns(): Promise<void> {
  for (let n = 0; n < 50; n++) await turn()
}

for (const isFirst of [true, false]) {
  const said = isFirst ? 'the first one of an inbox' : 'one behind others'
  t.test(`a post that shows after the gate was closed is not lost: ${said}`, async (t) => {
    const waiting = await crowd(t)
    const storage = waiting.storages[0]!
    // In PostgreSQL a write that read the gate before it was deleted may show after the deletion.
    let show: (() => Promise<void>) | undefined
    let isHeld = false
    const posting = await queueWith(waiting, (real, operations, options) => {
      if (!isHeld || operations.length !== postSize) return real.write(operations, options)
      return new Promise((resolve) => {
        show = async () => {
          await real.write(operations)
          resolve()
        }
      })
    })
    let endings = 0
    const ending = await queueWith(waiting, async (real, operations, options) => {
      // The first one closes it.
      if (endsGate(operations) && ++endings === 2) await show?.()
      return real.write(operations, options)
    })
    if (!isFirst) await posting.load('f', documentOf('before'))
    isHeld = true
    const loading = posting.load('f', documentOf('late'))
    await turns()
    t.ok(show)
    await exactly(ending, 'exact')
    await loading
    const documents = (await drained(ending, 'f')).map(({ document }) => document.document)
    const all = ['first', ...(isFirst ? [] : ['before']), 'late', 'exact']
    t.strictSame(documents.sort(), all.sort())
    t.equal(await gateOf(storage), undefined)
    t.strictSame(await flowProblems(storage), [])
  })
}

t.test('who comes while the gate is being closed is served', async (t) => {
  const waiting = await crowd(t)
  const held = withHold()
  const queue = await queueWith(waiting, held.write)
  const loads = [exactly(queue, 'a')]
  await turns()
  loads.push(queue.load('f', documentOf('b')), exactly(queue, 'c'))
  await turns()
  held.release()
  await Promise.all(loads)
  t.equal((await drained(queue, 'f')).length, 4)
  t.strictSame(await flowProblems(waiting.storages[0]!), [])
})

t.test('what ends the gate does not open it again', async (t) => {
  const waiting = await crowd(t)
  const { clock, storages } = waiting
  const held = withHold()
  const queue = await queueWith(waiting, held.write)
  // It waits for a turn, so that its loads by the head may open the gate.
  const release = await storages[0]!.sharing!.turn('head')
  const defining = queue.define(flowOf('g', { maxQueued: 5000 }))
  await turns()
  await clock.advance(100)
  await turns()
  release()
  await defining
  // So near to its limit that its loads are exact.
  const loads = [queue.load('g', documentOf('a'))]
  await turns()
  for (const id of ['b', 'c', 'd']) loads.push(queue.load('f', documentOf(id)))
  await turns()
  held.release()
  await Promise.all(loads)
  t.equal(await gateOf(storages[0]!), undefined)
  t.equal((await drained(queue, 'f')).length, 4)
  t.strictSame(await flowProblems(storages[0]!), [])
})

t.test('a gate is ended, though nothing was posted and nothing is changed', async (t) => {
  const { queues, storages } = await crowd(t)
  const refuse = () => {
    throw new LorekeepError('LK_PRECONDITION', 'on purpose')
  }
  await t.rejects(queues[0]!.load('f', documentOf('a'), { check: refuse }), {
    code: 'LK_PRECONDITION',
  })
  t.equal(await gateOf(storages[0]!), undefined)
  t.strictSame(await flowProblems(storages[0]!), [])
})

t.test('a flow that is full turns loads away and leaves the gate open', async (t) => {
  const { queues, storages } = await crowd(t)
  const [first, second] = queues as [JobQueue, JobQueue]
  await first.define(flowOf('f', { maxQueued: 1 }))
  await t.rejects(second.load('f', documentOf('a')), { code: 'LK_FLOW_FULL' })
  t.equal(await countOf(storages[0]!, 'gate'), 1)
})

t.test('a claim that reads comes to its end while others post and ask', async (t) => {
  const waiting = await crowd(t)
  const [first] = waiting.queues as [JobQueue]
  for (let n = 0; n < 5; n++) await first.load('f', documentOf(`d${n}`, `u${n}`))
  let rounds = 0
  const reads: Promise<unknown>[] = []
  const queue: JobQueue = await queueWith(waiting, async (real, operations, options) => {
    if (rounds < 50) {
      rounds++
      await first.load('f', documentOf(`more ${rounds}`))
      reads.push(queue.job('none', 'fresh'))
    }
    return real.write(operations, options)
  })
  await queue.refresh()
  rounds = 0
  let jobs = 0
  while (jobs === 0) jobs = (await queue.claim('f', 1)).jobs.length
  t.ok(rounds < 20, `${rounds} rounds`)
  rounds = 50
  await Promise.all(reads)
})

t.test('who was taken for dead between two ways in goes neither', async (t) => {
  const waiting = await crowd(t)
  const { memory, clock } = waiting
  const [presence, other] = await members(t, waiting)
  const real = await memory.backend().open('flows')
  let isOver = false
  const write: Storage['write'] = async (operations, options) => {
    if (operations.length === postSize && !isOver) {
      isOver = true
      const before = presence.id
      await exactly(waiting.queues[0]!, 'exact')
      await other.expel(before)
      for (let n = 0; n < 100 && presence.id === before; n++) {
        await clock.advance(1000)
        await turns()
      }
      t.not(presence.id, before)
    }
    return real.write(operations, options)
  }
  const queue = await openQueue(altered(real, { write }), { clock, presence })
  await t.rejects(queue.load('f', documentOf('late')), { code: 'LK_STORAGE_UNAVAILABLE' })
  const documents = (await drained(queue, 'f')).map(({ document }) => document.document)
  t.strictSame(documents, ['first', 'exact'])
})

for (const look of [1, 2]) {
  t.test(
    `posts that a fail-over has lost since they were seen are not missed: look ${look}`,
    async (t) => {
      const waiting = await crowd(t)
      const { memory, clock, queues, storages } = waiting
      const storage = storages[0]!
      await queues[0]!.load('f', documentOf('lost'))
      const real = await memory.backend().open('flows')
      let looks = -Infinity
      const getMany: Storage['getMany'] = async (keys) => {
        const found = await real.getMany(keys)
        const isLook = keys.some((key) => Buffer.compare(key, inboxKey(0)) === 0)
        if (isLook && ++looks === look) {
          const places = Array.from({ length: inboxes }, (_, inbox) => inbox)
          const lost = places.flatMap((inbox) => [inboxKey(inbox), postKey(inbox, 1)])
          await storage.write(lost.map((key): Operation => ({ type: 'del', key })))
        }
        return found
      }
      const queue = await openQueue(altered(real, { getMany }), { clock })
      looks = 0
      await queue.refresh()
      t.ok(looks >= look)
      await queue.refresh()
      t.equal((await drained(queue, 'f')).length, 1)
    },
  )
}
