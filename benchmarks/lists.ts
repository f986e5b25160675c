// What a page of 100 costs at the beginning of a list and at its end: 100,000 jobs that wait, of one user and of
// 10,000; 10,000 that are done; 10,000 cores and documents. A page must not cost more because it is deep.

import { LevelBackend } from '../adapters/level/index.js'
import { createLorekeep, type Lorekeep } from '../src/index.js'
import type { JobQuery } from '../src/flow/types.js'
import type { Page, PageOptions } from '../src/paging.js'
import { defineFlow, flow, processOurs } from './flows-store.js'
import * as bench from './measure.js'

const rounds = 15
const limit = 100
const cores = 10_000
const jobs = 100_000

await bench.inDirectory(async (directory) => {
  await using keep = await createLorekeep({
    backend: new LevelBackend(directory),
    limits: { maxTextBytes: 1000 },
    indexThreads: 0,
  })
  const { knowledge, flows } = keep
  await inGroups(cores, (n) => knowledge.write({ user: 'user-0', id: `urn:core:${n}` }, []))
  const counted = await defineFlow(flows, 200)
  await load(keep, cores, 1)
  await processOurs(flows, counted, cores)
  await measure(`${cores} cores`, (page) => knowledge.corePage({ user: 'user-0', ...page }))
  await measure(`${cores} documents`, (page) => flows.documentPage({ user: 'user-0', ...page }))
  await ofJobs(keep, `${cores} done jobs`, {})
  await load(keep, jobs, 1)
  await ofJobs(keep, `${jobs} queued jobs of one user`, { state: 'queued' })
  await ofJobs(keep, `the same, by their user`, { user: 'user-0', state: 'queued' })
  await load(keep, jobs, 10_000)
  // The first half is still of one user.
  await ofJobs(keep, `${2 * jobs} queued jobs of 10,000 users`, { state: 'queued' }, 0.55)
})

async function ofJobs({ flows }: Lorekeep, what: string, query: JobQuery, from = 0): Promise<void> {
  await measure(what, (page) => flows.jobPage({ ...query, ...page }), from)
}

async function measure(
  what: string,
  ask: (page: PageOptions) => Promise<Page>,
  from = 0,
): Promise<void> {
  // The cursor of a page near the end.
  let after: string | undefined
  let pages = 0
  const cursors: string[] = []
  do {
    const { next } = await ask({ limit: 1000, ...(after !== undefined && { after }) })
    if (next !== undefined) cursors.push(next)
    after = next
    pages++
  } while (after !== undefined)
  const deep = cursors[Math.floor(cursors.length * 0.95)]!
  const first = cursors[Math.floor(cursors.length * from)]!
  const contestants = {
    deep: () => bench.seconds(() => ask({ limit, after: deep })),
    first: () => bench.seconds(() => ask({ limit, after: first })),
  }
  const times = await bench.interleave(rounds, contestants)
  const names = {
    scenario: `a page of ${limit}, of ${what}, near the end`,
    peer: 'near the beginning',
  }
  const operations = { count: 1, unit: 'pages/s' }
  bench.report(
    bench.compareOperations(names, operations, times.deep, times.first, { least: 1 / 1.5 }),
  )
  bench.check(pages > 5, what)
}

async function load({ flows }: Lorekeep, count: number, users: number): Promise<void> {
  await inGroups(count, (n) =>
    flows.load(flow, { id: `urn:${n}`, content: `text ${n}`, user: `user-${n % users}` }),
  )
}

async function inGroups(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, n) => work(first + n)))
  }
}
