// What one of several processes over a shared backend does in `shared`.

import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { FlowQueue, Lorekeep } from '../src/index.js'
import { createDocument, inFlight } from './flows-data.js'
import { check } from './measure.js'
import { createProduct, schema } from './objects-data.js'
import { data } from './retrieval-data.js'

export const flow = 'default'
export const users = 8
/** Documents that wait before `run` begins: more than can be done while it is looked at. */
const waiting = 200_000
/** And texts. */
const waitingTexts = 6000
const textBytes = 512
export const textCount = 600

export interface Task {
  readonly keep: Lorekeep
  /** Which of how many processes this is. */
  readonly place: number
  readonly processes: number
  readonly count: Count
}

/** What is begun and done while it is looked at, and how long what took longest. */
export interface Count {
  readonly isOver: boolean
  done(operations: number, since: number): void
}

export interface Work {
  /** What four processes are to do, of what one does. What has none is there to show a limit: nothing is asked of it. */
  readonly least?: number
  /** Of all the processes the first prepares what they share. */
  readonly prepare?: (keep: Lorekeep) => Promise<unknown>
  /** What is there before they begin, put there by another process: each round gets a copy. */
  readonly fill?: (keep: Lorekeep) => Promise<unknown>
  /** They share the server, and no database in it: what there is to gain. Each prepares its own. */
  readonly isApart?: true
  /** Nothing is warmed, and it ends when all is done; one process on LevelDB does it, too. */
  readonly isToEnd?: true
  /** Cannot be done where the texts are not here. */
  readonly needsTexts?: true
  run(task: Task): Promise<unknown>
}

/** In batches of 20, 8 under way. */
const importWork = (least: number, collectionOf: (place: number) => string): Work => ({
  least,
  prepare: ({ objects }) => objects.defineSchema(schema),
  run: async ({ keep: { objects }, place, count }) => {
    let next = 0
    await inFlight(untilOver(count), 8, async () => {
      const since = performance.now()
      const from = place * 1e9 + 20 * next++
      const { user, collection } = { user: 'bench', collection: collectionOf(place) }
      await objects.import({
        metadata: { id: `batch ${from}`, user, collection },
        schema_name: schema.name,
        values: Array.from({ length: 20 }, (_, n) => ({ ...createProduct(from + n) })),
      })
      count.done(20, since)
    })
  },
})

const loadWork: Work = {
  prepare: ({ flows }) => flows.define({ id: flow, steps: [{ name: 'nothing', run: () => {} }] }),
  run: async ({ keep: { flows }, place, count }) => {
    let next = place * 1e7
    await inFlight(untilOver(count), 50, async () => {
      const since = performance.now()
      await flows.load(flow, createDocument(next++, { textBytes, users }))
      count.done(1, since)
    })
  },
}

// What is counted is the beginning of a step that does nothing; the gap since the one before is the wait.
const runWork: Work = {
  fill: async ({ flows }) => {
    await flows.define({ id: flow, steps: [{ name: 'nothing', run: () => {} }] })
    const numbers = Array.from({ length: waiting }, (_, n) => n)
    await inFlight(numbers, 500, (n) => flows.load(flow, createDocument(n, { textBytes, users })))
  },
  run: async ({ keep: { flows }, count }) => {
    let last = performance.now()
    const run = () => {
      count.done(1, last)
      last = performance.now()
    }
    await flows.define({ id: flow, steps: [{ name: 'nothing', run }], concurrency: 50 })
    await untilStopped(flows, flow, count)
  },
}

async function untilStopped(flows: FlowQueue, id: string, count: Count): Promise<void> {
  const runner = flows.run()
  while (!count.isOver) await wait(20)
  await runner.stop()
  const { queued, dead } = await flows.stats(id)
  check(dead === 0, 'dead letters')
  check(queued > 0, 'documents were left')
}

export const works: Readonly<Record<string, Work>> = {
  'imports, own collections': importWork(1.3, (place) => `products ${place}`),
  'imports, one collection': importWork(0.9, () => 'products'),
  load: { ...loadWork, least: 1.3 },
  'load, apart': { ...loadWork, isApart: true },
  run: { ...runWork, least: 1.3 },
  'run, apart': { ...runWork, isApart: true },
  // The same with the steps of the default flow, which compute.
  'run, extracting': {
    needsTexts: true,
    fill: ({ flows }) => {
      const numbers = Array.from({ length: waitingTexts }, (_, n) => n)
      const all = texts()
      return inFlight(numbers, 100, (n) =>
        flows.load('default', {
          user: `user-${n % users}`,
          id: `urn:text:${n}`,
          content: all[n % all.length]!,
        }),
      )
    },
    run: async ({ keep: { flows }, count }) => {
      let last = performance.now()
      const { steps } = (await flows.get('default'))!
      const counted = () => {
        count.done(1, last)
        last = performance.now()
      }
      await flows.define({
        id: 'default',
        // Another process may have put its own in the flow before this one looks.
        steps: [
          ...steps.filter(({ name }) => name !== 'counted'),
          { name: 'counted', run: counted },
        ],
      })
      await untilStopped(flows, 'default', count)
    },
  },
  // To the end of all documents, each process loads its part.
  texts: {
    isToEnd: true,
    needsTexts: true,
    run: async ({ keep: { flows }, place, processes, count }) => {
      const runner = flows.run()
      const since = performance.now()
      const all = texts().slice(0, textCount)
      const own = [...all.entries()].filter(([n]) => n % processes === place)
      await inFlight(own, 16, ([n, content]) =>
        flows.load(flow, { user: `user-${n % users}`, id: `urn:text:${n}`, content }),
      )
      for (let done = 0; done < textCount; await wait(20)) {
        const stats = await flows.stats(flow)
        check(stats.dead === 0, 'dead letters')
        ;({ done } = stats)
      }
      count.done(own.length, since)
      await runner.stop()
    },
  },
}

export const hasTexts = existsSync(data.passages)

function texts(): string[] {
  const byTitle = JSON.parse(readFileSync(data.passages, 'utf8')) as Record<string, string[]>
  return Object.values(byTitle).map((sentences) => sentences.join(''))
}

function* untilOver(count: Count): Generator<undefined> {
  while (!count.isOver) yield undefined
}
