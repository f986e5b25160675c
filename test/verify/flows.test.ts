// Everything that the verifier of flows can find, each from the smallest damage that shows it.

import { serialize } from 'node:v8'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import {
  blockKey,
  bodyKey,
  countsKey,
  deadKey,
  delayedKey,
  documentKey,
  doneKey,
  flowKey,
  formatKey,
  gateKey,
  headKey,
  inboxes,
  inboxKey,
  jobKey,
  latestKey,
  leaseKey,
  leftKey,
  outputKey,
  postKey,
  runKey,
  type CountsRecord,
  type FlowRecord,
  type GateRecord,
  type HeadRecord,
  type InboxRecord,
  type JobRecord,
  type LatestRecord,
  type LeaseRecord,
  type PostRecord,
} from '../../src/flow/queue/records.js'
import { hashOf } from '../../src/flow/queue/state.js'
import { encodeRun } from '../../src/flow/queue/run.js'
import { verifyFlows } from '../../src/flow/verify/verify.js'
import { encodeKey } from '../../src/keys.js'
import { decodeRecord } from '../../src/record.js'
import type { Storage } from '../../src/storage.js'
import type { Report } from '../../src/verify/report.js'
import { crowd } from '../flow/queue/crowd.js'
import { documentOf, failureOf, flowOf, openQueue, steps } from '../flow/queue/queues.js'
import { VirtualClock } from '../flow/virtual-clock.js'
import { expectFound, flipped, linesOf, recordIn, type Change, type Damage } from './changes.js'

const nothing = new Uint8Array(0)
const user = 'u'
const dueAt = Date.UTC(2026, 0, 1) + 750

async function opened(keepDone = 100) {
  const storage = await new MemoryBackend().open('flows')
  let ids = 0
  const queue = await openQueue(storage, {
    clock: new VirtualClock(),
    firstFlow: flowOf('f', { maxAttempts: 2, keepDone }),
    createId: () => `id${++ids}`,
    chance: { fraction: () => 0.5, token: () => `token${++ids}` },
  })
  const load = (flow: string, ...names: string[]) =>
    Promise.all(names.map((name) => queue.load(flow, documentOf(name, user))))
  return { storage, queue, load, verify: (report: Report) => verifyFlows(storage, report) }
}

// The jobs of filled(). Those of block 3 were loaded together.
const [old, newer] = [4096, 8192]
const [done, delayed, done2, dead, active, again, active2, queued, queued2] = Array.from(
  { length: 9 },
  (_, n) => 12288 + n,
) as [number, number, number, number, number, number, number, number, number]
const later = 16384

/**
 * The document `x` was loaded twice, and both jobs are done. Of `d0` to `d8` some are done, one each
 * is delayed, dead and queued once more, two are active, two queued; `d0` is queued once more.
 */
async function filled() {
  const { storage, queue, load, verify } = await opened()
  await queue.define(flowOf('g'))
  for (let n = 0; n < 2; n++) {
    await load('f', 'x')
    const { jobs } = await queue.claim('f', 1)
    await queue.complete(jobs[0]!, steps)
  }
  await load('f', 'd0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7', 'd8')
  await load('f', 'd0')
  const { jobs } = await queue.claim('f', 7)
  const [d0, d1, d2, d3, d4, d5] = jobs as [Job, Job, Job, Job, Job, Job]
  await queue.record(d1, ['a'], serialize({ n: 1 }))
  await queue.record(d4, ['a'], serialize({ n: 4 }))
  await queue.complete(d0, steps)
  await queue.complete(d2, steps)
  await queue.fail(d1, failureOf(d1), {})
  await queue.fail(d3, failureOf(d3), { mayRetry: false })
  await queue.release(d5, failureOf(d5))
  const job = (number: number) => recordIn<JobRecord>(storage, jobKey(number))
  return {
    storage,
    verify,
    head: await recordIn<HeadRecord>(storage, headKey()),
    flow: await recordIn<FlowRecord>(storage, flowKey('f')),
    counts: await recordIn<CountsRecord>(storage, countsKey('f')),
    lease: await recordIn<LeaseRecord>(storage, leaseKey(active)),
    lease2: await recordIn<LeaseRecord>(storage, leaseKey(active2)),
    latest: await recordIn<LatestRecord>(storage, latestKey(user, 'x')),
    jobs: {
      old: await job(old),
      newer: await job(newer),
      done: await job(done),
      delayed: await job(delayed),
      dead: await job(dead),
      again: await job(again),
    },
    block: (await storage.get(blockKey(3)))!,
    body: (await storage.get(bodyKey(dead)))!,
  }
}

type Job = Awaited<ReturnType<Awaited<ReturnType<typeof openQueue>>['claim']>>['jobs'][0]
type Filled = Awaited<ReturnType<typeof filled>>

/** The change of one key, in the storage of the test. */
type One = readonly [Uint8Array, object | undefined]
type Tell = (of: string, changes: readonly One[], found?: string[], deep?: string[]) => Damage

function test(
  name: string,
  damagesOf: (tell: Tell, store: Filled) => readonly Damage[] | Promise<Damage[]>,
) {
  t.test(name, async (t) => {
    const store = await filled()
    const tell: Tell = (of, changes, found = [], deep = []) => {
      const all = changes.map(([key, value]): Change => [store.storage, key, value])
      return { of, changes: all, found, deep }
    }
    await expectFound(t, store.verify, new Map(), await damagesOf(tell, store))
  })
}

async function runOf(storage: Storage, number: number): Promise<Uint8Array> {
  return (await storage.get(runKey('f', user, number)))!
}

