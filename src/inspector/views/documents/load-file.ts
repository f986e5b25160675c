// A file on its way to be a document, followed to its end.

import { bytesText } from '../../parts/figures.js'
import type { Session } from '../../session.js'
import { texts } from '../../texts.js'
import type { TransferOptions } from '../../transfer-list.js'

interface Destination {
  readonly document: string
  readonly flow: string
  readonly collection: string
  /** Whether it is to take the place of what is there; otherwise somebody is asked. */
  readonly isReplaced: boolean
}

type LoadOptions = Pick<TransferOptions, 'signal' | 'onStep' | 'ask'>

/** Aborted, its job is cancelled. @throws Error with what made it a dead letter */
export async function loadFile(
  session: Session,
  file: File,
  { document, flow, collection, isReplaced }: Destination,
  { signal, onStep, ask }: LoadOptions,
): Promise<string> {
  const { keep, user } = session
  if (!isReplaced && (await isThere(session, document))) {
    await ask(texts.documents.isThere(document), [['replace', texts.documents.replaceIt]])
  }
  signal.throwIfAborted()
  onStep({ text: texts.documents.sending(bytesText(file.size)) })
  const named = { id: document, name: file.name, user, collection, bytes: file }
  const type = file.type === '' ? {} : { type: file.type }
  const late = lateSignal(signal)
  const { job } = await keep.flows.load(flow, { ...named, ...type }, { signal: late })
  return outcomeOf(session, { id: document, job }, { signal, onStep })
}

async function isThere({ keep, user, who }: Session, document: string): Promise<boolean> {
  // Lists, as browsers tell of what is not there as of an error.
  const { jobs } = await keep.flows.jobPage({ user, document, limit: 1 })
  if (jobs.length > 0) return true
  if (!who.stores.includes('knowledge')) return false
  const { cores } = await keep.knowledge.corePage({ user, prefix: document, limit: 1 })
  return cores[0]?.id === document
}

/** Whose answer is on its way may have a job already, which that alone names. */
const answerMs = 2000

/** Gives an answer a while to come. */
function lateSignal(signal: AbortSignal): AbortSignal {
  const late = new AbortController()
  const leave = () => setTimeout(() => late.abort(signal.reason), answerMs)
  signal.addEventListener('abort', leave, { once: true })
  return late.signal
}

/** So long it is waited between two looks at a job while the tab is hidden. */
const lookMs = 2000

async function outcomeOf(
  { keep, user }: Session,
  { id, job }: { readonly id: string; readonly job: string },
  { signal, onStep }: Pick<TransferOptions, 'signal' | 'onStep'>,
): Promise<string> {
  onStep({ text: texts.queue.states.queued })
  while (!signal.aborted) {
    // Six streams are all that a browser has for a server over HTTP/1.1: a hidden tab holds none. It looks on, as
    // files behind this one wait for its end.
    if (document.hidden) await pause(lookMs, signal)
    else await followSteps(keep, job, { signal, onStep })
    if (signal.aborted) break
    const found = await keep.flows.job(job)
    if (found === undefined) {
      // Records of jobs that are done go when there are many.
      const { documents } = await keep.flows.documentPage({ user, prefix: id, limit: 1 })
      if (documents[0]?.completed.job === job) return texts.documents.ready
      throw new Error(texts.documents.cancelled)
    }
    if (found.state === 'dead') throw new Error(found.failures.at(-1)?.message)
    if (found.state === 'done') return texts.documents.ready
  }
  await keep.flows.cancel(job)
  throw signal.reason
}

/** Until it has ended, or the tab is hidden. */
async function followSteps(
  keep: Session['keep'],
  job: string,
  { signal, onStep }: Pick<TransferOptions, 'signal' | 'onStep'>,
): Promise<void> {
  const hidden = new AbortController()
  const follow = () => document.hidden && hidden.abort()
  document.addEventListener('visibilitychange', follow)
  try {
    const either = AbortSignal.any([signal, hidden.signal])
    for await (const event of keep.flows.watch({ job, signal: either })) {
      if (event.type === 'active') onStep({ text: texts.queue.states.active })
      if (event.type === 'progress') {
        const { step, done, total } = event
        onStep({ text: texts.documents.step(step, done, total), done, total })
      }
      // Asked for, it would not be there, and browsers tell of that as of an error.
      if (event.type === 'cancelled') throw new Error(texts.documents.cancelled)
    }
  } finally {
    document.removeEventListener('visibilitychange', follow)
  }
}

/** @returns sooner where it is aborted */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
