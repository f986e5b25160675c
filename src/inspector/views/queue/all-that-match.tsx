// What can be done to all jobs that a filter leaves, however many there are.

import { useState } from 'preact/hooks'
import type { JobFilter } from '../../../flow/types.js'
import { Confirm } from '../../parts/confirm.js'
import { useSession } from '../../session.js'
import { texts } from '../../texts.js'

interface AllThatMatchProps {
  readonly filter: JobFilter
  readonly onDone: () => void
}

type Change = 'retry' | 'cancel'

export function AllThatMatch({ filter, onDone }: AllThatMatchProps) {
  const { keep, mayChange } = useSession()
  const [asked, setAsked] = useState<Change>()
  const [told, setTold] = useState('')
  if (!mayChange) return null
  const act = async () => {
    if (asked === 'retry') {
      const { retried } = await keep.flows.retryAll(filter)
      setTold(texts.queue.retried(retried))
    } else {
      const { cancelled } = await keep.flows.cancelAll(filter)
      setTold(texts.queue.cancelled(cancelled))
    }
    onDone()
  }
  return (
    <div class="all">
      <button type="button" class="small" onClick={() => setAsked('retry')}>
        {texts.queue.retryAll}
      </button>
      <button type="button" class="small" onClick={() => setAsked('cancel')}>
        {texts.queue.cancelAll}
      </button>
      <p role="status" class="quiet">
        {told}
      </p>
      {asked !== undefined && (
        <Confirm
          title={asked === 'retry' ? texts.queue.retryAllTitle : texts.queue.cancelAllTitle}
          text={asked === 'retry' ? texts.queue.retryAllText : texts.queue.cancelAllText}
          button={asked === 'retry' ? texts.queue.retryAll : texts.queue.cancelAll}
          act={act}
          onClose={() => setAsked(undefined)}
        />
      )}
    </div>
  )
}
