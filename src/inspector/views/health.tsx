// How the server is: whether it takes work, what it holds, and a backup of all of it.

import { useEffect } from 'preact/hooks'
import { useAsked } from '../asking.js'
import { chunksOf } from '../../client/connection.js'
import type { ViewProps } from '../later.js'
import { useTicks } from '../live.js'
import { chooseTarget, save } from '../download.js'
import { Heading } from '../parts/controls.js'
import { bytesText } from '../parts/figures.js'
import { Answered, Failure } from '../parts/states.js'
import { measuresOf, partsOf, readinessOf, type Readiness } from '../server.js'
import { useSession } from '../session.js'
import { texts } from '../texts.js'
import { Transfers, useTransfers } from '../transfers.js'
import { Fact, Facts } from './health/facts.js'
import { Measured } from './health/measured.js'

const lookAgainMs = 5000

export default function Health(_: ViewProps) {
  const session = useSession()
  const parts = useAsked((signal) => partsOf(session, signal), [session])
  const ticks = useTicks(lookAgainMs)
  const { readyz, metrics } = parts.value ?? {}
  const seen = session.seesAll ? metrics : undefined
  const readiness = useAsked(async (signal) => readyz && readinessOf(readyz, signal), [readyz])
  const measures = useAsked(async (signal) => seen && measuresOf(seen, session, signal), [seen])
  const library = useAsked(
    async () =>
      session.who.stores.includes('knowledge')
        ? session.keep.knowledge.indexState({ user: session.user })
        : undefined,
    [session.user],
  )
  useEffect(() => {
    if (ticks === 0) return
    readiness.again()
    measures.again()
    library.again()
  }, [ticks])
  return (
    <>
      <Heading title={texts.views.health} lead={texts.health.lead}>
        {readiness.value !== undefined && readiness.error === undefined && (
          <Ready readiness={readiness.value} />
        )}
      </Heading>
      <Answered asked={parts}>
        {({ hasBackup }) => (
          <>
            {readiness.error !== undefined && <Failure error={readiness.error} />}
            {measures.error !== undefined && <Failure error={measures.error} />}
            {!session.seesAll && <p class="quiet">{texts.health.own}</p>}
            {session.seesAll && metrics === undefined && (
              <p class="quiet">{texts.health.noMetrics}</p>
            )}
            {measures.value !== undefined && <p class="quiet">{texts.health.counted}</p>}
            <div class="tiles">
              {library.value !== undefined && (
                <Facts
                  title={texts.health.library(session.who.user === '*' ? session.user : undefined)}
                >
                  <Fact name={texts.health.state}>{texts.health.states[library.value.state]}</Fact>
                  <Fact name={texts.health.parts}>{texts.count(library.value.parts)}</Fact>
                  <Fact name={texts.health.size}>{bytesText(library.value.bytes)}</Fact>
                  <Fact name={texts.health.waiting}>
                    {texts.count(library.value.waiting.segments)}
                  </Fact>
                </Facts>
              )}
              {measures.value !== undefined && <Measured measures={measures.value} />}
              <Facts title={texts.health.versions}>
                <Fact name={texts.title}>{VERSION}</Fact>
                {measures.value?.labels('nodejs_version_info', 'version').map((version) => (
                  <Fact key={version} name={texts.health.node}>
                    {version}
                  </Fact>
                ))}
              </Facts>
            </div>
            {hasBackup && session.seesAll && <Backup />}
          </>
        )}
      </Answered>
    </>
  )
}

function Ready({ readiness: { status, where = [] } }: { readonly readiness: Readiness }) {
  const isReady = status === 'ready'
  return (
    <p class={isReady ? 'state done' : 'state dead free'} role="status">
      {isReady ? texts.health.ready : texts.health.unready(where.join(', '))}
    </p>
  )
}

function Backup() {
  const { connection } = useSession()
  const transfers = useTransfers('health', () => undefined)
  const begin = async () => {
    const day = new Date().toISOString().slice(0, 10)
    const name = `lorekeep-${day}.backup`
    const target = await chooseTarget(name)
    if (target === undefined) return
    transfers.begin(name, undefined, async ({ signal, onProgress }) => {
      const response = await connection.ask('GET', 'backup', { signal })
      const chunks = chunksOf(response)
      return save(target, chunks, { onProgress })
    })
  }
  return (
    <section class="group" aria-label={texts.health.backup}>
      <h2>{texts.health.backup}</h2>
      <p class="quiet">{texts.health.backupLead}</p>
      <button type="button" onClick={() => void begin()}>
        {texts.health.backupButton}
      </button>
      <Transfers transfers={transfers} />
    </section>
  )
}
