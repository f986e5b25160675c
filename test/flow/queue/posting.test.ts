// Loads beside the head: who waits for turns of others posts what he loads, and whoever needs it takes it in.

import assert from 'node:assert/strict'
import t, { type Test } from 'tap'
import { numberIn } from '../../../src/flow/queue/block.js'
import type { JobQueue, JobQueueOptions } from '../../../src/flow/queue/queue.js'
import type { Storage } from '../../../src/storage.js'
import { altered } from '../../fixtures/altered-storage.js'
import { flowProblems } from '../../fixtures/problems.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { countOf, crowd, type Crowd, members, postSize } from './crowd.js'
import { documentOf, drained, failureOf, flowOf, jobsOf, openQueue, steps } from './queues.js'

t.test('who waits long for his turn has all post, and whoever asks sees it', async (t) => {
  const { storages, queues } = await crowd(t)
  const [first, second] = queues as [JobQueue, JobQueue]
  const release = await storages[0]!.sharing!.turn('head')
  // Nobody waits for a turn that does not come.
  const ids = [await first.load('f', documentOf('a')), await second.load('f', documentOf('b'))]
  t.equal(await countOf(storages[0]!, 'post'), 2)
  t.equal(second.stats('f')?.queued, 1)
  t.strictSame(await flowProblems(storages[0]!), [])
  release()
  t.equal((await first.job(ids[1]!))?.document, 'b')
  await second.refresh()
  t.equal(second.stats('f')?.queued, 3)
  t.equal(await countOf(storages[0]!, 'post'), 0)
  t.equal((await second.jobsOf('alice', 'a', 'fresh')).jobs[0]?.id, ids[0])
  const documents = (await drained(second, 'f')).map(({ document }) => document.document)
  t.strictSame(documents, ['first', 'a', 'b'])
  t.strictSame(await flowProblems(storages[0]!), [])
})

t.test(
  'later loads have larger numbers, whoever made them, beside the head or by it',
  async (t) => {
    const seed = pickSeed()
    t.comment(`seed ${seed}`)
    const random = new Random(seed)
    const { storages, queues } = await crowd(t, 4)
    let last = 0
    for (let n = 0; n < 200; n++) {
      const queue = random.pick(queues)
      const check = random.chance(0.05) ? () => undefined : undefined
      const id = await queue.load('f', documentOf('d'), { check })
      const number = parseInt(id.split('.').at(-1)!, 36)
      assert.ok(number > last, `${number} comes behind ${last}`)
      last = number
      if (random.chance(0.1)) await random.pick(queues).refresh()
      if (random.chance(0.1)) await drained(random.pick(queues), 'f')
    }
    await drained(queues[0]!, 'f')
    t.equal((await queues[0]!.jobsOf('alice', 'd')).latest?.number, last)
    t.strictSame(await flowProblems(storages[0]!), [])
  },
)

t.test('cancel, retry and lists know what was posted', async (t) => {
  const { queues, storages } = await crowd(t)
  const [first, second] = queues as [JobQueue, JobQueue]
  const a = await first.load('f', documentOf('a'))
  await second.cancel(a)
  t.equal(await first.job(a, 'fresh'), undefined)
  await first.load('f', documentOf('b'))
  const listed = await jobsOf(second, { flow: 'f' })
  t.strictSame(
    listed.map(({ document }) => document),
    ['first', 'b'],
  )
  const c = await first.load('f', documentOf('c'))
  await t.rejects(second.retry(c), { code: 'LK_JOB_STATE' })
  const d = await first.load('f', documentOf('d'))
  const { changed } = await second.change(
    'cancel',
    { states: new Set(['queued']), scope: {}, isReverse: false },
    undefined,
    10,
  )
  t.equal(changed, 4)
  t.equal(await first.job(d, 'fresh'), undefined)
  t.strictSame(await flowProblems(storages[0]!), [])
})