t.test('nothing is wrong with an empty place, and with jobs of all kinds', async (t) => {
  const empty = await new MemoryBackend().open('flows')
  t.strictSame(await linesOf((report) => verifyFlows(empty, report), true), [])
  const { storage, queue, load, verify } = await opened(2)
  const nothingIn = async (what: string) => {
    for (const deep of [false, true]) t.strictSame(await linesOf(verify, deep), [], what)
  }
  await nothingIn('opened')
  await load('f', 'ü "x"', 'näme\u0000 ☃', 'c', 'd', 'e', 'f')
  await nothingIn('loaded')
  const { jobs } = await queue.claim('f', 5)
  await nothingIn('claimed')
  const [a, b, c, d, e] = jobs as [Job, Job, Job, Job, Job]
  for (const job of [a, b]) {
    await queue.record(job, ['a'], serialize('ü'))
    await queue.record(job, ['a', 'b'], serialize({ ü: 1n }))
  }
  await queue.complete(a, steps)
  await queue.fail(b, failureOf(b), {})
  await queue.fail(c, failureOf(c), { mayRetry: false })
  await queue.release(d, failureOf(d))
  await nothingIn('settled')
  await queue.retry(c.record.id)
  await queue.cancel(b.record.id)
  await queue.complete(e, steps)
  await nothingIn('retried and cancelled')
  for (let n = 0; n < 3; n++) {
    await load('f', 'c', ...Array.from({ length: 50 }, (_, m) => `more ${m}`))
    const claimed = await queue.claim('f', 100)
    await Promise.all(claimed.jobs.map((job) => queue.complete(job, steps)))
    await queue.prune('f')
    await nothingIn(`pruned ${n} times`)
  }
  const counts = await recordIn<CountsRecord>(storage, countsKey('f'))
  t.ok(counts.pruned > 0)
  await load('f', 'c')
  const latest = await recordIn<LatestRecord>(storage, latestKey(user, 'c'))
  await queue.forget(user, 'c', [latest.job])
  await nothingIn('forgotten')
  await queue.define(flowOf('g'))
  await load('g', 'c', 'd')
  await nothingIn('another flow')
})

test('keys of no kind', (tell) => [
  ...[
    ['strange'],
    ['format', 5],
    ['head', 'x'],
    ['flow', 5],
    ['counts', 'x', 'y'],
    ['block', 'x'],
    ['left'],
    ['run', 'f', 'u', 'x'],
    ['lease', 'x'],
    ['job', 5, 5],
    ['output', 5],
    ['delayed', 'f', 5],
    ['dead', 5, 'f'],
    ['body', 'x'],
    ['done', 5, 5],
    ['document', 'u', 5],
    ['latest', 'u'],
  ].map((elements) => {
    const text = `(${elements.map((one) => JSON.stringify(one)).join(', ')})`
    return tell(text, [[encodeKey(...elements), {}]], [`unknown ${text}: a key of no kind`])
  }),
])

test('the format, the head and flows', (tell, { head, flow, counts }) => {
  const none = 'damaged ("flow", "f"): it is not the definition of this flow'
  const noCounts = 'damaged ("counts", "f"): it does not count jobs'
  return [
    tell(
      'no format',
      [[formatKey(), undefined]],
      ['missing ("format"): says what format the data is of'],
    ),
    tell(
      'another format',
      [[formatKey(), { format: 1 }]],
      ['different ("format"): format 1; this version reads 3'],
    ),
    tell(
      'a format that is none',
      [[formatKey(), Buffer.from('5')]],
      ['damaged ("format"): the record is no object'],
    ),
    tell('no head', [[headKey(), undefined]], ['missing ("head"): says which blocks were given']),
    ...[
      { nextBlock: -1 },
      { nextBlock: '5' },
      { nextBlock: 2 ** 52 },
      { version: null },
      { token: 5 },
    ].map((fields) =>
      tell(
        JSON.stringify(fields),
        [[headKey(), { ...head, ...fields }]],
        ['damaged ("head"): it is not a head'],
      ),
    ),
    tell(
      'a head behind the jobs',
      [[headKey(), { ...head, nextBlock: 4 }]],
      ['different ("block", 4): the head has not given that number yet'],
    ),
    tell(
      'a head behind all',
      [[headKey(), { ...head, nextBlock: 1 }]],
      [
        'different ("block", 3): the head has not given that number yet',
        'different ("block", 4): the head has not given that number yet',
        'different ("job", 12288): the head has not given that number yet',
        'different ("job", 12289): the head has not given that number yet',
        'different ("job", 12290): the head has not given that number yet',
        'different ("job", 12291): the head has not given that number yet',
        'different ("job", 12293): the head has not given that number yet',
        'different ("job", 4096): the head has not given that number yet',
        'different ("job", 8192): the head has not given that number yet',
        'different ("latest", "u", "d0"): names the job 12288; the head has not given that number yet',
        'different ("latest", "u", "d2"): names the job 12290; the head has not given that number yet',
        'different ("latest", "u", "x"): names the job 8192; the head has not given that number yet',
        'different ("lease", 12292): the head has not given that number yet',
        'different ("lease", 12294): the head has not given that number yet',
      ],
    ),
    ...[
      { id: 'g' },
      { id: 5 },
      { active: 'yes' },
      { steps: {} },
      { steps: [{}] },
      { steps: [null] },
      { keepDone: -1 },
      { maxAttempts: '5' },
    ].map((fields) =>
      tell(JSON.stringify(fields), [[flowKey('f'), { ...flow, ...fields }]], [none]),
    ),
    tell(
      'no flow',
      [[flowKey('f'), undefined]],
      [
        'unreferenced ("counts", "f"): there is no such flow',
        `unreferenced ("dead", "f", 12291): there is no flow 'f'`,
        `unreferenced ("delayed", "f", 1767225600750, 12289): there is no flow 'f'`,
        `unreferenced ("done", "f", 0): there is no flow 'f'`,
        `unreferenced ("done", "f", 1): there is no flow 'f'`,
        `unreferenced ("done", "f", 2): there is no flow 'f'`,
        `unreferenced ("done", "f", 3): there is no flow 'f'`,
        `unreferenced ("lease", 12292): there is no flow 'f'`,
        `unreferenced ("lease", 12294): there is no flow 'f'`,
        `unreferenced ("run", "f", "u", 12293): there is no flow 'f'`,
        `unreferenced ("run", "f", "u", 12295): there is no flow 'f'`,
        `unreferenced ("run", "f", "u", 16384): there is no flow 'f'`,
      ],
    ),
    tell(
      'a flow that is no record',
      [[flowKey('f'), Buffer.from('x')]],
      ['damaged ("flow", "f"): stored data is damaged: a record is not JSON'],
    ),
    tell(
      'counts of no flow',
      [[countsKey('h'), counts]],
      ['unreferenced ("counts", "h"): there is no such flow'],
    ),
    ...(['queued', 'delayed', 'active', 'done', 'dead', 'pruned'] as const).map((name) =>
      tell(`${name}: none`, [[countsKey('f'), { ...counts, [name]: null }]], [noCounts]),
    ),
    tell(
      'counts that are no record',
      [[countsKey('f'), Buffer.from('5')]],
      ['damaged ("counts", "f"): the record is no object'],
    ),
    tell(
      'more queued',
      [[countsKey('f'), { ...counts, queued: counts.queued + 1 }]],
      ['different ("counts", "f"): counts 5 queued; there are 4'],
    ),
    tell(
      'more delayed',
      [[countsKey('f'), { ...counts, delayed: counts.delayed + 1 }]],
      ['different ("counts", "f"): counts 2 delayed; there are 1'],
    ),
    tell(
      'more active',
      [[countsKey('f'), { ...counts, active: counts.active + 1 }]],
      ['different ("counts", "f"): counts 3 active; there are 2'],
    ),
    tell(
      'more dead',
      [[countsKey('f'), { ...counts, dead: counts.dead + 1 }]],
      ['different ("counts", "f"): counts 2 dead; there are 1'],
    ),
    tell(
      'more done',
      [[countsKey('f'), { ...counts, done: counts.done + 1 }]],
      ['different ("counts", "f"): counts 5 done; the list ends at 4'],
    ),
    tell(
      'more pruned',
      [[countsKey('f'), { ...counts, pruned: 1 }]],
      ['different ("done", "f", 0): the place behind the last is 1'],
    ),
    tell(
      'no counts',
      [[countsKey('f'), undefined]],
      [
        'different ("counts", "f"): counts 0 active; there are 2',
        'different ("counts", "f"): counts 0 dead; there are 1',
        'different ("counts", "f"): counts 0 delayed; there are 1',
        'different ("counts", "f"): counts 0 done; the list ends at 4',
        'different ("counts", "f"): counts 0 queued; there are 4',
      ],
    ),
  ]
})

