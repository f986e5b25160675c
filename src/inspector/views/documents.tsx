// Documents: loaded here, followed through their steps, and what became of them.

import { useEffect, useState } from 'preact/hooks'
import type { RemoteGraph } from '../../client/index.js'
import type { CompletedDocument, JobEvent } from '../../flow/types.js'
import { useAsked } from '../asking.js'
import type { ViewProps } from '../later.js'
import { Confirm } from '../parts/confirm.js'
import { Drop, Field, Heading } from '../parts/controls.js'
import { agoText } from '../parts/figures.js'
import { MarkedText, marksOf, type Mark } from '../parts/marked-text.js'
import { usePages } from '../parts/paging.js'
import { Answered, Empty } from '../parts/states.js'
import { go, hashOf, refine } from '../place.js'
import { useSession, type Session } from '../session.js'
import { texts } from '../texts.js'
import { Uploads, useUploads } from '../uploads.js'

const flow = 'default'

export default function Documents({ place }: ViewProps) {
  return place.subject === undefined ? (
    <List prefix={place.query['prefix'] ?? ''} />
  ) : (
    <Single key={place.subject} document={place.subject} />
  )
}

function List({ prefix }: { readonly prefix: string }) {
  const session = useSession()
  const { keep, user, mayChange } = session
  const [collection, setCollection] = useState('default')
  const [removed, setRemoved] = useState<CompletedDocument>()
  const pages = usePages(
    async (after, limit) => {
      const query = { user, limit, ...(after && { after }), ...(prefix && { prefix }) }
      const { documents, next } = await keep.flows.documentPage(query)
      return { items: documents, next }
    },
    [user, prefix],
  )
  const uploads = useUploads(pages.again)
  const send = (files: readonly File[]) => {
    for (const file of files) {
      uploads.add(file, async ({ signal }) => {
        const bytes = new Uint8Array(await file.arrayBuffer())
        const named = { id: file.name, name: file.name, user, collection, bytes }
        const type = file.type === '' ? {} : { type: file.type }
        const { job } = await keep.flows.load(flow, { ...named, ...type }, { signal })
        return outcomeOf(session, job, signal)
      })
    }
  }
  return (
    <>
      <Heading title={texts.views.documents} lead={texts.documents.lead} />
      {mayChange && (
        <Drop
          title={texts.documents.drop}
          hint={texts.documents.dropHint}
          button={texts.documents.choose}
          onFiles={send}
        />
      )}
      <Uploads uploads={uploads} />
      <div class="filters">
        <Field
          label={texts.documents.prefix}
          value={prefix}
          onInput={(prefix) => refine(hashOf('documents', undefined, { prefix }))}
        />
        {mayChange && (
          <Field
            label={texts.documents.collectionHint}
            value={collection}
            onInput={setCollection}
          />
        )}
      </div>
      <Answered asked={pages}>
        {(documents) =>
          documents.length === 0 ? (
            <Empty title={texts.documents.none} hint={texts.documents.noneHint} />
          ) : (
            <div class="scroll" tabIndex={0} role="region" aria-label={texts.views.documents}>
              <table>
                <thead>
                  <tr>
                    <th>{texts.documents.id}</th>
                    <th>{texts.documents.flow}</th>
                    <th>{texts.documents.collection}</th>
                    <th>{texts.documents.done}</th>
                    <td />
                  </tr>
                </thead>
                <tbody>
                  {documents.map((one) => (
                    <tr key={one.document}>
                      <th class="free" dir="auto">
                        <a href={hashOf('documents', one.document)}>{one.document}</a>
                      </th>
                      <td class="free">{one.completed.flow}</td>
                      <td class="free">{one.completed.collection}</td>
                      <td title={one.completed.at}>{agoText(one.completed.at)}</td>
                      <td class="actions">
                        {mayChange && (
                          <button type="button" class="small" onClick={() => setRemoved(one)}>
                            {texts.remove}
                            <span class="hidden"> {one.document}</span>
                          </button>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answered>
      {pages.more !== undefined && (
        <button type="button" onClick={pages.more}>
          {texts.more}
        </button>
      )}
      {removed !== undefined && (
        <Removal
          document={removed.document}
          onDone={pages.again}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  )
}

/** Follows a job to its end. @throws Error with what made it a dead letter */
async function outcomeOf({ keep }: Session, job: string, signal: AbortSignal): Promise<string> {
  for await (const event of keep.flows.watch({ job, signal })) {
    if (event.type === 'dead') throw new Error(event.failure.message)
    if (event.type === 'cancelled') throw new Error(texts.documents.cancelled)
  }
  signal.throwIfAborted()
  return texts.documents.ready
}

interface RemovalProps {
  readonly document: string
  readonly onDone: () => void
  readonly onClose: () => void
}

function Removal({ document, onDone, onClose }: RemovalProps) {
  const { keep, user } = useSession()
  return (
    <Confirm
      title={texts.documents.removeTitle(document)}
      text={texts.documents.removeText}
      button={texts.remove}
      act={async () => {
        await keep.flows.removeDocument({ user, document })
        onDone()
      }}
      onClose={onClose}
    />
  )
}

function Single({ document }: { readonly document: string }) {
  const { keep, user, mayChange } = useSession()
  const [isRemoved, setIsRemoved] = useState(false)
  const status = useAsked(
    async () => (await keep.flows.document({ user, document })) ?? null,
    [user, document],
  )
  const event = useEvents(document)
  useEffect(() => {
    if (event !== undefined && event.type !== 'progress') status.again()
  }, [event])
  return (
    <>
      <Heading title={document} lead="">
        {mayChange && (
          <button type="button" onClick={() => setIsRemoved(true)}>
            {texts.remove}
          </button>
        )}
      </Heading>
      <p>
        <a href={hashOf('documents')}>← {texts.views.documents}</a>
      </p>
      <Answered asked={status}>
        {(known) => (
          <>
            {known === null && <Empty title={texts.documents.unknown} />}
            <h2>{texts.documents.jobs}</h2>
            <ul class="plain">
              {known?.jobs.map(({ id, state, updatedAt, flow }) => (
                <li key={id}>
                  <a href={hashOf('queue', id)}>{flow}</a>{' '}
                  <span class={`state ${state}`}>{texts.queue.states[state]}</span>{' '}
                  <span class="quiet">{agoText(updatedAt)}</span>
                </li>
              ))}
            </ul>
            {known?.completed !== undefined && (
              <Passages document={document} version={known.completed.at} />
            )}
          </>
        )}
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
      <h2>{texts.documents.passages}</h2>
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