t.test('a flow takes no more than it may, and is not removed with what was posted', async (t) => {
  const { queues, storages } = await crowd(t)
  const [first, second] = queues as [JobQueue, JobQueue]
  await first.load('f', documentOf('a'))
  await t.rejects(second.remove('f'), { code: 'LK_FLOW_IN_USE' })
  // Room for those who post at the same time is left, and what is left is given by the head.
  await first.define(flowOf('f', { maxQueued: 5 }))
  const loads = Array.from({ length: 6 }, (_, n) => queues[n % 2]!.load('f', documentOf(`d${n}`)))
  const results = await Promise.allSettled(loads)
  const refused = results.filter(({ status }) => status === 'rejected')
  t.equal(refused.length, 3)
  for (const result of refused) t.match(result, { reason: { code: 'LK_FLOW_FULL' } })
  t.equal(await countOf(storages[0]!, 'gate'), 0)
  t.equal(await countOf(storages[0]!, 'inbox'), 0)
  await drained(first, 'f')
  await first.define(flowOf('f'))
  t.equal(await second.remove('f'), true)
  await t.rejects(first.load('f', documentOf('e')), { code: 'LK_FLOW_NOT_FOUND' })
  t.strictSame(await flowProblems(storages[0]!), [])
})

t.test('a flow that was stopped takes nothing that is posted', async (t) => {
  const { queues, storages } = await crowd(t)
  const [first, second] = queues as [JobQueue, JobQueue]
  await first.setActive('f', false)
  await t.rejects(second.load('f', documentOf('a')), { code: 'LK_FLOW_INACTIVE' })
  await t.rejects(second.load('g', documentOf('a')), { code: 'LK_FLOW_NOT_FOUND' })
  await second.setActive('f', true)
  await first.load('f', documentOf('b'))
  t.equal(await countOf(storages[0]!, 'post'), 1)
  // What he has loaded himself is newer than his last look.
  await first.look('recent')
  t.equal(first.stats('f')?.queued, 2)
  t.equal((await drained(second, 'f')).length, 2)
})

t.test('what many post is taken in before it is much', async (t) => {
  const { queues, storages } = await crowd(t)
  const [first, second] = queues as [JobQueue, JobQueue]
  for (let n = 0; n < 200; n++) await first.load('f', documentOf(`d${n}`))
  t.ok((await countOf(storages[0]!, 'post')) < 100)
  await second.refresh()
  t.equal(second.stats('f')?.queued, 201)
  t.strictSame(await flowProblems(storages[0]!), [])
})

t.test('where only one loads for a while, he does it by the head again', async (t) => {
  const { queues, clock, storages } = await crowd(t)
  const [first] = queues as [JobQueue, JobQueue]
  for (let n = 0; n < 5; n++) {
    await first.load('f', documentOf(`d${n}`))
    await first.refresh()
    await clock.advance(600)
  }
  await first.refresh()
  t.equal(await countOf(storages[0]!, 'gate'), 0)
  await first.load('f', documentOf('last'))
  t.equal(await countOf(storages[0]!, 'post'), 0)
  t.equal((await drained(first, 'f')).length, 7)
  t.strictSame(await flowProblems(storages[0]!), [])
})

t.test('whoever has the storage alone takes in what was posted', async (t) => {
  const { queues, storages, clock } = await crowd(t)
  const id = await queues[0]!.load('f', documentOf('a'))
  t.equal(await countOf(storages[0]!, 'post'), 1)
  const alone = await openQueue(storages[0]!, { clock, isAlone: true })
  t.equal(alone.stats('f')?.queued, 2)
  t.equal((await alone.job(id))?.document, 'a')
  for (const kind of ['gate', 'inbox', 'post']) t.equal(await countOf(storages[0]!, kind), 0)
  t.strictSame(await flowProblems(storages[0]!), [])
})

t.test('of a write that nobody answered for the inbox tells whether it was made', async (t) => {
  const { memory, clock, storages } = await crowd(t)
  const real = await memory.backend().open('flows')
  let isMade = true
  const write: Storage['write'] = async (operations, options) => {
    const isPost = operations.length === postSize
    if (!isPost || isMade) await real.write(operations, options)
    if (isPost) throw Object.assign(new Error('on purpose'))
  }
  const failing = altered(real, { write })
  const queue = await openQueue(failing, { clock })
  const id = await queue.load('f', documentOf('a'))
  isMade = false
  await t.rejects(queue.load('f', documentOf('b')), { message: 'on purpose' })
  const other = await openQueue(storages[0]!, { clock })
  t.equal((await other.job(id, 'fresh'))?.document, 'a')
  t.equal((await drained(other, 'f')).length, 2)
  t.strictSame(await flowProblems(storages[0]!), [])
})

