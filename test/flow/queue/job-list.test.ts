// Pages of jobs while jobs come, run, fail, are tried again and go, against each job asked for by its id.

import t from 'tap'
import { numberIn } from '../../../src/flow/queue/block.js'
import { Listings, searchOf } from '../../../src/flow/listings.js'
import { lookSizes as usualSizes } from '../../../src/flow/queue/job-search.js'
import type { JobQueue } from '../../../src/flow/queue/queue.js'
import type { Job, JobQuery, JobState } from '../../../src/flow/types.js'
import { Cursors } from '../../../src/paging.js'
import type { Storage } from '../../../src/storage.js'
import { MemoryBackend } from '../../../adapters/memory.js'
import { altered } from '../../fixtures/altered-storage.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { VirtualClock } from '../virtual-clock.js'
import { chanceOf, documentOf, failureOf, flowOf, jobsOf, openQueue, steps } from './queues.js'

const seed = pickSeed()
const cursors = new Cursors(() => 'secret')
const flows = ['f', 'g']
const users = ['alice', 'bob', 'cyd']
const collections = ['default', 'other']
const errors = ['The model is away', 'no such KEY', 'on purpose']
const states: readonly JobState[] = ['active', 'delayed', 'queued', 'dead', 'done']

/** Everything that happens to jobs, in two processes that share a queue. */
class History {
  readonly #random: Random
  readonly #queues: readonly JobQueue[]
  readonly #clock: VirtualClock
  readonly #held: { readonly queue: JobQueue; readonly job: Claimed }[] = []
  readonly ids = new Set<string>()

  constructor(random: Random, queues: readonly JobQueue[], clock: VirtualClock) {
    this.#random = random
    this.#queues = queues
    this.#clock = clock
  }

  get queue(): JobQueue {
    return this.#random.pick(this.#queues)
  }

  async act(): Promise<void> {
    const random = this.#random
    const kind = random.below(10)
    if (kind < 3) return this.#load()
    if (kind < 5) return this.#claim()
    if (kind < 8) return this.#end()
    if (kind === 8) return this.#clock.advance(random.below(2000))
    return this.#change()
  }

  async #load(): Promise<void> {
    const random = this.#random
    const loads = Array.from({ length: 1 + random.below(6) }, () => {
      const document = documentOf(`d${random.below(8)}`, random.pick(users))
      const collection = random.pick(collections)
      return this.queue.load(random.pick(flows), { ...document, collection })
    })
    for (const id of await Promise.all(loads)) this.ids.add(id)
  }

  async #claim(): Promise<void> {
    const { queue } = this
    await queue.refresh()
    const { jobs } = await queue.claim(this.#random.pick(flows), 1 + this.#random.below(4))
    this.#held.push(...jobs.map((job) => ({ queue, job })))
  }

  async #end(): Promise<void> {
    const random = this.#random
    const [held] = this.#held.splice(random.below(this.#held.length || 1), 1)
    if (held === undefined) return
    const { queue, job } = held
    const failure = { ...failureOf(job), message: random.pick(errors) }
    const how = random.below(4)
    const ended =
      how === 0
        ? queue.complete(job, steps)
        : how === 1
          ? queue.release(job, failure)
          : queue.fail(job, failure, { mayRetry: how === 2 })
    // It may have been cancelled.
    await ended.catch(assertLost)
  }

  async #change(): Promise<void> {
    const id = this.#random.pick([...this.ids, ''])
    const changed = this.#random.chance(0.6) ? this.queue.retry(id) : this.queue.cancel(id)
    await changed.catch(assertLost)
  }

  /** What there is, by the ids of all that ever came, in the order in which it came. */
  async jobs(query: JobQuery): Promise<Job[]> {
    const found: Job[] = []
    for (const id of this.ids) {
      const job = await this.#queues[0]!.job(id, 'fresh')
      if (job !== undefined && fits(job, query)) found.push(job)
    }
    found.sort((a, b) => numberIn(a.id)! - numberIn(b.id)!)
    return query.order === 'desc' ? found.reverse() : found
  }
}

type Claimed = Awaited<ReturnType<JobQueue['claim']>>['jobs'][number]

function assertLost(error: unknown): void {
  const { code } = error as { readonly code?: string }
  if (!['LK_LEASE_LOST', 'LK_JOB_NOT_FOUND', 'LK_JOB_STATE'].includes(code ?? '')) throw error
}

function fits(job: Job, { flow, state, user, document, collection, error, ...query }: JobQuery) {
  const { createdFrom, createdTo, updatedFrom, updatedTo, scope = {} } = query
  const failure = job.failures.at(-1)
  const text = `${failure?.message ?? ''}`.toLowerCase()
  return (
    (flow ?? job.flow) === job.flow &&
    (state === undefined || [state].flat().includes(job.state)) &&
    (user ?? job.user) === job.user &&
    (document ?? job.document) === job.document &&
    (collection ?? job.collection) === job.collection &&
    (error === undefined || (failure !== undefined && text.includes(error.toLowerCase()))) &&
    (createdFrom === undefined || job.createdAt >= createdFrom) &&
    (createdTo === undefined || job.createdAt < createdTo) &&
    (updatedFrom === undefined || job.updatedAt >= updatedFrom) &&
    (updatedTo === undefined || job.updatedAt < updatedTo) &&
    (scope.user ?? job.user) === job.user &&
    (scope.collections?.includes(job.collection) ?? true)
  )
}