test('newest loads', (tell, { latest, jobs }) => {
  const key = latestKey(user, 'x')
  const one = (fields: object): One => [key, { ...latest, ...fields }]
  const none = `damaged ("latest", "u", "x"): it is not the record of a load`
  return [
    ...[
      { number: '5' },
      { number: latest.number + 1 },
      { job: 5 },
      { flow: null },
      { collection: null },
      { at: 'now' },
    ].map((fields) => tell(JSON.stringify(fields), [one(fields)], [none])),
    tell(
      'of another flow',
      [one({ flow: 'g' })],
      [
        'different ("latest", "u", "x"): names the job 8192, which is no such load that was completed',
      ],
    ),
    tell(
      'of another job',
      [one({ job: latest.job.replace(/^[^.]*/, 'other') })],
      [
        'different ("latest", "u", "x"): names the job 8192, which is no such load that was completed',
      ],
    ),
    tell(
      'of an older load',
      [one({ number: old, job: jobs.old.id })],
      ['different ("job", 8192): is done, and not known as the newest load of its document'],
    ),
    tell(
      'of another user',
      [[latestKey('v', 'x'), latest]],
      [
        'different ("latest", "v", "x"): names the job 8192, which is no such load that was completed',
      ],
    ),
    tell(
      'of another document',
      [[latestKey(user, 'y'), latest]],
      [
        'different ("latest", "u", "y"): names the job 8192, which is no such load that was completed',
      ],
    ),
    tell(
      'of a job that is not done',
      [[latestKey(user, 'd1'), { ...latest, number: delayed, job: jobs.delayed.id }]],
      [
        'different ("latest", "u", "d1"): names the job 12289, which is no such load that was completed',
      ],
    ),
    tell('of a job that was pruned', [
      [latestKey(user, 'y'), { ...latest, number: 4097, job: `x.${(4097).toString(36)}` }],
    ]),
    tell(
      'of a number that was not given',
      [
        [
          latestKey(user, 'y'),
          { ...latest, number: 4096 * 5, job: `x.${(4096 * 5).toString(36)}` },
        ],
      ],
      [
        'different ("latest", "u", "y"): names the job 20480; the head has not given that number yet',
      ],
    ),
    tell('no newest load', [[key, undefined]]),
  ]
})

