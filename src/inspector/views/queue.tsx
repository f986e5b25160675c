// Jobs as they go through flows, live.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Flow, FlowStats, Job, JobState } from '../../flow/types.js'
import { useAsked, useDoing, useSettled } from '../asking.js'
import type { ViewProps } from '../later.js'
import { Confirm } from '../parts/confirm.js'
import { Choice, Field, Heading } from '../parts/controls.js'
import { agoText } from '../parts/figures.js'
import { usePages } from '../parts/paging.js'
import { Answered, Empty, Failure } from '../parts/states.js'
import { go, hashOf, refine } from '../place.js'
import { useSession } from '../session.js'
import { texts } from '../texts.js'
import { useLive, type Live } from '../live.js'

const states: readonly JobState[] = ['queued', 'active', 'delayed', 'dead', 'done']

/** Lists and counts are read anew so often at the most, while things happen. */
const readAgainMs = 1000

export default function Queue({ place }: ViewProps) {
  return place.subject === undefined ? (
    <List query={place.query} />
  ) : (
    <Single key={place.subject} id={place.subject} />
  )
}

function List({ query }: { readonly query: ViewProps['place']['query'] }) {
  const { keep, seesAll } = useSession()
  const { flow = '', state = '', document = '' } = query
  const user = useSettled(query['user'] ?? '')
  const error = useSettled(query['error'] ?? '')
  const live = useLive(readAgainMs)
  const pages = usePages(
    async (after, limit) => {
      const asked = {
        limit,
        order: 'desc' as const,
        ...(after && { after }),
        ...(flow && { flow }),
        ...(state && { state: state as JobState }),
        ...(user && { user }),
        ...(document && { document }),
        ...(error && { error }),
      }
      const { jobs, next, total } = await keep.flows.jobPage(asked)
      return { items: jobs, next, total }
    },
    [flow, state, user, document, error],
  )
  const flows = useAsked(() => keep.flows.list(), [])
  useEffect(() => {
    if (live.turn > 0) pages.again()
  }, [live.turn])
  const set = (name: string) => (value: string) =>
    refine(hashOf('queue', undefined, { ...query, [name]: value }))
  return (
    <>
      <Heading title={texts.views.queue} lead={texts.queue.lead}>
        <LiveBadge live={live} />
      </Heading>
      <Answered asked={flows}>
        {(flows) => (
          <>
            {seesAll && (
              <div class="tiles">
                {flows.map((flow) => (
                  <FlowTile key={flow.id} flow={flow} live={live} onChanged={flowsChanged} />
                ))}
              </div>
            )}
            <div class="filters">
              <Choice
                label={texts.queue.flow}
                value={flow}
                options={[['', texts.queue.allFlows], ...flows.map(({ id }) => [id, id] as const)]}
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
      <Answered asked={pages}>
        {(jobs) =>
          jobs.length === 0 ? (
            <Empty title={texts.queue.none} hint={texts.queue.noneHint} />
          ) : (
            <Jobs jobs={jobs} />
          )
        }
      </Answered>
      {pages.more !== undefined && (
        <button type="button" onClick={pages.more}>
          {texts.more}
        </button>
      )}
    </>
  )

  function flowsChanged() {
    flows.again()
  }
}

function LiveBadge({ live: { status } }: { readonly live: Live }) {
  return (
    <p class={`live ${status}`} role="status">
      {texts.queue[status]}
    </p>
  )
}

function Jobs({ jobs }: { readonly jobs: readonly Job[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={texts.views.queue}>
      <table>
        <thead>
          <tr>
            <th>{texts.queue.document}</th>
            <th>{texts.queue.state}</th>
            <th>{texts.queue.user}</th>
            <th>{texts.queue.flow}</th>
            <th class="number">{texts.queue.attempts}</th>
            <th>{texts.queue.changed}</th>
            <th>{texts.queue.error}</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
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
              <td class="cut" title={job.failures.at(-1)?.message}>
                {job.failures.at(-1)?.message}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface FlowTileProps {
  readonly flow: Flow
  readonly live: Live
  readonly onChanged: () => void
}

/** Counts of a flow, and how many were done of late. */
function FlowTile({ flow, live, onChanged }: FlowTileProps) {
  const { keep, mayChange } = useSession()
  const stats = useAsked(() => keep.flows.stats(flow.id), [flow.id, live.turn])
  const { isBusy, error, start } = useDoing()
  return (
    <section class="card tile" aria-label={flow.id}>
      <div class="line">
        <h2 class="free">{flow.id}</h2>
        {!flow.active && <span class="badge">{texts.queue.stopped}</span>}
        {mayChange && (
          <button
            type="button"
            class="small"
            disabled={isBusy}
            onClick={() =>
              start(async () => {
                await (flow.active ? keep.flows.stop(flow.id) : keep.flows.start(flow.id))
                onChanged()
              })
            }
          >
            {flow.active ? texts.queue.stop : texts.queue.start}
          </button>
        )}
      </div>
      {error !== undefined && <Failure error={error} />}
      {stats.value !== undefined && <Counts stats={stats.value} flow={flow.id} />}
      {stats.value !== undefined && <Throughput done={stats.value.done} />}
    </section>
  )
}

function Counts({ stats, flow }: { readonly stats: FlowStats; readonly flow: string }) {
  return (
    <dl class="counts">
      {states.map((state) => (
        <div key={state}>
          <dt>{texts.queue.states[state]}</dt>
          <dd>
            <a href={hashOf('queue', undefined, { flow, state })}>{texts.count(stats[state])}</a>
          </dd>
        </div>
      ))}
    </dl>
  )
}

const chartSeconds = 60

/** What was done in each of the last seconds, as it was seen from here. */
function Throughput({ done }: { readonly done: number }) {
  const before = useRef(done)
  const latest = useRef(done)
  latest.current = done
  const [rates, setRates] = useState<readonly number[]>([])
  useEffect(() => {
    const timer = setInterval(() => {
      const rate = Math.max(0, latest.current - before.current)
      before.current = latest.current
      setRates((rates) => [...rates, rate].slice(-chartSeconds))
    }, 1000)
    return () => clearInterval(timer)
  }, [])
  const most = Math.max(1, ...rates)
  const sum = rates.reduce((sum, rate) => sum + rate, 0)
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${chartSeconds} 20`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${texts.queue.throughput}: ${texts.count(sum)}`}
      >
        {rates.map((rate, at) => {
          const height = (rate / most) * 20
          const x = chartSeconds - rates.length + at
          return <rect key={x} x={x} y={20 - height} width={0.8} height={height} />
        })}
      </svg>
      <figcaption class="quiet">{texts.queue.throughput}</figcaption>
    </figure>
  )
}

function Single({ id }: { readonly id: string }) {
  const { keep, mayChange } = useSession()
  const live = useLive(readAgainMs, id)
  const job = useAsked(async () => (await keep.flows.job(id)) ?? null, [id, live.turn])
  const [isCancelled, setIsCancelled] = useState(false)
  const { isBusy, error, start } = useDoing()
  return (
    <>
      <p>
        <a href={hashOf('queue')}>← {texts.views.queue}</a>
      </p>
      <Answered asked={job}>
        {(job) =>
          job === null ? (
            <Empty title={texts.queue.gone} />
          ) : (
            <>
              <Heading title={job.document} lead={`${job.flow} · ${job.user} · ${job.collection}`}>
                {mayChange && (job.state === 'dead' || job.state === 'delayed') && (
                  <button
                    type="button"
                    disabled={isBusy}
                    onClick={() =>
                      start(async () => {
                        await keep.flows.retry(job.id)
                        live.lookAgain()
                      })
                    }
                  >
                    {texts.queue.retry}
                  </button>
                )}
                {mayChange && job.state !== 'done' && (
                  <button type="button" onClick={() => setIsCancelled(true)}>
                    {texts.queue.cancelJob}
                  </button>
                )}
              </Heading>
              {error !== undefined && <Failure error={error} />}
              <dl class="facts-of">
                <dt>{texts.queue.state}</dt>
                <dd>
                  <span class={`state ${job.state}`}>{texts.queue.states[job.state]}</span>{' '}
                  {job.dueAt !== undefined && texts.queue.due(job.dueAt)}
                </dd>
                <dt>{texts.queue.attempts}</dt>
                <dd>{job.attempts}</dd>
                <dt>{texts.queue.steps}</dt>
                <dd>{job.completedSteps.join(', ') || '–'}</dd>
                <dt>{texts.queue.changed}</dt>
                <dd>{job.updatedAt}</dd>
              </dl>
              <h2>{texts.queue.failures}</h2>
              {job.failures.length === 0 && <p class="quiet">{texts.queue.noFailures}</p>}
              <ol class="sources">
                {job.failures.toReversed().map((failure, at) => (
                  <li key={at} class="card">
                    <p class="quiet">
                      {failure.at} · {failure.step} · {failure.cause}{' '}
                      {failure.code !== undefined && <code>{failure.code}</code>}
                    </p>
                    <p class="free" dir="auto">
                      {failure.message}
                    </p>
                  </li>
                ))}
              </ol>
              {isCancelled && (
                <Confirm
                  title={texts.queue.cancelTitle}
                  text={texts.queue.cancelText}
                  button={texts.queue.cancelJob}
                  act={async () => {
                    await keep.flows.cancel(job.id)
                    go(hashOf('queue'))
                  }}
                  onClose={() => setIsCancelled(false)}
                />
              )}
            </>
          )
        }
      </Answered>
    </>
  )
}
