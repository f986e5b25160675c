// The graph of all cores or of one, of what a search finds or an answer comes from, or around one thing.

import { useEffect, useState } from 'preact/hooks'
import type { RemoteGraph } from '../../client/index.js'
import { useAsked } from '../asking.js'
import { Explorer } from '../graph/explorer.js'
import { mostNodes, nothing, withTriples } from '../graph/model.js'
import { readAround, readWhole, type Found } from '../graph/reading.js'
import { nameOf } from '../graph/sketch.js'
import type { ViewProps } from '../later.js'
import { Choice, Field, Heading } from '../parts/controls.js'
import { Answered } from '../parts/states.js'
import { hashOf, refine } from '../place.js'
import { entities, graphOf, useSession } from '../session.js'
import { texts } from '../texts.js'

/** So many are offered; others are named in the address. */
const mostCores = 500

export default function GraphView({ place }: ViewProps) {
  const session = useSession()
  const { keep, user } = session
  const { subject, query } = place
  const { q = '', search = '', around = '' } = query
  const [typed, setTyped] = useState(search)
  useEffect(() => setTyped(search), [search])
  const cores = useAsked(
    async () =>
      (await keep.knowledge.corePage({ user, limit: mostCores })).cores.map(({ id }) => id),
    [user],
  )
  const asked = useAsked(
    async (signal) => {
      const graph = graphOf(session, subject === undefined ? undefined : [subject])
      const key = [subject, q, search, around].join(' ')
      return { key, graph, ...(await read(graph, { q, search, around }, signal)) }
    },
    [user, subject, q, search, around],
  )
  const known = new Set([...(cores.value ?? []), ...(subject === undefined ? [] : [subject])])
  return (
    <>
      <Heading title={texts.views.graph} lead={texts.graph.lead} />
      <div class="filters">
        <Choice
          label={texts.graph.core}
          value={subject ?? ''}
          options={[['', texts.graph.library], ...[...known].map((id) => [id, id] as const)]}
          onChange={(id) => refine(hashOf('graph', id || undefined))}
        />
        <div class="wide">
          <Field
            label={texts.graph.search}
            value={typed}
            onInput={setTyped}
            onEnter={() => refine(hashOf('graph', subject, { search: typed.trim() }))}
            hint={texts.graph.searchHint}
          />
        </div>
      </div>
      {(q || search || around) !== '' && (
        <p class="note">
          <span class="free">{texts.graph.of({ q, search, around: around.slice(0, 300) })}</span>{' '}
          <a href={hashOf('graph', subject)}>{texts.graph.everything}</a>
        </p>
      )}
      <Answered asked={asked}>
        {({ key, graph, shown, part }) => (
          <>
            {part !== undefined && (
              <p class="note" role="status">
                {texts.graph.part(
                  part.triples,
                  mostNodes,
                  part.around === undefined ? undefined : nameOf(shown, part.around),
                )}
              </p>
            )}
            <Explorer
              key={key}
              initial={shown}
              graph={graph}
              fileName={subject ?? 'graph'}
              empty={{ title: texts.graph.none, hint: texts.graph.noneHint }}
            />
          </>
        )}
      </Answered>
    </>
  )
}

interface Wanted {
  readonly q: string
  readonly search: string
  readonly around: string
}

async function read(
  graph: RemoteGraph,
  { q, search, around }: Wanted,
  signal: AbortSignal,
): Promise<Found> {
  if (around !== '') return readAround(graph, [around], signal)
  if (q !== '') {
    const { triples, labels } = await graph.retrieve({ text: q, entities, signal })
    const names = new Map(Object.entries(labels))
    return { shown: { ...withTriples({ ...nothing, names }, triples) } }
  }
  if (search === '') return readWhole(graph, signal)
  const passages = await graph.search({ text: search, k: 10, signal })
  return readAround(
    graph,
    passages.map(({ chunk }) => chunk.v),
    signal,
  )
}