test('records of jobs', (tell, { jobs, lease }) => {
  const one = (name: keyof typeof jobs, number: number, fields: object): One => [
    jobKey(number),
    { ...jobs[name], ...fields },
  ]
  const none = `damaged ("job", ${old}): it is not the record of a job at rest`
  return [
    ...[
      { id: 5 },
      { flow: null },
      { user: 5 },
      { document: null },
      { collection: 5 },
      { state: 'sleeping' },
      { state: 'active' },
      { attempts: -1 },
      { steps: {} },
      { steps: [5] },
      { failures: null },
      { createdAt: 'x' },
      { updatedAt: null },
      { dueAt: -1 },
      { dueAt: '5' },
    ].map((fields) =>
      tell(
        JSON.stringify(fields),
        [one('old', old, fields)],
        [
          none,
          `different ("job", ${old}): is listed as done; its record does not say so: ("done", ${old}, "f")`,
        ],
      ),
    ),
    tell(
      'no record',
      [[jobKey(delayed), Buffer.from('5')]],
      [
        'damaged ("job", 12289): the record is no object',
        'different ("job", 12289): is listed as delayed; its record does not say so: ("delayed", 12289, "f", 1767225600750)',
        'unreferenced ("document", "u", "d1", 12289): no such job has failed',
        'unreferenced ("output", 12289, 0): of no job',
      ],
      ['different ("block", 3): counts 1 documents that no job needs'],
    ),
    tell('a done job is gone', [[jobKey(done), undefined]]),
    tell(
      'a delayed job is gone',
      [[jobKey(delayed), undefined]],
      [
        'different ("job", 12289): is listed as delayed; its record does not say so: ("delayed", 12289, "f", 1767225600750)',
        'unreferenced ("document", "u", "d1", 12289): no such job has failed',
        'unreferenced ("output", 12289, 0): of no job',
      ],
      ['different ("block", 3): counts 1 documents that no job needs'],
    ),
    tell(
      'a dead job is gone',
      [[jobKey(dead), undefined]],
      [
        'different ("job", 12291): is listed as dead; its record does not say so: ("dead", 12291, "f")',
        'unreferenced ("body", 12291): of no job',
        'unreferenced ("document", "u", "d3", 12291): no such job has failed',
      ],
    ),
    tell(
      'a queued job is gone',
      [[jobKey(again), undefined]],
      [
        'different ("job", 12293): is listed as queued; its record does not say so: ("queued", 12293, "f", "u", 385579135)',
        'unreferenced ("document", "u", "d5", 12293): no such job has failed',
      ],
      ['different ("block", 3): counts 1 documents that no job needs'],
    ),
    tell(
      'another number',
      [one('done', done, { id: jobs.old.id })],
      [
        `different ("job", 12288): its id 'id3.35s' is of another number`,
        'different ("latest", "u", "d0"): names the job 12288, which is no such load that was completed',
      ],
    ),
    tell(
      'done, and due',
      [one('done', done, { dueAt: 5 })],
      ['different ("job", 12288): is done, and due at 5'],
    ),
    tell(
      'done, with a body',
      [one('done', done, { ownBody: true })],
      ['different ("job", 12288): is done, and says that it has a body'],
    ),
    tell(
      'done, and superseded by none',
      [one('done', done, { superseded: true })],
      [
        'different ("job", 12288): is superseded, by no newer load',
        'different ("latest", "u", "d0"): names the job 12288, which is no such load that was completed',
      ],
    ),
    tell(
      'delayed, and not due',
      [one('delayed', delayed, { dueAt: undefined })],
      [
        'different ("job", 12289): is delayed, and due at undefined',
        'different ("job", 12289): is listed as delayed; its record does not say so: ("delayed", 12289, "f", 1767225600750)',
      ],
    ),
    tell(
      'delayed until another time',
      [one('delayed', delayed, { dueAt: dueAt + 1 })],
      [
        'different ("job", 12289): is listed as delayed; its record does not say so: ("delayed", 12289, "f", 1767225600750)',
        'different ("job", 12289): its record says ("delayed", 12289, "f", 1767225600751), and it is not listed so',
      ],
    ),
    tell(
      'dead, and due',
      [one('dead', dead, { dueAt: 5 })],
      ['different ("job", 12291): is dead, and due at 5'],
    ),
    tell(
      'dead, and queued',
      [one('dead', dead, { state: 'queued' })],
      [
        'different ("job", 12291): is listed as dead; its record does not say so: ("dead", 12291, "f")',
        'different ("job", 12291): its record says ("queued", 12291, "f", "u", 4288208202), and it is not listed so',
      ],
    ),
    tell(
      'queued, and dead',
      [one('again', again, { state: 'dead' })],
      [
        'different ("job", 12293): is listed as queued; its record does not say so: ("queued", 12293, "f", "u", 385579135)',
        'different ("job", 12293): its record says ("dead", 12293, "f"), and it is not listed so',
      ],
    ),
    tell(
      'of another flow',
      [one('again', again, { flow: 'g' })],
      [
        'different ("job", 12293): is listed as queued; its record does not say so: ("queued", 12293, "f", "u", 385579135)',
        'different ("job", 12293): its record says ("queued", 12293, "g", "u", 385579135), and it is not listed so',
      ],
      [
        `different ("job", 12293): is 'd5' of 'u' for 'g'; what is stored for it is 'd5' of 'u' for 'f'`,
      ],
    ),
    tell(
      'of another user',
      [one('again', again, { user: 'v' })],
      [
        'different ("job", 12293): is listed as queued; its record does not say so: ("queued", 12293, "f", "u", 385579135)',
        'different ("job", 12293): its record says ("queued", 12293, "f", "v", 385579135), and it is not listed so',
        'missing ("document", "v", "d5", 12293): is not there; the job has failed',
        'unreferenced ("document", "u", "d5", 12293): no such job has failed',
      ],
      [
        `different ("job", 12293): is 'd5' of 'v' for 'f'; what is stored for it is 'd5' of 'u' for 'f'`,
      ],
    ),
    tell(
      'of another document',
      [one('again', again, { document: 'd4' })],
      [
        'different ("job", 12293): is listed as queued; its record does not say so: ("queued", 12293, "f", "u", 385579135)',
        'different ("job", 12293): its record says ("queued", 12293, "f", "u", 1643923689), and it is not listed so',
        'missing ("document", "u", "d4", 12293): is not there; the job has failed',
        'unreferenced ("document", "u", "d5", 12293): no such job has failed',
      ],
      [
        `different ("job", 12293): is 'd4' of 'u' for 'f'; what is stored for it is 'd5' of 'u' for 'f'`,
      ],
    ),
    tell(
      'of another document, with its body',
      [one('dead', dead, { document: 'd4' })],
      [
        'missing ("document", "u", "d4", 12291): is not there; the job has failed',
        'unreferenced ("document", "u", "d3", 12291): no such job has failed',
      ],
      [
        `different ("job", 12291): is 'd4' of 'u' for 'f'; what is stored for it is 'd3' of 'u' for 'f'`,
      ],
    ),
    tell('of a document that was lost', [
      one('again', again, { document: 'd', lost: hashOf('d5'), failures: [] }),
      [documentKey(user, 'd5', again), undefined],
    ]),
    tell(
      'without failures',
      [one('again', again, { failures: [] })],
      ['unreferenced ("document", "u", "d5", 12293): no such job has failed'],
    ),
    tell(
      'with a step more',
      [one('delayed', delayed, { steps: ['a', 'b'] })],
      ['missing ("output", 12289, 1): is not there; the record of the job names it'],
    ),
    tell('with a step more that is not recorded', [
      one('delayed', delayed, { steps: ['b', 'a'], unrecorded: [0] }),
      [outputKey(delayed, 0), undefined],
      [outputKey(delayed, 1), serialize(1)],
    ]),
    tell(
      'with a recorded step more behind one that is not',
      [one('delayed', delayed, { steps: ['b', 'a'], unrecorded: [0] })],
      [
        'missing ("output", 12289, 1): is not there; the record of the job names it',
        'unreferenced ("output", 12289, 0): of no job',
      ],
    ),
    tell(
      'without steps',
      [one('delayed', delayed, { steps: [] })],
      ['unreferenced ("output", 12289, 0): of no job'],
    ),
    tell(
      'with a body that is not there',
      [one('again', again, { ownBody: true })],
      ['missing ("body", 12293): is not there; the record of the job names it'],
      ['different ("block", 3): counts 1 documents that no job needs'],
    ),
    tell(
      'without the body that is there',
      [one('dead', dead, { ownBody: undefined })],
      ['unreferenced ("body", 12291): of no job'],
      ['different ("block", 3): is needed by 1 jobs more than it counts'],
    ),
    tell(
      'of a number that was not given',
      [[jobKey(4096 * 5), { ...jobs.done, id: `x.${(4096 * 5).toString(36)}`, document: 'z' }]],
      [
        'different ("job", 20480): its record says ("done", 20480, "f"), and it is not listed so',
        'different ("job", 20480): the head has not given that number yet',
      ],
    ),
    tell(
      'beside a lease',
      [
        [jobKey(active), { ...jobs.again, ...lease.job, state: 'queued' }],
        [
          runKey('f', user, active),
          encodeRun({ hashes: Uint32Array.of(hashOf('d4')), again: true }),
        ],
      ],
      [
        'different ("counts", "f"): counts 4 queued; there are 5',
        'duplicate ("lease", 12292): the job has a record beside its lease',
        'missing ("output", 12292, 0): is not there; the record of the job names it',
      ],
      ['different ("block", 3): is needed by 1 jobs more than it counts'],
    ),
  ]
})

