// A job: where it is, and each of its failures.

import { useEffect, useState } from 'preact/hooks'
import { useAsked, useDoing } from '../../asking.js'
import { useLive } from '../../live.js'
import { Confirm } from '../../parts/confirm.js'
import { Heading } from '../../parts/controls.js'
import { agoText, timeText } from '../../parts/figures.js'
import { Answered, Empty, Failure } from '../../parts/states.js'
import { go, hashOf } from '../../place.js'
import { useSession } from '../../session.js'
import { texts } from '../../texts.js'

export function SingleJob({ id }: { readonly id: string }) {
  const { keep, mayChange } = useSession()
  const live = useLive({ job: id })
  const job = useAsked(async () => (await keep.flows.job(id)) ?? null, [id])
  const [isCancelled, setIsCancelled] = useState(false)
  useEffect(() => {
    // What is just cancelled is not asked for: it may be gone, which would be an error in the console.
    if (live.turn > 0 && !isCancelled) job.again()
  }, [live.turn])
  const { isBusy, error, start } = useDoing()
  return (
    <>
      <p>
        <a href={hashOf('queue')}>← {texts.views.queue}</a>
      </p>
      <Answered asked={job}>
        {(job) =>
          job === null ? (
            <>
              <Heading title={texts.views.queue} lead={texts.queue.lead} />
              <Empty title={texts.queue.gone} />
            </>
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
                  {job.dueAt !== undefined && texts.queue.due(timeText(job.dueAt))}
                </dd>
                <dt>{texts.queue.attempts}</dt>
                <dd>{job.attempts}</dd>
                <dt>{texts.queue.steps}</dt>
                <dd>{job.completedSteps.join(', ') || texts.nothing}</dd>
                <dt>{texts.queue.changed}</dt>
                <dd>
                  {agoText(job.updatedAt)} <span class="quiet">{timeText(job.updatedAt)}</span>
                </dd>
              </dl>
              <h2>{texts.queue.failures}</h2>
              {job.failures.length === 0 && <p class="quiet">{texts.queue.noFailures}</p>}
              <ol class="sources">
                {job.failures.toReversed().map((failure, at) => (
                  <li key={at} class="card">
                    <p class="quiet">
                      {timeText(failure.at)} · {failure.step} · {failure.cause}{' '}
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
