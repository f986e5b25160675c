// Who waits for his turn follows what others write meanwhile, and who has it is not held up by looks.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { doneKeys } from '../../../src/flow/queue/records.js'
import type { Storage } from '../../../src/storage.js'
import { altered } from '../../fixtures/altered-storage.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { flowProblems } from '../../fixtures/problems.js'
import { VirtualClock } from '../virtual-clock.js'
import { documentOf, drained, flowOf, openQueue, steps } from './queues.js'

async function queues() {
  const memory = new SharedMemory()
  const clock = new VirtualClock()
  const [one, two] = [await memory.backend().open('flows'), await memory.backend().open('flows')]
  const [first, second] = [await openQueue(one, { clock }), await openQueue(two, { clock })]
  return { memory, clock, one, first, second }
}

async function turns(): Promise<void> {
  for (let n = 0; n < 20; n++) await turn()
}

t.test('what others have written is known before the turn has begun', async (t) => {
  const { memory, clock, one, first, second } = await queues()
  t.teardown(() => memory.close())
  const release = await one.sharing!.turn('head')
  const loading = second.load('f', documentOf('own'))
  await turns()
  // As whoever has the turn.
  const other = await openQueue(withoutTurns(one), { clock })
  for (let n = 0; n < 3; n++) await other.load('f', documentOf(`d${n}`))
  t.equal(second.stats('f')?.queued, 0)
  await clock.advance(50)
  await turns()
  t.equal(second.stats('f')?.queued, 3)
  await other.load('f', documentOf('late'))
  release()
  await loading
  t.equal(second.stats('f')?.queued, 5)
  const documents = (await drained(first, 'f')).map(({ document }) => document.document)
  t.strictSame(documents, ['d0', 'd1', 'd2', 'late', 'own'])
  t.strictSame(await flowProblems(one), [])
})

t.test('what cannot be followed is read anew when the turn has begun', async (t) => {
  const { memory, clock, one, first, second } = await queues()
  t.teardown(() => memory.close())
  const release = await one.sharing!.turn('head')
  const loading = second.load('f', documentOf('own'))
  await turns()
  const other = await openQueue(withoutTurns(one), { clock })
  await other.setActive('f', false)
  await other.setActive('f', true)
  await other.load('f', documentOf('d'))
  await clock.advance(50)
  await turns()
  release()
  await loading
  t.equal(second.stats('f')?.queued, 2)
  t.equal((await drained(first, 'f')).length, 2)
  t.strictSame(await flowProblems(one), [])
})

t.test('a turn begins with a look, which is that of who asked before it', async (t) => {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const [one, two] = [await memory.backend().open('flows'), await memory.backend().open('flows')]
  let gets = 0
  const get: Storage['get'] = (key) => (gets++, two.get(key))
  const queue = await openQueue(altered(two, { get }))
  const other = await openQueue(withoutTurns(one))
  const release = await one.sharing!.turn('head')
  const loading = queue.load('f', documentOf('own'))
  await turns()
  gets = 0
  const looking = queue.refresh()
  await other.load('f', documentOf('theirs'))
  release()
  await Promise.all([loading, looking])
  t.equal(queue.stats('f')?.queued, 2)
  t.equal(gets, 0, 'nobody looked twice')
})

t.test('in its own turn a process looks for changes beside what is being written', async (t) => {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const one = await memory.backend().open('flows')
  const gate = new Gate()
  const queue = await openQueue(gate.before(one, 'write'))
  gate.close()
  const loading = queue.load('f', documentOf('d'))
  await gate.reached
  let hasLooked = false
  const looking = queue.refresh().then(() => (hasLooked = true))
  await turns()
  t.ok(hasLooked)
  gate.open()
  await Promise.all([loading, looking])
})

t.test('in its own turn a process notices what others write without one', async (t) => {
  const { memory, clock, one, first } = await queues()
  t.teardown(() => memory.close())
  await first.load('f', documentOf('own'))
  const other = await openQueue(withoutTurns(one), { clock })
  await other.load('f', documentOf('theirs'))
  t.equal(first.stats('f')?.queued, 1)
  await first.refresh()
  t.equal(first.stats('f')?.queued, 2)
})

t.test(
  'two processes that remove the same records of done jobs count them once, before they close',
  async (t) => {
    const memory = new SharedMemory()
    t.teardown(() => memory.close())
    const [one, two] = [await memory.backend().open('flows'), await memory.backend().open('flows')]
    const gate = new Gate()
    const first = await openQueue(one)
    const second = await openQueue(gate.before(two, 'scan'))
    await first.define(flowOf('f', { keepDone: 0 }))
    for (let n = 0; n < 150; n++) {
      await first.load('f', documentOf(`d${n}`))
      const { jobs } = await first.claim('f', 1)
      for (const job of jobs) await first.complete(job, steps)
    }
    await second.refresh()
    gate.close()
    const pruning = second.prune('f')
    await gate.reached
    await first.prune('f')
    let isDrained = false
    const draining = second.drained().then(() => (isDrained = true))
    await turns()
    t.notOk(isDrained)
    gate.open()
    await Promise.all([pruning, draining])
    t.strictSame(await flowProblems(one), [])
    const done = []
    for await (const page of one.scan(doneKeys('f'))) done.push(...page)
    t.equal(done.length, 50)
  },
)

/** Holds calls back while it is closed: reads have been made by then, writes have not. */
class Gate {
  #opened: Promise<void> = Promise.resolve()
  #open = () => {}
  #reach = () => {}
  /** Somebody waits since it was closed. */
  reached: Promise<void> = Promise.resolve()

  close(): void {
    this.#opened = new Promise((resolve) => (this.#open = resolve))
    this.reached = new Promise((resolve) => (this.#reach = resolve))
  }

  open(): void {
    this.#open()
  }

  before(storage: Storage, held: 'write' | 'scan'): Storage {
    const write: Storage['write'] = async (...given) => {
      this.#reach()
      await this.#opened
      return storage.write(...given)
    }
    const scan: Storage['scan'] = (range) => this.#behind(storage.scan(range))
    return altered(storage, held === 'write' ? { write } : { scan })
  }

  async *#behind<T>(pages: AsyncIterable<T>): AsyncGenerator<T> {
    this.#reach()
    await this.#opened
    yield* pages
  }
}

/** Of somebody who has the turn. */
function withoutTurns(real: Storage): Storage {
  return altered(real, { sharing: { ...real.sharing!, turn: async () => () => undefined } })
}