test('places of jobs', (tell, { jobs, counts }) => {
  const more = (name: 'queued' | 'delayed' | 'dead', by = 1): One => [
    countsKey('f'),
    { ...counts, [name]: counts[name] + by },
  ]
  return [
    tell(
      'not delayed',
      [[delayedKey('f', dueAt, delayed), undefined], more('delayed', -1)],
      [
        'different ("job", 12289): its record says ("delayed", 12289, "f", 1767225600750), and it is not listed so',
      ],
    ),
    tell(
      'delayed twice',
      [[delayedKey('f', dueAt + 1, delayed), nothing], more('delayed')],
      [
        'different ("job", 12289): is listed as delayed; its record does not say so: ("delayed", 12289, "f", 1767225600751)',
      ],
    ),
    tell(
      'delayed in another flow',
      [[delayedKey('g', dueAt, delayed), nothing]],
      [
        'different ("counts", "g"): counts 0 delayed; there are 1',
        'different ("job", 12289): is listed as delayed; its record does not say so: ("delayed", 12289, "g", 1767225600750)',
      ],
    ),
    tell(
      'delayed in no flow',
      [[delayedKey('h', dueAt, delayed), nothing]],
      [
        'different ("job", 12289): is listed as delayed; its record does not say so: ("delayed", 12289, "h", 1767225600750)',
        `unreferenced ("delayed", "h", 1767225600750, 12289): there is no flow 'h'`,
      ],
    ),
    tell(
      'not dead',
      [[deadKey('f', dead), undefined], more('dead', -1)],
      ['different ("job", 12291): its record says ("dead", 12291, "f"), and it is not listed so'],
    ),
    tell(
      'dead, and not so',
      [[deadKey('f', delayed), nothing], more('dead')],
      [
        'different ("job", 12289): is listed as dead; its record does not say so: ("dead", 12289, "f")',
      ],
    ),
    tell(
      'dead in no flow',
      [[deadKey('h', dead), nothing]],
      [
        'different ("job", 12291): is listed as dead; its record does not say so: ("dead", 12291, "h")',
        `unreferenced ("dead", "h", 12291): there is no flow 'h'`,
      ],
    ),
    tell(
      'dead in another flow',
      [[deadKey('g', dead), nothing]],
      [
        'different ("counts", "g"): counts 0 dead; there are 1',
        'different ("job", 12291): is listed as dead; its record does not say so: ("dead", 12291, "g")',
      ],
    ),
    tell(
      'not done',
      [[doneKey('f', 2), undefined]],
      [
        'different ("done", "f", 3): the place behind the last is 2',
        'different ("job", 12288): its record says ("done", 12288, "f"), and it is not listed so',
      ],
    ),
    tell(
      'the last is not done',
      [
        [doneKey('f', 3), undefined],
        [countsKey('f'), { ...counts, done: 3 }],
      ],
      ['different ("job", 12290): its record says ("done", 12290, "f"), and it is not listed so'],
    ),
    tell(
      'done twice',
      [
        [doneKey('f', 4), { numbers: [done] }],
        [countsKey('f'), { ...counts, done: 5 }],
      ],
      [
        'different ("job", 12288): is listed as done; its record does not say so: ("done", 12288, "f")',
      ],
    ),
    tell(
      'done three times',
      [
        [doneKey('f', 4), { numbers: [done, done] }],
        [countsKey('f'), { ...counts, done: 6 }],
      ],
      [
        'different ("job", 12288): is listed as done 2 times; its record does not say so: ("done", 12288, "f")',
      ],
    ),
    tell(
      'done and delayed',
      [
        [doneKey('f', 4), { numbers: [delayed] }],
        [countsKey('f'), { ...counts, done: 5 }],
      ],
      [
        'different ("job", 12289): is listed as done; its record does not say so: ("done", 12289, "f")',
      ],
    ),
    tell('done without a record', [
      [doneKey('f', 4), { numbers: [4097, 4098] }],
      [countsKey('f'), { ...counts, done: 6 }],
    ]),
    tell(
      'done in no flow',
      [[doneKey('h', 0), { numbers: [done] }]],
      [
        'different ("job", 12288): is listed as done; its record does not say so: ("done", 12288, "h")',
        `unreferenced ("done", "h", 0): there is no flow 'h'`,
      ],
    ),
    tell(
      'done in another place',
      [
        [doneKey('f', 3), undefined],
        [doneKey('f', 9), { numbers: [done2] }],
      ],
      [
        'different ("counts", "f"): counts 4 done; the list ends at 10',
        'different ("done", "f", 9): the place behind the last is 3',
      ],
    ),
    ...[{ numbers: {} }, { numbers: [] }, { numbers: [-1] }, { numbers: ['5'] }].map((record) =>
      tell(
        JSON.stringify(record),
        [[doneKey('f', 4), record]],
        ['damaged ("done", "f", 4): it does not list jobs'],
      ),
    ),
    tell('done, of a pruned past', [
      [doneKey('f', 0), undefined],
      [jobKey(old), undefined],
      [countsKey('f'), { ...counts, pruned: 1 }],
    ]),
    tell(
      'failed, of no job',
      [[documentKey(user, 'z', 5), nothing]],
      ['unreferenced ("document", "u", "z", 5): no such job has failed'],
    ),
    tell(
      'failed, and not listed',
      [[documentKey(user, 'd1', delayed), undefined]],
      ['missing ("document", "u", "d1", 12289): is not there; the job has failed'],
    ),
    tell(
      'an output of no job',
      [[outputKey(5, 0), serialize(1)]],
      ['unreferenced ("output", 5, 0): of no job'],
    ),
    tell(
      'an output of a step to come',
      [[outputKey(delayed, 1), serialize(1)]],
      ['unreferenced ("output", 12289, 1): of no job'],
    ),
    tell(
      'no output',
      [[outputKey(delayed, 0), undefined]],
      ['missing ("output", 12289, 0): is not there; the record of the job names it'],
    ),
    tell(
      'no output of an active job',
      [[outputKey(active, 0), undefined]],
      ['missing ("output", 12292, 0): is not there; the record of the job names it'],
    ),
    tell(
      'an output that is none',
      [[outputKey(active, 0), Buffer.from('x')]],
      [],
      [
        'damaged ("output", 12292, 0): Unable to deserialize cloned data due to invalid or unsupported version.',
      ],
    ),
    tell('a body of no job', [[bodyKey(5), nothing]], ['unreferenced ("body", 5): of no job']),
    tell(
      'no body',
      [[bodyKey(dead), undefined]],
      ['missing ("body", 12291): is not there; the record of the job names it'],
    ),
    tell(
      'a body that is none',
      [[bodyKey(dead), Buffer.from('x')]],
      [],
      ['damaged ("body", 12291): stored data is damaged: a block of documents is damaged'],
    ),
    tell(
      'a record of another flow and its place',
      [
        [jobKey(dead), { ...jobs.dead, flow: 'g' }],
        [deadKey('f', dead), undefined],
        [deadKey('g', dead), nothing],
        [countsKey('g'), { ...counts, queued: 0, delayed: 0, active: 0, done: 0, pruned: 0 }],
        more('dead', -1),
      ],
      [],
      [
        `different ("job", 12291): is 'd3' of 'u' for 'g'; what is stored for it is 'd3' of 'u' for 'f'`,
      ],
    ),
  ]
})

