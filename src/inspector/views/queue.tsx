// Jobs as they go through flows, live.

import { useEffect, useState } from 'preact/hooks'
import type { Job, JobFilter, JobState } from '../../flow/types.js'
import { useAsked, useSettled } from '../asking.js'
import type { ViewProps } from '../later.js'
import { useLive, type Live } from '../live.js'
import { Choice, Field, Heading } from '../parts/controls.js'
import { agoText } from '../parts/figures.js'
import { passFocus } from '../parts/focus.js'
import { List } from '../parts/list.js'
import { usePages } from '../parts/paging.js'
import { Answered } from '../parts/states.js'
import { hashOf, refine } from '../place.js'
import { useSession } from '../session.js'
import { texts } from '../texts.js'
import { AllThatMatch } from './queue/all-that-match.js'
import { FlowTile } from './queue/flow-tile.js'
import { SingleJob } from './queue/single-job.js'
import { states } from './queue/states.js'

export default function Queue({ place }: ViewProps) {
  return place.subject === undefined ? (
    <Jobs query={place.query} />
  ) : (
    <SingleJob key={place.subject} id={place.subject} />
  )
}

/** So many flows are followed at once: each asks for its counts as often as the list is read. */
const mostTiles = 12

function Jobs({ query }: { readonly query: ViewProps['place']['query'] }) {
  const { keep, seesAll } = useSession()
  const { flow = '', state = '', document = '' } = query
  const user = useSettled(query['user'] ?? '')
  const error = useSettled(query['error'] ?? '')
  const live = useLive()
  const [tiles, setTiles] = useState(mostTiles)
  const filter: JobFilter = {
    ...(flow && { flow }),
    ...(state && { state: state as JobState }),
    ...(user && { user }),
    ...(document && { document }),
    ...(error && { error }),
  }
  const pages = usePages(
    async (after, limit) => {
      const page = { limit, order: 'desc' as const, ...(after && { after }) }
      const { jobs, next, total } = await keep.flows.jobPage({ ...filter, ...page })
      return { items: jobs, next, total }
    },
    [flow, state, user, document, error],
  )
  const flows = useAsked(() => keep.flows.list(), [])
  useEffect(() => {
    if (live.turn === 0) return
    pages.again()
    flows.again()
  }, [live.turn])
  const set = (name: string) => (value: string) =>
    refine(hashOf('queue', undefined, { ...query, [name]: value }))
  return (
    <>
      <Heading title={texts.views.queue} lead={texts.queue.lead}>
        <LiveBadge live={live} />
      </Heading>
      <Answered asked={flows}>
        {(known) => (
          <>
            {seesAll && (
              <div class="tiles">
                {known
                  .filter(({ id }) => flow === '' || id === flow)
                  .slice(0, tiles)
                  .map((flow) => (
                    <FlowTile key={flow.id} flow={flow} live={live} onChanged={flows.again} />
                  ))}
              </div>
            )}
            {seesAll && flow === '' && known.length > tiles && (
              <button
                type="button"
                class="small"
                onClick={() => {
                  setTiles(tiles + mostTiles)
                  // It goes with the last of them.
                  if (tiles + mostTiles >= known.length) passFocus()
                }}
              >
                {texts.queue.moreFlows(known.length - tiles)}
              </button>
            )}
            <div class="filters close">
              <Choice
                label={texts.queue.flow}
                value={flow}
                options={[['', texts.queue.allFlows], ...known.map(({ id }) => [id, id] as const)]}
                onChange={set('flow')}
              />
              <Choice
                label={texts.queue.state}
                value={state}
                options={[
                  ['', texts.queue.allStates],
                  ...states.map((state) => [state, texts.queue.states[state]] as const),
                ]}
                onChange={set('state')}
              />
              {seesAll && (
                <Field label={texts.queue.user} value={query['user'] ?? ''} onInput={set('user')} />
              )}
              <Field label={texts.queue.document} value={document} onInput={set('document')} />
              <Field
                label={texts.queue.error}
                value={query['error'] ?? ''}
                placeholder={texts.queue.errorHint}
                onInput={set('error')}
              />
            </div>
          </>
        )}
      </Answered>
      <AllThatMatch filter={filter} onDone={live.lookAgain} />
      <List
        name={texts.views.queue}
        pages={pages}
        empty={{ title: texts.queue.none, hint: texts.queue.noneHint }}
        head={
          <>
            <th>{texts.queue.document}</th>
            <th>{texts.queue.state}</th>
            <th>{texts.queue.user}</th>
            <th>{texts.queue.flow}</th>
            <th class="number">{texts.queue.attempts}</th>
            <th>{texts.queue.changed}</th>
            <th>{texts.queue.error}</th>
          </>
        }
        row={(job) => <JobRow key={job.id} job={job} />}
      />
    </>
  )
}

function LiveBadge({ live: { status } }: { readonly live: Live }) {
  return (
    <p class={`live ${status}`} role="status">
      {texts.queue[status]}
    </p>
  )
}

function JobRow({ job }: { readonly job: Job }) {
  const last = job.failures.at(-1)?.message
  return (
    <tr>
      <th class="free" dir="auto">
        <a href={hashOf('queue', job.id)}>{job.document}</a>
      </th>
      <td>
        <span class={`state ${job.state}`}>{texts.queue.states[job.state]}</span>
      </td>
      <td class="free">{job.user}</td>
      <td class="free">{job.flow}</td>
      <td class="number">{job.attempts}</td>
      <td title={job.updatedAt}>{agoText(job.updatedAt)}</td>
      <td class="cut" title={last}>
        {last}
      </td>
    </tr>
  )
}
