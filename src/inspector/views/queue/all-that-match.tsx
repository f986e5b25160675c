// What can be done to all jobs that a filter leaves, however many there are.

import { useState } from 'preact/hooks'
import type { JobFilter, JobState } from '../../../flow/types.js'
import { useAsked } from '../../asking.js'
import { Confirm } from '../../parts/confirm.js'
import { useSession } from '../../session.js'
import { texts } from '../../texts.js'

interface AllThatMatchProps {
  readonly filter: JobFilter
  readonly onDone: () => void
}

type Change = 'retry' | 'cancel'

/** What was wanted when it was asked for: the filter may be another one before that is confirmed. */
interface Wanted {
  readonly change: Change
  readonly filter: JobFilter
}

/** Of these alone it changes something. */
const changed: Readonly<Record<Change, readonly JobState[]>> = {
  retry: ['dead', 'delayed'],
  cancel: ['queued', 'active', 'delayed', 'dead'],
}

export function AllThatMatch({ filter, onDone }: AllThatMatchProps) {
  const { keep, mayChange } = useSession()
  const [wanted, setWanted] = useState<Wanted>()
  const [told, setTold] = useState('')
  if (!mayChange) return null
  const act = async ({ change, filter }: Wanted) => {
    if (change === 'retry') {
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
      {(['retry', 'cancel'] as const).map((change) => (
        <button
          key={change}
          type="button"
          class="small"
          onClick={() => setWanted({ change, filter })}
        >
          {texts.queue[`${change}All`]}
        </button>
      ))}
      <p role="status" class="quiet">
        {told}
      </p>
      {wanted !== undefined && (
        <Confirm
          title={texts.queue[`${wanted.change}AllTitle`]}
          text={texts.queue[`${wanted.change}AllText`]}
          button={texts.queue[`${wanted.change}All`]}
          act={() => act(wanted)}
          onClose={() => setWanted(undefined)}
        >
          <Which {...wanted} />
        </Confirm>
      )}
    </div>
  )
}

/** Which jobs that are, and how many just now, where the server has counted them. */
function Which({ change, filter }: Wanted) {
  const { keep, who } = useSession()
  const total = useAsked(async () => {
    const state = changed[change].filter(
      (one) => filter.state === undefined || filter.state === one,
    )
    if (state.length === 0) return 0
    return (await keep.flows.jobPage({ ...filter, state, limit: 1 })).total
  }, [change, filter])
  const conditions = (['flow', 'state', 'user', 'document', 'error'] as const).flatMap((name) =>
    filter[name] === undefined ? [] : [[name, String(filter[name])] as const],
  )
  const isOfAll = who.user === '*' && filter.user === undefined
  return (
    <>
      {conditions.length > 0 && (
        <dl class="facts-of">
          {conditions.map(([name, value]) => [
            <dt key={`${name}:`}>{texts.queue[name]}</dt>,
            <dd key={name} class="free" dir="auto">
              {value}
            </dd>,
          ])}
        </dl>
      )}
      <p>
        <strong>
          {conditions.length === 0
            ? texts.queue.everyJob[isOfAll ? 'everybody' : 'yours']
            : isOfAll && texts.queue.everybody}
        </strong>
      </p>
      {total.value !== undefined && <p role="status">{texts.queue.fitting(total.value)}</p>}
    </>
  )
}
