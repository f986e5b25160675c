// A file on its way to be a document, followed to its end.

import { bytesText } from '../../parts/figures.js'
import type { Session } from '../../session.js'
import { texts } from '../../texts.js'
import type { TransferOptions } from '../../transfers.js'

interface Destination {
  readonly document: string
  readonly flow: string
  readonly collection: string
}

/** Aborted, its job is cancelled. @throws Error with what made it a dead letter */
export async function loadFile(
  session: Session,
  file: File,
  { document, flow, collection }: Destination,
  { signal, onStep }: Pick<TransferOptions, 'signal' | 'onStep'>,
): Promise<string> {
  const { keep, user } = session
  onStep({ text: texts.documents.sending(bytesText(file.size)) })
  const bytes = new Uint8Array(await file.arrayBuffer())
  const named = { id: document, name: file.name, user, collection, bytes }
  const type = file.type === '' ? {} : { type: file.type }
  const { job } = await keep.flows.load(flow, { ...named, ...type }, { signal })
  return outcomeOf(session, job, { signal, onStep })
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