test('leases', (tell, { lease, lease2, counts }) => {
  const key = leaseKey(active)
  const none = `damaged ("lease", ${active}): it is not a lease`
  return [
    ...[
      { token: 5 },
      { beat: null },
      { leaseMs: -1 },
      { job: null },
      { job: { ...lease.job, id: 5 } },
    ].map((fields) =>
      tell(
        JSON.stringify(fields).slice(0, 40),
        [[key, { ...lease, ...fields }]],
        [
          none,
          `different ("counts", "f"): counts 2 active; there are 1`,
          `unreferenced ("output", ${active}, 0): of no job`,
        ],
        ['different ("block", 3): counts 1 documents that no job needs'],
      ),
    ),
    tell(
      'no lease',
      [[key, undefined]],
      [
        'different ("counts", "f"): counts 2 active; there are 1',
        'unreferenced ("output", 12292, 0): of no job',
      ],
      ['different ("block", 3): counts 1 documents that no job needs'],
    ),
    tell(
      'of a job that is queued',
      [[key, { ...lease, job: { ...lease.job, state: 'queued' } }]],
      ['different ("lease", 12292): its job is queued'],
    ),
    tell(
      'of a job that is done',
      [[key, { ...lease, job: { ...lease.job, state: 'done' } }]],
      ['different ("lease", 12292): its job is done'],
    ),
    tell(
      'of the token of another',
      [[key, { ...lease, token: lease2.token }]],
      ['duplicate ("lease", 12294): another lease has its token'],
    ),
    tell(
      'of no flow',
      [[key, { ...lease, job: { ...lease.job, flow: 'h' } }]],
      [
        'different ("counts", "f"): counts 2 active; there are 1',
        `unreferenced ("lease", 12292): there is no flow 'h'`,
      ],
      [
        `different ("lease", 12292): is 'd4' of 'u' for 'h'; what is stored for it is 'd4' of 'u' for 'f'`,
      ],
    ),
    tell(
      'of another number',
      [[key, { ...lease, job: { ...lease.job, id: lease2.job.id } }]],
      [`different ("lease", 12292): its id 'id7.9hi' is of another number`],
    ),
    tell(
      'of another document',
      [[key, { ...lease, job: { ...lease.job, document: 'd6' } }]],
      [],
      [
        `different ("lease", 12292): is 'd6' of 'u' for 'f'; what is stored for it is 'd4' of 'u' for 'f'`,
      ],
    ),
    tell(
      'with a time to wait for',
      [[key, { ...lease, job: { ...lease.job, dueAt: 5 } }]],
      ['different ("lease", 12292): is active, and due at 5'],
    ),
    tell(
      'one too many',
      [
        [
          leaseKey(queued),
          {
            ...lease2,
            token: 'other',
            job: {
              ...lease2.job,
              id: lease2.job.id.replace(/[^.]*$/, queued.toString(36)),
              document: 'd7',
            },
          },
        ],
        [countsKey('f'), { ...counts, active: 3 }],
      ],
      [],
      ['different ("block", 3): is needed by 1 jobs more than it counts'],
    ),
  ]
})

