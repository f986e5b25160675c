// A flow: its counts, what was done of late, and its switch.

import { useEffect, useRef } from 'preact/hooks'
import type { Flow, FlowStats } from '../../../flow/types.js'
import { useAsked, useDoing } from '../../asking.js'
import type { Live } from '../../live.js'
import { agoText } from '../../parts/figures.js'
import { Failure } from '../../parts/states.js'
import { hashOf } from '../../place.js'
import { useSession } from '../../session.js'
import { texts } from '../../texts.js'
import { ratesOf, type Look } from './rates.js'
import { states } from './states.js'

interface FlowTileProps {
  readonly flow: Flow
  readonly live: Live
  readonly onChanged: () => void
}

/** Counts of a flow, and how many were done of late. */
export function FlowTile({ flow, live, onChanged }: FlowTileProps) {
  const { keep, mayChange } = useSession()
  const stats = useAsked(async () => {
    const [counts, { jobs }] = await Promise.all([
      keep.flows.stats(flow.id),
      keep.flows.jobPage({ flow: flow.id, state: 'queued', limit: 1 }),
    ])
    return { counts, oldest: jobs[0]?.createdAt, at: performance.now() }
  }, [flow.id])
  useEffect(() => {
    if (live.turn > 0) stats.again()
  }, [live.turn])
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
      {stats.error !== undefined && <Failure error={stats.error} />}
      {stats.value !== undefined && (
        <>
          <Counts stats={stats.value.counts} flow={flow.id} />
          {stats.value.oldest !== undefined && (
            <p class="quiet">{texts.queue.oldest(agoText(stats.value.oldest))}</p>
          )}
          <Throughput look={{ at: stats.value.at, done: stats.value.counts.done }} />
        </>
      )}
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
function Throughput({ look }: { readonly look: Look }) {
  const looks = useRef<readonly Look[]>([])
  if (looks.current.at(-1)?.at !== look.at) {
    const isOfLate = ({ at }: Look) => at > look.at - 2 * chartSeconds * 1000
    looks.current = [...looks.current.filter(isOfLate), look]
  }
  const rates = ratesOf(looks.current, chartSeconds)
  const most = Math.max(1, ...rates)
  const sum = rates.reduce((sum, rate) => sum + rate, 0)
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${chartSeconds} 20`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${texts.queue.throughput}: ${texts.count(Math.round(sum))}`}
      >
        {rates.map((rate, at) => {
          const height = (rate / most) * 20
          return <rect key={at} x={at} y={20 - height} width={0.8} height={height} />
        })}
      </svg>
      <figcaption class="quiet">{texts.queue.throughput}</figcaption>
    </figure>
  )
}
