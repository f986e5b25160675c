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
  return outcomeOf(session, job, { signal, onStep })
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

async function outcomeOf(
  { keep }: Session,
  job: string,
  { signal, onStep }: Pick<TransferOptions, 'signal' | 'onStep'>,
): Promise<string> {
  onStep({ text: texts.queue.states.queued })
  for await (const event of keep.flows.watch({ job, signal })) {
    if (event.type === 'dead') throw new Error(event.failure.message)
    if (event.type === 'active') onStep({ text: texts.queue.states.active })
    if (event.type === 'progress') {
      const { step, done, total } = event
      onStep({ text: texts.documents.step(step, done, total), done, total })
    }
    if (event.type === 'cancelled') throw new Error(texts.documents.cancelled)
  }
  if (signal.aborted) {
    await keep.flows.cancel(job)
    signal.throwIfAborted()
  }
  return texts.documents.ready
}
