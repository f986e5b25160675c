import { setTimeout as wait } from 'node:timers/promises'
import type { Job } from '../../flow/types.js'
import { cut } from '../bounds.js'
import { count, needed, text } from '../fields.js'
import { foundJob, type UserStores } from '../stores.js'
import { aCount, aText, tool } from '../tool.js'

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
  async run({ job: id, wait_seconds: seconds = 0 }, { stores, signal }) {
    const found = plainJob(await ended(stores, id, seconds * 1000, signal))
    return () => ({ text: textOfJob(found), object: found })
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

function textOfJob({ job, document, state, attempts, failure }: ReturnType<typeof plainJob>) {
  const why = failure === undefined ? '' : `; the last failure: ${JSON.stringify(failure)}`
  const times = attempts > 1 ? ` after ${attempts} attempts` : ''
  return `job ${job}, document ${document}: ${state}${times}${why}`
}

/** The job when it has come to an end, or as it is then. @throws LorekeepError `LK_JOB_NOT_FOUND` */
async function ended(
  stores: UserStores,
  id: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<Job> {
  const end = performance.now() + waitMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const found = foundJob(await stores.job(id), id)
    const left = end - performance.now()
    if (found.state === 'done' || found.state === 'dead' || left <= 0) return found
    await wait(Math.min(pauseMs, left), undefined, { signal })
  }
}