test('runs', async (tell, { storage, counts }) => {
  const run = await runOf(storage, queued)
  const ofAgain = await runOf(storage, again)
  const key = runKey('f', user, queued)
  const hashes = (...names: string[]) =>
    encodeRun({ hashes: Uint32Array.from(names, hashOf), again: false })
  const more = (by: number): One => [countsKey('f'), { ...counts, queued: counts.queued + by }]
  const none = `damaged ("run", "f", "u", ${queued}): it is not a run of queued jobs`
  const less = [`different ("counts", "f"): counts 4 queued; there are 2`]
  const unneeded = ['different ("block", 3): counts 2 documents that no job needs']
  return [
    ...[
      new Uint8Array(0),
      new Uint8Array(1),
      new Uint8Array(4),
      Uint8Array.of(2, 0, 0, 0, 0),
      Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0),
      new Uint8Array(1 + 4 * 4096),
    ].map((value) =>
      tell(
        `a run of ${value.length} bytes, ${value[0]}`,
        [[key, value]],
        [none, ...less],
        unneeded,
      ),
    ),
    tell(
      'no run',
      [[key, undefined]],
      ['different ("counts", "f"): counts 4 queued; there are 2'],
      ['different ("block", 3): counts 2 documents that no job needs'],
    ),
    tell(
      'of other documents',
      [[key, hashes('d8', 'd7')]],
      [],
      [
        'different ("run", "f", "u", 12295): the job 12295 is not that document of its block',
        'different ("run", "f", "u", 12295): the job 12296 is not that document of its block',
      ],
    ),
    tell(
      'of too few',
      [[key, hashes('d7')], more(-1)],
      [],
      ['different ("block", 3): counts 1 documents that no job needs'],
    ),
    tell(
      'of too many',
      [[key, hashes('d7', 'd8', 'd9')], more(1)],
      [],
      [
        'different ("block", 3): is needed by 1 jobs more than it counts',
        'different ("run", "f", "u", 12295): the job 12297 is not that document of its block',
      ],
    ),
    tell(
      'of another user',
      [
        [key, undefined],
        [runKey('f', 'v', queued), run],
      ],
      [],
      [
        'different ("run", "f", "v", 12295): the job 12295 is not that document of its block',
        'different ("run", "f", "v", 12295): the job 12296 is not that document of its block',
      ],
    ),
    tell(
      'of another flow',
      [
        [key, undefined],
        [runKey('g', user, queued), run],
      ],
      [
        'different ("counts", "f"): counts 4 queued; there are 2',
        'different ("counts", "g"): counts 0 queued; there are 2',
      ],
      [
        'different ("run", "g", "u", 12295): the job 12295 is not that document of its block',
        'different ("run", "g", "u", 12295): the job 12296 is not that document of its block',
      ],
    ),
    tell(
      'of no flow',
      [
        [key, undefined],
        [runKey('h', user, queued), run],
      ],
      [
        'different ("counts", "f"): counts 4 queued; there are 2',
        `unreferenced ("run", "h", "u", 12295): there is no flow 'h'`,
      ],
      [
        'different ("run", "h", "u", 12295): the job 12295 is not that document of its block',
        'different ("run", "h", "u", 12295): the job 12296 is not that document of its block',
      ],
    ),
    tell(
      'of jobs of the run before',
      [[runKey('f', user, queued2), hashes('d8')], more(1)],
      ['duplicate ("run", "f", "u", 12296): the run before it has the job 12296, too'],
      ['different ("block", 3): is needed by 1 jobs more than it counts'],
    ),
    tell('of jobs behind the run before', [
      [key, hashes('d7')],
      [runKey('f', user, queued2), hashes('d8')],
    ]),
    tell(
      'of the same jobs of another user',
      [[runKey('f', 'v', queued2), hashes('d8')], more(1)],
      [],
      [
        'different ("block", 3): is needed by 1 jobs more than it counts',
        'different ("run", "f", "v", 12296): the job 12296 is not that document of its block',
      ],
    ),
    tell(
      'no place of a job that was claimed',
      [[runKey('f', user, again), undefined], more(-1)],
      [
        'different ("job", 12293): its record says ("queued", 12293, "f", "u", 385579135), and it is not listed so',
      ],
    ),
    tell(
      'another hash of a job that was claimed',
      [[runKey('f', user, again), flipped(ofAgain, 2)]],
      [
        'different ("job", 12293): is listed as queued; its record does not say so: ("queued", 12293, "f", "u", 385513599)',
        'different ("job", 12293): its record says ("queued", 12293, "f", "u", 385579135), and it is not listed so',
      ],
    ),
    tell(
      'once more, of a job without a record',
      [[key, encodeRun({ hashes: Uint32Array.of(hashOf('d7')), again: true })], more(-1)],
      [
        'different ("job", 12295): is listed as queued; its record does not say so: ("queued", 12295, "f", "u", 4176812371)',
      ],
      ['different ("block", 3): counts 2 documents that no job needs'],
    ),
    tell(
      'of a claimed job, as never claimed',
      [[runKey('f', user, again), hashes('d5')]],
      [
        'different ("job", 12293): its record says ("queued", 12293, "f", "u", 385579135), and it is not listed so',
      ],
      ['different ("block", 3): is needed by 1 jobs more than it counts'],
    ),
    tell(
      'of a delayed job',
      [
        [
          runKey('f', user, delayed),
          encodeRun({ hashes: Uint32Array.of(hashOf('d1')), again: true }),
        ],
        more(1),
      ],
      [
        'different ("job", 12289): is listed as queued; its record does not say so: ("queued", 12289, "f", "u", 295091302)',
      ],
    ),
    tell(
      'without the block',
      [[blockKey(4), undefined]],
      ['missing ("block", 4): jobs need documents of it'],
    ),
  ]
})

test('blocks', (tell, { block, body, jobs, head }) => {
  const left = (record: object | undefined): One => [leftKey(3), record]
  return [
    tell(
      'no block',
      [[blockKey(3), undefined]],
      [
        'missing ("block", 3): jobs need documents of it',
        'unreferenced ("left", 3): there is no such block',
      ],
    ),
    tell(
      'a block of nobody',
      [[blockKey(2), block]],
      ['unreferenced ("block", 2): no job needs it'],
    ),
    tell(
      'a block that was not given',
      [[blockKey(5), block]],
      [
        'different ("block", 5): the head has not given that number yet',
        'unreferenced ("block", 5): no job needs it',
      ],
    ),
    tell(
      'a block that is none',
      [[blockKey(3), Buffer.from('x')]],
      [],
      ['damaged ("block", 3): stored data is damaged: a block of documents is damaged'],
    ),
    tell(
      'no count',
      [left(undefined)],
      [],
      ['different ("block", 3): counts 3 documents that no job needs'],
    ),
    tell(
      'another count',
      [left({ left: 7 })],
      [],
      ['different ("block", 3): counts 1 documents that no job needs'],
    ),
    tell(
      'one less',
      [left({ left: 5 })],
      [],
      ['different ("block", 3): is needed by 1 jobs more than it counts'],
    ),
    tell(
      'a count of no block',
      [[leftKey(2), { left: 1 }]],
      ['unreferenced ("left", 2): there is no such block'],
      ['different ("block", 2): counts 1 documents that no job needs'],
    ),
    tell('a count of a whole block', [[leftKey(4), { left: 1 }]]),
    ...[{ left: 0 }, { left: -1 }, { left: '5' }, {}].map((record) =>
      tell(
        JSON.stringify(record),
        [left(record)],
        ['damaged ("left", 3): it does not say how many are left'],
        ['different ("block", 3): is needed by 6 jobs more than it counts'],
      ),
    ),
    tell(
      'a text that is none',
      [[blockKey(3), withText(block, 0xff)]],
      [],
      ['damaged ("block", 3): the document in place 8 is none'],
    ),
    tell(
      'a body whose text is none',
      [[bodyKey(dead), withText(body, 0xff)]],
      [],
      ['damaged ("body", 12291): stored data is damaged: it holds no document'],
    ),
    tell(
      'other documents',
      [[blockKey(3), renamed(block, '"d5"', '"d6"')]],
      [],
      [
        `different ("job", 12293): is 'd5' of 'u' for 'f'; what is stored for it is 'd6' of 'u' for 'f'`,
      ],
    ),
    tell(
      'documents of another user',
      [[blockKey(3), renamed(block, '"user":"u"', '"user":"v"')]],
      [],
      [
        `different ("job", 12289): is 'd1' of 'u' for 'f'; what is stored for it is 'd1' of 'v' for 'f'`,
        `different ("job", 12293): is 'd5' of 'u' for 'f'; what is stored for it is 'd5' of 'v' for 'f'`,
        `different ("lease", 12292): is 'd4' of 'u' for 'f'; what is stored for it is 'd4' of 'v' for 'f'`,
        `different ("lease", 12294): is 'd6' of 'u' for 'f'; what is stored for it is 'd6' of 'v' for 'f'`,
        'different ("run", "f", "u", 12295): the job 12295 is not that document of its block',
        'different ("run", "f", "u", 12295): the job 12296 is not that document of its block',
      ],
    ),
    tell(
      'another body',
      [[bodyKey(dead), renamed(body, '"d3"', '"d4"')]],
      [],
      [
        `different ("job", 12291): is 'd3' of 'u' for 'f'; what is stored for it is 'd4' of 'u' for 'f'`,
      ],
    ),
    tell(
      'a document without a collection',
      [[blockKey(3), renamed(block, '"d8","default"', '"d8",123456789')]],
      [],
      ['damaged ("block", 3): the document in place 8 is none'],
    ),
    tell(
      'a body without a collection',
      [[bodyKey(dead), renamed(body, '"default"', '123456789')]],
      [],
      ['damaged ("body", 12291): stored data is damaged: it holds no document'],
    ),
    tell(
      'a block that no job needs any more',
      [
        [jobKey(later), { ...jobs.done, id: `x.${later.toString(36)}`, document: 'd0' }],
        [headKey(), head],
      ],
      [
        'different ("job", 16384): is done, and not known as the newest load of its document',
        'different ("job", 16384): its record says ("done", 16384, "f"), and it is not listed so',
      ],
    ),
  ]
})