/** What others do before one learns that nobody answers for his post. */
async function postInDoubt(
  t: Test,
  goOn: (other: JobQueue, block: () => Promise<Uint8Array | undefined>) => Promise<unknown>,
  isMade = true,
) {
  const { memory, clock, queues, storages } = await crowd(t)
  const real = await memory.backend().open('flows')
  let isFirst = true
  const write: Storage['write'] = async (operations, options) => {
    const isDoubtful = isFirst && operations.length === postSize
    if (isMade || !isDoubtful) await real.write(operations, options)
    if (!isDoubtful) return
    isFirst = false
    await goOn(queues[0]!, () => real.get(operations[0]!.key))
    throw Object.assign(new Error('on purpose'))
  }
  const queue = await openQueue(altered(real, { write }), { clock })
  await drained(queue, 'f')
  const load = () => queue.load('f', documentOf('a'))
  return { load, other: queues[0]!, storage: storages[0]! }
}

/** The first one closes the gate, the second one ends it. */
async function endGate(queue: JobQueue): Promise<void> {
  for (const id of ['b', 'c']) await queue.load('f', documentOf(id), { check: () => undefined })
}

async function failAndClaimAgain(queue: JobQueue): Promise<void> {
  await endGate(queue)
  const { jobs } = await queue.claim('f', 8)
  for (const job of jobs) {
    await queue.fail(job, failureOf(job), { mayRetry: false })
    await queue.retry(job.record.id)
  }
  t.equal((await queue.claim('f', 8)).jobs.length, 3)
}

for (const [name, goOn, kinds] of [
  ['has posted behind it', (other) => other.load('f', documentOf('b')), ['inbox', 'block']],
  ['has ended the gate', endGate, ['block']],
  ['has processed it', async (other) => (await endGate(other), drained(other, 'f')), []],
  ['processes it once more', failAndClaimAgain, ['lease']],
] as [string, (other: JobQueue) => Promise<unknown>, string[]][]) {
  t.test(`a post in doubt was made where another ${name}`, async (t) => {
    const { load, other, storage } = await postInDoubt(t, goOn)
    const id = await load()
    t.equal((await other.job(id, 'fresh'))?.document, 'a')
    for (const kind of ['inbox', 'block', 'lease']) {
      t.equal((await countOf(storage, kind)) > 0, kinds.includes(kind), kind)
    }
    const jobs = await jobsOf(other, { flow: 'f', document: 'a' })
    t.equal(jobs.length, 1)
    t.strictSame(await flowProblems(storage), [])
  })
}

t.test('a post in doubt was made where another has cancelled it', async (t) => {
  const { load, storage } = await postInDoubt(t, async (other) => {
    for (const { id } of await jobsOf(other, { flow: 'f', document: 'a' })) await other.cancel(id)
  })
  await t.resolves(load())
  t.equal(await countOf(storage, 'block'), 0)
  t.strictSame(await flowProblems(storage), [])
})

for (const name of ['has', 'has done']) {
  t.test(`a post in doubt was not made where another ${name} what has its number`, async (t) => {
    const { load, other, storage } = await postInDoubt(
      t,
      async (other, block) => {
        do await endGate(other)
        while ((await block()) === undefined)
        if (name === 'has done') await drained(other, 'f')
      },
      false,
    )
    await t.rejects(load(), { message: 'on purpose' })
    t.strictSame(await jobsOf(other, { flow: 'f', document: 'a' }), [])
    t.strictSame(await flowProblems(storage), [])
  })
}

t.test('one document for two flows keeps the order of its loads', async (t) => {
  const { queues, storages } = await crowd(t)
  const [first, second] = queues as [JobQueue, JobQueue]
  await first.define(flowOf('g'))
  await second.refresh()
  await drained(first, 'f')
  await Promise.all(['f', 'g', 'f'].map((flow) => second.load(flow, documentOf('a'))))
  t.equal(await countOf(storages[0]!, 'post'), 1)
  const numbers = (await jobsOf(first, { document: 'a', user: 'alice', state: 'queued' })).map(
    ({ flow }) => flow,
  )
  t.strictSame(numbers, ['f', 'g', 'f'])
  const { jobs } = await first.claim('f', 3)
  t.equal(jobs.length, 1)
  await first.complete(jobs[0]!, steps)
  t.strictSame(await flowProblems(storages[0]!), [])
})

