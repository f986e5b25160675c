// A store on virtual time, whose flows have steps that a test moves on.

import { MemoryBackend } from '../../adapters/memory.js'
import type { Job, JobEvent, JobState, Step, WatchQuery } from '../../src/flow/types.js'
import { createLorekeep, type Lorekeep, type LorekeepOptions } from '../../src/lorekeep.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { VirtualClock } from './virtual-clock.js'

export interface Running {
  readonly keep: Lorekeep
  readonly flows: Lorekeep['flows']
  readonly clock: VirtualClock
  readonly backend: KeptBackend
  readonly errors: unknown[]
}

interface Test {
  teardown(fn: () => Promise<void>): unknown
}

let tokens = 0

/** The jitter of every wait is `fraction`. */
export async function running(
  t: Test,
  { fraction = 0, ...options }: Partial<LorekeepOptions> & { readonly fraction?: number } = {},
): Promise<Running> {
  const clock = options.clock instanceof VirtualClock ? options.clock : new VirtualClock()
  const backend = (options.backend as KeptBackend) ?? new KeptBackend(new MemoryBackend())
  const errors: unknown[] = []
  const keep = await createLorekeep({
    chance: { fraction: () => fraction, token: () => `token${++tokens}` },
    onError: (error) => errors.push(error),
    leaseMs: 30_000,
    ...options,
    backend,
    clock,
  })
  t.teardown(async () => {
    const closing = keep.close()
    // Steps that stand still are given up by then.
    await clock.advance(20_000)
    await closing
  })
  return { keep, flows: keep.flows, clock, backend, errors }
}

/** A step that notes each of its runs, and does what it is told. */
export class Notes {
  readonly runs: string[] = []
  readonly #acts = new Map<string, Step['run']>()

  /** What a step does instead of handing its name on. */
  on(step: string, act: Step['run']): this {
    this.#acts.set(step, act)
    return this
  }

  steps(...names: string[]): Step[] {
    return names.map((name) => ({
      name,
      run: (input, context) => {
        this.runs.push(`${context.document.id} ${name}`)
        const act = this.#acts.get(name)
        return act === undefined ? name : act(input, context)
      },
    }))
  }
}

export const never = () => new Promise<never>(() => {})

export async function listed(flows: Lorekeep['flows'], state?: JobState): Promise<Job[]> {
  const jobs: Job[] = []
  for await (const job of flows.jobs({ flow: 'f', ...(state && { state }) })) jobs.push(job)
  return jobs
}

/** Events as they come. */
export function watched(flows: Lorekeep['flows'], query?: WatchQuery) {
  const events: JobEvent[] = []
  const ended = (async () => {
    for await (const event of flows.watch(query)) events.push(event)
  })()
  return { events, ended }
}