function queryFrom(random: Random, clock: VirtualClock): JobQuery {
  const some = <T>(probability: number, value: () => T) =>
    random.chance(probability) ? value() : undefined
  const time = () => new Date(clock.now() - random.below(5000)).toISOString()
  const query = {
    order: some(0.5, () => 'desc' as const),
    flow: some(0.6, () => random.pick(flows)),
    state: some(0.6, () => random.shuffle(states).slice(0, 1 + random.below(3))),
    user: some(0.3, () => random.pick(users)),
    document: some(0.2, () => `d${random.below(8)}`),
    collection: some(0.2, () => random.pick(collections)),
    error: some(0.2, () => random.pick(['MODEL', 'key', 'p'])),
    createdFrom: some(0.1, time),
    updatedTo: some(0.1, time),
    scope: some(0.4, () => ({
      ...(random.chance(0.5) && { user: random.pick(users) }),
      ...(random.chance(0.5) && { collections: [random.pick(collections)] }),
    })),
  }
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

const sizes = [
  usualSizes,
  { entries: 512, blocks: 8, bytes: 1000, sorted: 0 },
  { entries: 3, blocks: 2, bytes: 1000, sorted: 0 },
  { entries: 2, blocks: 3, bytes: 1, sorted: 4 },
]

async function opened(random: Random) {
  const memory = new SharedMemory()
  const clock = new VirtualClock()
  const lookSizes = random.pick(sizes)
  const queues: JobQueue[] = []
  for (let n = 0; n < 2; n++) {
    const storage = await memory.backend().open('flows')
    const chance = chanceOf(random.fork())
    queues.push(await openQueue(storage, { clock, chance, lookSizes }))
  }
  for (const id of flows) await queues[0]!.define(flowOf(id, { maxDelayMs: 4000 }))
  const listings = queues.map((queue) => new Listings({ queue, cursors, reads: 'fresh' }))
  return { history: new History(random, queues, clock), listings, clock, queues }
}

t.test(`all of a list is what the jobs are, one by one (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let run = 0; run < 12; run++) {
    const { history, listings, clock, queues } = await opened(random)
    for (let n = 0; n < 40; n++) await history.act()
    for (let n = 0; n < 12; n++) {
      const query = queryFrom(random, clock)
      const wanted = await history.jobs(query)
      const found: Job[] = []
      for await (const job of random.pick(listings).jobs(query)) found.push(job)
      t.strictSame(found, wanted, JSON.stringify(query))
      const { total } = await random.pick(listings).jobPage({ ...query, limit: 1 })
      if (total !== undefined) t.equal(total, wanted.length, 'the total')
    }
    for (const queue of queues) await queue.drained()
  }
})

t.test(`pages of what changes have once what was there all the time (seed ${seed})`, async (t) => {
  const random = new Random(seed + 1)
  let pages = 0
  for (let run = 0; run < 30; run++) {
    const { history, listings, clock, queues } = await opened(random)
    for (let n = 0; n < 40; n++) await history.act()
    const query = queryFrom(random, clock)
    const limit = 1 + random.below(5)
    const seen = new Set<string>()
    let always: Set<string> | undefined
    let after: string | undefined
    let changes = 60
    do {
      const there = await history.jobs(query)
      const ids = new Set(there.map(({ id }) => id))
      always = always === undefined ? ids : new Set([...always].filter((id) => ids.has(id)))
      const asked = { ...query, limit, ...(after !== undefined && { after }) }
      const page = await random.pick(listings).jobPage(asked)
      t.ok(page.jobs.length <= limit, 'no more than asked for')
      for (const job of page.jobs) {
        if (seen.has(job.id)) t.fail(`${job.id} comes twice: ${JSON.stringify(query)}`)
        seen.add(job.id)
        const same = there.find(({ id }) => id === job.id)
        t.strictSame(job, same, 'as it is then')
      }
      after = page.next
      pages++
      // Else a list that grows faster than it is read would never end.
      if (after !== undefined && changes > 0) {
        for (let n = random.below(6); n > 0; n--, changes--) await history.act()
      }
    } while (after !== undefined)
    const missed = [...always].filter((id) => !seen.has(id))
    t.strictSame(missed, [], JSON.stringify(query))
    for (const queue of queues) await queue.drained()
  }
  t.comment(`${pages} pages`)
})

t.test(
  'of large documents that wait no more are read in one go than their sizes allow',
  async (t) => {
    const storage = await new MemoryBackend().open('flows')
    const loading = await openQueue(storage)
    await loading.define(flowOf('g'))
    const ids: string[] = []
    for (let n = 0; n < 6; n++) {
      const document = documentOf(`d${n}`, `user ${n % 3}`, 'x'.repeat(1000))
      ids.push(await loading.load(n % 2 === 0 ? 'f' : 'g', document))
    }
    for (const order of ['asc', 'desc'] as const) {
      let bytes = 0
      const get: Storage['get'] = async (key) => {
        const value = await storage.get(key)
        bytes += value?.length ?? 0
        return value
      }
      const lookSizes = { ...usualSizes, bytes: 1500 }
      const queue = await openQueue(altered(storage, { get }), { lookSizes })
      const search = searchOf({ state: 'queued' }, order === 'desc')
      bytes = 0
      const { found, next } = await queue.lookForJobs(search, undefined, 100)
      const wanted = order === 'desc' ? ids.toReversed() : ids
      t.strictSame(
        found.map(({ job }) => job.id),
        wanted.slice(0, 2),
      )
      t.equal(next, numberIn(wanted[1]!))
      t.ok(bytes < 3000, `${bytes} bytes`)
      const jobs = await jobsOf(queue, { state: 'queued', order })
      t.strictSame(
        jobs.map(({ id }) => id),
        wanted,
      )
    }
  },
)
