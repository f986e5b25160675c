// A document: its jobs, and its text with the names in it.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { RemoteGraph } from '../../../client/index.js'
import type { Completion, Job } from '../../../flow/types.js'
import { vocabulary } from '../../../vocabulary.js'
import { useAsked } from '../../asking.js'
import { useLive } from '../../live.js'
import { FileButton, Heading } from '../../parts/controls.js'
import { agoText } from '../../parts/figures.js'
import { MarkedText, marksOf } from '../../parts/marked-text.js'
import { More } from '../../parts/more.js'
import { Answered, Empty, FirstOf } from '../../parts/states.js'
import { go, hashOf } from '../../place.js'
import { graphOf, useSession } from '../../session.js'
import { texts } from '../../texts.js'
import { Transfers, useTransfers } from '../../transfers.js'
import { loadFile } from './load-file.js'
import { Removal } from './removal.js'

const unfinished: readonly Job['state'][] = ['queued', 'active', 'delayed']

export function SingleDocument({ document }: { readonly document: string }) {
  const session = useSession()
  const { keep, user, who, mayChange } = session
  const [isRemoved, setIsRemoved] = useState(false)
  const status = useAsked(
    async () => (await keep.flows.document({ user, document })) ?? null,
    [user, document],
  )
  const isUnderWay = status.value?.jobs.some(({ state }) => unfinished.includes(state)) === true
  const live = useLive({ user, document }, isUnderWay)
  useEffect(() => {
    // What is just removed is not asked for: it may be gone, which would be an error in the console.
    if (live.turn > 0 && !isRemoved) status.again()
  }, [live.turn])
  const transfers = useTransfers(`documents/${document}`, status.again)
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
                const { flow, collection } = last
                const into = { document, flow, collection, isReplaced: true }
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
              {known.completed !== undefined && who.stores.includes('knowledge') && (
                <Passages document={document} completed={known.completed} />
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

interface Passage {
  readonly name: string
  readonly text: string
  /** In the text of the document, from and to. */
  readonly start: number
  readonly end: number
  /** As they are called that were found in it. */
  readonly names: readonly string[]
}

/** So many are shown at a time. */
const pageSize = 200

interface PassagesProps {
  readonly document: string
  readonly completed: Completion
}

/** What the document became: its passages in their order, and the names in them. */
function Passages({ document, completed: { at, collection } }: PassagesProps) {
  const session = useSession()
  const { user, who } = session
  // A token for some collections asks one at a time: the document's, whichever is chosen.
  const seen = who.collections === undefined ? session : { ...session, collection }
  const [most, setMost] = useState(pageSize)
  const text = useRef<HTMLDivElement>(null)
  const asked = useAsked(
    async (signal) => readOnce(await passagesOf(graphOf(seen, [document]), signal)),
    [user, document, at],
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
            <div ref={text} class="card reading">
              {passages.slice(0, most).map(({ start, text, names }) => (
                <MarkedText
                  key={start}
                  text={text}
                  marks={names.flatMap((name) => marksOf(text, name))}
                />
              ))}
            </div>
          )
        }
      </Answered>
      {asked.value !== undefined && asked.value.length > most && (
        <div class="all">
          <More shown={text} onMore={() => setMost(most + pageSize)} />
          <FirstOf shown={most} all={asked.value.length} />
        </div>
      )}
    </>
  )
}

const iri = (v: string) => ({ v, e: true })
const begins = { s: '?passage', p: iri(vocabulary.beginIndex), o: '?start' } as const
const ends = { s: '?passage', p: iri(vocabulary.endIndex), o: '?end' } as const
const hasText = { s: '?passage', p: iri(vocabulary.text), o: '?text' } as const
const derived = { s: '?entity', p: iri(vocabulary.wasDerivedFrom), o: '?passage' } as const
const called = { s: '?entity', p: iri(vocabulary.label), o: '?name' } as const

/** In their order: questions are answered in none, so all are read before the first is shown. */
async function passagesOf(graph: RemoteGraph, signal: AbortSignal): Promise<readonly Passage[]> {
  const select = ['?passage', '?name'] as const
  const [found, named] = await Promise.all([
    Array.fromAsync(graph.solve([hasText, begins, ends], { signal })),
    Array.fromAsync(graph.solve([derived, hasText, called], { select, signal })),
  ])
  const namesOf = Map.groupBy(named, ({ passage }) => passage?.v ?? '')
  return found
    .map(({ passage, text, start, end }) => ({
      name: passage?.v ?? '',
      text: text?.v ?? '',
      start: Number(start?.v),
      end: Number(end?.v),
      names: (namesOf.get(passage?.v ?? '') ?? []).map(({ name }) => name?.v ?? ''),
    }))
    .toSorted((a, b) => a.start - b.start)
}

/** Passages overlap, or one lies in another, and the text is to be read once. */
function readOnce(passages: readonly Passage[]): readonly Passage[] {
  let read = 0
  return passages.flatMap((passage) => {
    const isRead = read > passage.start
    const left = passage.text.slice(isRead ? read - passage.start : 0)
    // What is left of it begins in a line, mostly behind a word.
    const text = isRead ? left.replace(/^[^\S\n]+/, '') : left
    const start = Math.max(read, passage.start)
    read = Math.max(read, passage.end)
    return text === '' ? [] : [{ ...passage, start, text }]
  })
}