/** One more who shares the storage, and does something, once, between the look of a post and its write. */
async function slowQueue({ memory, clock }: Crowd, options: Partial<JobQueueOptions> = {}) {
  const real = await memory.backend().open('flows')
  const slow = { between: async (): Promise<unknown> => undefined }
  const write: Storage['write'] = async (operations, options) => {
    if (operations.length === postSize) {
      const { between } = slow
      slow.between = async () => undefined
      await between()
    }
    return real.write(operations, options)
  }
  const queue = await openQueue(altered(real, { write }), { clock, ...options })
  return { queue, slow }
}

t.test('where another posts to the same inbox meanwhile, a post is made anew', async (t) => {
  const waiting = await crowd(t)
  const { queue, slow } = await slowQueue(waiting)
  const [first] = waiting.queues as [JobQueue]
  let other = ''
  slow.between = async () => (other = await first.load('f', documentOf('a')))
  const later = await queue.load('f', documentOf('a'))
  t.ok(numberIn(other)! < numberIn(later)!)
  t.equal(await countOf(waiting.storages[0]!, 'post'), 2)
  t.equal((await drained(queue, 'f')).length, 3)
  t.strictSame(await flowProblems(waiting.storages[0]!), [])
})

t.test('where the flow is stopped meanwhile, nothing is posted', async (t) => {
  const waiting = await crowd(t)
  const { queue, slow } = await slowQueue(waiting)
  const [first] = waiting.queues as [JobQueue]
  slow.between = () => first.setActive('f', false)
  await t.rejects(queue.load('f', documentOf('a')), { code: 'LK_FLOW_INACTIVE' })
  t.equal(await countOf(waiting.storages[0]!, 'post'), 0)
})

t.test('where the gate is closed meanwhile, it is loaded by the head', async (t) => {
  const waiting = await crowd(t)
  const { queue, slow } = await slowQueue(waiting)
  const [first] = waiting.queues as [JobQueue]
  slow.between = () => first.load('f', documentOf('a'), { check: () => undefined })
  await queue.load('f', documentOf('b'))
  for (const kind of ['gate', 'inbox', 'post']) {
    t.equal(await countOf(waiting.storages[0]!, kind), 0)
  }
  const documents = (await drained(queue, 'f')).map(({ document }) => document.document)
  t.strictSame(documents, ['first', 'a', 'b'])
  t.strictSame(await flowProblems(waiting.storages[0]!), [])
})

t.test(
  'who was taken for dead meanwhile posts nothing, and what he had posted stays',
  async (t) => {
    const waiting = await crowd(t)
    const [presence, other] = await members(t, waiting)
    const { queue, slow } = await slowQueue(waiting, { presence })
    const id = await queue.load('f', documentOf('a'))
    slow.between = () => other.expel(presence.id)
    await t.rejects(queue.load('f', documentOf('b')), { code: 'LK_STORAGE_UNAVAILABLE' })
    t.equal(await countOf(waiting.storages[0]!, 'post'), 1)
    const [first] = waiting.queues as [JobQueue]
    t.equal((await first.job(id, 'fresh'))?.document, 'a')
    t.equal((await drained(first, 'f')).length, 2)
    t.strictSame(await flowProblems(waiting.storages[0]!), [])
  },
)

t.test('who has the turn learns that somebody without one has closed the gate', async (t) => {
  const { memory, clock } = await crowd(t)
  const ours = await memory.backend().open('flows')
  let reads = 0
  const getMany: Storage['getMany'] = async (keys) => {
    reads++
    return ours.getMany(keys)
  }
  const queue = await openQueue(altered(ours, { getMany }), { clock })
  // Whoever has waited for too long goes on without, and nobody hears that he waits.
  const theirs = await memory.backend().open('flows')
  const turn = async () => Promise.reject(new Error('it takes too long'))
  const sharing = { ...theirs.sharing!, turn, publish: () => {} }
  const other = await openQueue(altered(theirs, { sharing }), { clock })
  // The second turn is kept: nobody has asked for it.
  for (let n = 0; n < 2; n++) await queue.define(flowOf('f'))
  await other.load('f', documentOf('a'), { check: () => undefined })
  reads = 0
  await queue.load('f', documentOf('b'))
  t.ok(reads < 10, `${reads} reads`)
  t.equal((await drained(queue, 'f')).length, 3)
})
