// A document: its jobs, and its text with the names in it.

import { useEffect, useState } from 'preact/hooks'
import type { RemoteGraph } from '../../../client/index.js'
import type { Job, JobEvent } from '../../../flow/types.js'
import { useAsked } from '../../asking.js'
import { FileButton, Heading } from '../../parts/controls.js'
import { agoText } from '../../parts/figures.js'
import { MarkedText, marksOf, type Mark } from '../../parts/marked-text.js'
import { Answered, Empty } from '../../parts/states.js'
import { go, hashOf } from '../../place.js'
import { useSession } from '../../session.js'
import { texts } from '../../texts.js'
import { Transfers, useTransfers } from '../../transfers.js'
import { loadFile } from './load-file.js'
import { Removal } from './removal.js'

export function SingleDocument({ document }: { readonly document: string }) {
  const session = useSession()
  const { keep, user, mayChange } = session
  const [isRemoved, setIsRemoved] = useState(false)
  const status = useAsked(
    async () => (await keep.flows.document({ user, document })) ?? null,
    [user, document],
  )
  const event = useEvents(document)
  useEffect(() => {
    if (event !== undefined && event.type !== 'progress') status.again()
  }, [event])
  const transfers = useTransfers(status.again)
  const last = status.value?.completed ?? status.value?.jobs[0]
  return (
    <>
      <p>
        <a href={hashOf('documents')}>← {texts.views.documents}</a>
      </p>
      <Heading title={document}>
        {mayChange && last !== undefined && (
          <>
            <FileButton
              text={texts.documents.replace}
              onFiles={([file]) => {
                if (file === undefined) return
                const into = { document, flow: last.flow, collection: last.collection }
                transfers.begin(file.name, undefined, (options) =>
                  loadFile(session, file, into, options),
                )
              }}
            />
            <button type="button" onClick={() => setIsRemoved(true)}>
              {texts.remove}
            </button>
          </>
        )}
      </Heading>
      <Transfers transfers={transfers} />
      <Answered asked={status}>
        {(known) =>
          known === null ? (
            <Empty title={texts.documents.unknown} />
          ) : (
            <>
              <Jobs jobs={known.jobs} />
              {known.completed !== undefined && (
                <Passages document={document} version={known.completed.at} />
              )}
            </>
          )
        }
      </Answered>
      {isRemoved && (
        <Removal
          document={document}
          onDone={() => go(hashOf('documents'))}
          onClose={() => setIsRemoved(false)}
        />
      )}
    </>
  )
}

function Jobs({ jobs }: { readonly jobs: readonly Job[] }) {
  if (jobs.length === 0) return null
  return (
    <>
      <h2>{texts.documents.jobs}</h2>
      <ul class="plain">
        {jobs.map(({ id, state, updatedAt, flow }) => (
          <li key={id}>
            <a href={hashOf('queue', id)}>{flow}</a>{' '}
            <span class={`state ${state}`}>{texts.queue.states[state]}</span>{' '}
            <span class="quiet">{agoText(updatedAt)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

const iri = (v: string) => ({ v, e: true })
const nif = 'http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#'
const [begins, ends] = [iri(`${nif}beginIndex`), iri(`${nif}endIndex`)]
const hasText = iri('https://schema.org/text')
const label = iri('http://www.w3.org/2000/01/rdf-schema#label')
const derived = iri('http://www.w3.org/ns/prov#wasDerivedFrom')

const [mostPassages, mostNames] = [500, 20_000]

interface Passage {
  readonly start: number
  readonly text: string
  readonly marks: readonly Mark[]
}

/** What the document became: its passages in their order, and the names in them. */
function Passages({ document, version }: { readonly document: string; readonly version: string }) {
  const { keep, user } = useSession()
  const asked = useAsked(
    (signal) => passagesOf(keep.knowledge.graph({ user, cores: [document] }), signal),
    [user, document, version],
  )
  return (
    <>
      <div class="line">
        <h2>{texts.documents.passages}</h2>
        <a href={hashOf('graph', document)}>{texts.ask.picture}</a>
      </div>
      <Answered asked={asked}>
        {(passages) =>
          passages.length === 0 ? (
            <Empty title={texts.documents.noPassages} />
          ) : (
            <div class="card reading">
              {passages.map(({ start, text, marks }) => (
                <MarkedText key={start} text={text} marks={marks} />
              ))}
            </div>
          )
        }
      </Answered>
    </>
  )
}

async function passagesOf(graph: RemoteGraph, signal: AbortSignal): Promise<readonly Passage[]> {
  const passages = [
    { s: '?passage', p: hasText, o: '?text' },
    { s: '?passage', p: begins, o: '?start' },
    { s: '?passage', p: ends, o: '?end' },
  ] as const
  const names = [
    { s: '?entity', p: derived, o: '?passage' },
    { s: '?passage', p: hasText, o: '?text' },
    { s: '?entity', p: label, o: '?name' },
  ] as const
  const select = ['?passage', '?name'] as const
  const [found, named] = await Promise.all([
    Array.fromAsync(graph.solve(passages, { limit: mostPassages, signal })),
    Array.fromAsync(graph.solve(names, { select, limit: mostNames, signal })),
  ])
  const namesOf = Map.groupBy(named, ({ passage }) => passage?.v ?? '')
  const sorted = found
    .map(({ passage, text, start, end }) => ({
      name: passage?.v ?? '',
      text: text?.v ?? '',
      start: Number(start?.v),
      end: Number(end?.v),
    }))
    .toSorted((a, b) => a.start - b.start)
  let read = 0
  return sorted.map(({ name, text, start, end }) => {
    // Passages overlap, and the text is to be read once.
    const rest = text.slice(Math.max(0, read - start))
    const at = Math.max(read, start)
    read = Math.max(read, end)
    const marks = (namesOf.get(name) ?? []).flatMap(({ name }) => marksOf(rest, name?.v ?? ''))
    return { start: at, text: rest, marks }
  })
}

/** The last thing that happened to a document's jobs. */
function useEvents(document: string): JobEvent | undefined {
  const { keep, user } = useSession()
  const [event, setEvent] = useState<JobEvent>()
  useEffect(() => {
    const leaving = new AbortController()
    const watch = async () => {
      const { signal } = leaving
      for await (const event of keep.flows.watch({ user, document, signal })) setEvent(event)
    }
    // The list that is there stays right; it is only not told of what happens.
    watch().catch(() => undefined)
    return () => leaving.abort()
  }, [document, user])
  return event
}
