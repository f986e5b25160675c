// Our queue, with one flow whose step does nothing.

import { setTimeout as sleep } from 'node:timers/promises'
import { LevelBackend } from '../adapters/level/index.js'
import type { FlowQueue } from '../src/flow/types.js'
import { createLorekeep, type Lorekeep } from '../src/index.js'
import { check, inDirectory, seconds } from './measure.js'

export const flow = 'default'

/** What the flow's step has seen: it counts, and does nothing else. */
export interface Counted {
  runs: number
}

export function openOurs(directory: string): Promise<Lorekeep> {
  return createLorekeep({ backend: new LevelBackend(directory) })
}

export async function defineFlow(flows: FlowQueue, concurrency: number): Promise<Counted> {
  const counted: Counted = { runs: 0 }
  const run = () => {
    counted.runs++
  }
  await flows.define({ id: flow, steps: [{ name: 'nothing', run }], concurrency })
  return counted
}

/** A new queue with the flow defined, closed and deleted afterwards. */
export function withOurs<T>(
  concurrency: number,
  work: (flows: FlowQueue, counted: Counted) => Promise<T>,
): Promise<T> {
  return inDirectory(async (directory) => {
    await using keep = await openOurs(directory)
    return await work(keep.flows, await defineFlow(keep.flows, concurrency))
  })
}

/** The seconds from run() until so many more documents are done. The runner is stopped then. */
export async function processOurs(
  flows: FlowQueue,
  counted: Counted,
  count: number,
): Promise<number> {
  const runs = counted.runs + count
  const done = (await flows.stats(flow)).done + count
  let stop = () => Promise.resolve()
  const time = await seconds(async () => {
    const runner = flows.run()
    stop = () => runner.stop()
    // Completions are what counts: a run of the step may not be on record yet.
    while (counted.runs < runs || (await flows.stats(flow)).done < done) await sleep(1)
  })
  await stop()
  return time
}

/** Reads every job back: each document once, and waiting. */
export async function checkQueued(flows: FlowQueue, ids: ReadonlySet<string>): Promise<void> {
  const found = new Set<string>()
  for await (const job of flows.jobs({ flow })) {
    check(job.state === 'queued' && ids.has(job.document), `a job: ${JSON.stringify(job)}`)
    found.add(job.document)
  }
  check(found.size === ids.size, `the jobs read back: ${found.size} of ${ids.size}`)
}