t.test('what was posted, and not taken in', async (t) => {
  const { queues, storages } = await crowd(t)
  const storage = storages[0]!
  await queues[0]!.load('f', documentOf('a', user))
  await queues[0]!.load('f', documentOf('b', user))
  const head = await recordIn<HeadRecord>(storage, headKey())
  const gate = await recordIn<GateRecord>(storage, gateKey())
  const [inbox, block] = await inboxIn(storage)
  const record = await recordIn<InboxRecord>(storage, inboxKey(inbox))
  const [first, second] = [postKey(inbox, 1), postKey(inbox, 2)]
  const post = await recordIn<PostRecord>(storage, first)
  const runs = post.runs.map(([, ...run]) => ['nowhere', ...run])
  const tell = (of: string, key: Uint8Array, value: object | undefined, ...found: string[]) => {
    return { of, changes: [[storage, key, value] as const], found }
  }
  const of = `("inbox", ${inbox})`
  const wrongGate = 'different ("gate"): the head says otherwise whether loads are posted'
  const labels = new Map([[record.gate, 'GATE']])
  const verify = (report: Report) => verifyFlows(storage, report)
  await expectFound(t, verify, labels, [
    tell('a gate that is gone', gateKey(), undefined, wrongGate),
    tell('a gate that is another', gateKey(), { ...gate, token: 'x' }, wrongGate),
    tell(
      'an inbox of another gate',
      inboxKey(inbox),
      { ...record, gate: 'x' },
      `different ${of}: the head knows of no such posts`,
    ),
    tell(
      'an inbox that is none',
      inboxKey(inbox),
      { ...record, jobs: 'x' },
      `damaged ${of}: it is not an inbox`,
      `different ("post", ${inbox}, 1): its inbox has no such post`,
      `different ("post", ${inbox}, 2): its inbox has no such post`,
      `different ("block", ${block}): the head has not given that number yet`,
      `different ("block", ${block - 16}): the head has not given that number yet`,
    ),
    tell(
      'an inbox with more',
      inboxKey(inbox),
      { ...record, posts: 3, jobs: 4 },
      `different ${of}: has 3 posts with 4 jobs that are not taken in; there are 2 with 2`,
    ),
    tell(
      'a post that is none',
      first,
      { runs: [] },
      `damaged ("post", ${inbox}, 1): it does not list jobs`,
      `different ${of}: has 2 posts with 2 jobs that are not taken in; there are 1 with 1`,
      `unreferenced ("block", ${block - 16}): no job needs it`,
    ),
    tell(
      'a post that is gone',
      second,
      undefined,
      `different ${of}: has 2 posts with 2 jobs that are not taken in; there are 1 with 1`,
      `unreferenced ("block", ${block}): no job needs it`,
    ),
    tell(
      'a block that is gone',
      blockKey(block),
      undefined,
      `missing ("block", ${block}): jobs need documents of it`,
    ),
    {
      ...tell(
        'a post for no flow',
        first,
        { runs },
        `unreferenced ("post", ${inbox}, 1): there is no flow 'nowhere'`,
      ),
      deep: [
        `different ("post", ${inbox}, 1): the job ${(block - 16) * 4096} is not that document of its block`,
      ],
    },
    tell(
      'a head without its gate',
      headKey(),
      { ...head, gate: { token: 'x' } },
      'damaged ("head"): it is not a head',
      `different ("post", ${inbox}, 1): its inbox has no such post`,
      `different ("post", ${inbox}, 2): its inbox has no such post`,
    ),
  ])
})

/** The one that has something, and the last block that was posted to it. */
async function inboxIn(storage: Storage): Promise<[inbox: number, block: number]> {
  for (let inbox = 0; inbox < inboxes; inbox++) {
    const value = await storage.get(inboxKey(inbox))
    if (value !== undefined) return [inbox, decodeRecord<InboxRecord>(value).block]
  }
  throw new Error('nothing was posted')
}

/** The last byte is of a text. */
function withText(bytes: Uint8Array, byte: number): Uint8Array {
  const changed = new Uint8Array(bytes)
  changed[changed.length - 1] = byte
  return changed
}

/** With words of the same length in the place of others. */
function renamed(bytes: Uint8Array, from: string, to: string): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1')
  if (from.length !== to.length || !text.includes(from)) throw new Error(`no ${from} in ${text}`)
  return new Uint8Array(Buffer.from(text.replace(from, to), 'latin1'))
}
