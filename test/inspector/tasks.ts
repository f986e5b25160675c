// What the thread of a page did, task by task, as Chromium traces it.

import type { Browser, Page } from 'playwright-core'
import { parseJson } from '../../src/json-text.js'

export interface Task {
  /** By the clock. */
  readonly ms: number
  /** Time of the processor: what others do on the machine is not in it. */
  readonly processorMs: number
}

/** Those that began while `work` went on. */
export async function tasksDuring(
  browser: Browser,
  page: Page,
  work: () => Promise<unknown>,
): Promise<readonly Task[]> {
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] })
  await work()
  const trace = parseJson((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[]
  }
  const threads = trace.traceEvents.filter(({ args }) => args?.name === 'CrRendererMain')
  return (
    trace.traceEvents
      .filter(
        ({ name, pid, tid }) =>
          name === 'RunTask' && threads.some((thread) => thread.pid === pid && thread.tid === tid),
      )
      // The clock of a thread jumps where processors are lent: no task takes more of one than it lasts.
      .map(({ dur = 0, tdur = 0 }) => ({ ms: dur / 1000, processorMs: Math.min(dur, tdur) / 1000 }))
  )
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** In µs, as `tdur`, which is of the processor. */
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}
