import { setTimeout as wait } from 'node:timers/promises'
import type { Job } from '../../flow/types.js'
import { cut, single } from '../bounds.js'
import { count, needed, text } from '../fields.js'
import { jsonLine, onOneLine } from '../passages.js'
import { foundJob } from '../stores.js'
import { aCount, aText, tool, type Asker } from '../tool.js'

const longestMessage = 400
const [firstPauseMs, longestPauseMs] = [50, 1000]

export const job = tool({
  name: 'job',
  description:
    'How far the processing of a loaded text is: done means it can be asked; dead means it failed, and why. May wait for the end.',
  fields: { job: needed(text(256)), wait_seconds: count(0, 60, 0) },
  output: {
    job: aText,
    document: aText,
    state: { enum: ['queued', 'delayed', 'active', 'done', 'dead'] },
    attempts: aCount,
    failure: { type: 'object' },
  },
  always: ['job', 'document', 'state', 'attempts'],
  waits: true,
  async run({ job: id, wait_seconds: seconds = 0 }, asker) {
    const found = plainJob(await ended(id, seconds * 1000, asker))
    return single(found, (job) => textOfJob(job as PlainJob))
  },
})

export function plainJob({ id, document, state, attempts, failures, updatedAt }: Job) {
  const { step, code, message } = failures.at(-1) ?? {}
  return {
    job: id,
    document: cut(document, longestMessage),
    state,
    attempts,
    updatedAt,
    ...(message !== undefined && {
      failure: {
        ...(step !== undefined && { step }),
        ...(code !== undefined && { code }),
        message: cut(message, longestMessage),
      },
    }),
  }
}

type PlainJob = ReturnType<typeof plainJob>

function textOfJob({ job, document, state, attempts, failure }: PlainJob) {
  const why = failure === undefined ? '' : `; the last failure: ${jsonLine(failure)}`
  const times = attempts > 1 ? ` after ${attempts} attempts` : ''
  return `job ${job}, document ${onOneLine(document)}: ${state}${times}${why}`
}

/** The job when it has come to an end, or as it is then. @throws LorekeepError `LK_JOB_NOT_FOUND` */
async function ended(id: string, waitMs: number, { stores, signal, tell }: Asker): Promise<Job> {
  const begin = performance.now()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const found = foundJob(await stores.job(id), id)
    const waitedMs = performance.now() - begin
    const leftMs = waitMs - waitedMs
    if (found.state === 'done' || found.state === 'dead' || leftMs <= 0) return found
    tell({ progress: waitedMs / 1000, total: waitMs / 1000, message: stageOf(found) })
    await wait(Math.min(pauseMs, leftMs), undefined, { signal })
  }
}

function stageOf({ state, completedSteps }: Job): string {
  return completedSteps.length === 0 ? state : `${state}, done: ${completedSteps.join(', ')}`
}
