// A question, the passages that answer it with what led to them, and what they say as statements.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { FoundPassage, GraphSource, Subgraph } from '../../graph/types.js'
import type { Triple } from '../../types.js'
import { useAsked } from '../asking.js'
import { cut, shortened } from '../graph/names.js'
import { later, type ViewProps } from '../later.js'
import { useTicks } from '../live.js'
import { Heading } from '../parts/controls.js'
import { MarkedText, marksOf, type Mark } from '../parts/marked-text.js'
import { Answered, Empty, FirstOf } from '../parts/states.js'
import { go, hashOf } from '../place.js'
import { entities, graphOf, useSession } from '../session.js'
import { texts } from '../texts.js'
import { Elsewhere } from './ask/elsewhere.js'

interface Answer {
  readonly graph: Subgraph
  /** By chunk: where words of the question stand. */
  readonly words: ReadonlyMap<string, FoundPassage>
}

const Picture = later(() => import('../graph/answer-picture.js'))

export default function Ask({ place }: ViewProps) {
  const { q = '' } = place.query
  const [text, setText] = useState(q)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => setText(q), [q])
  // Before the heading takes it.
  useLayoutEffect(() => {
    // Who came by the keyboard goes on from where they are.
    if (q === '' && document.activeElement === document.body) input.current?.focus()
  }, [])
  return (
    <>
      <Heading title={texts.views.ask} lead={texts.ask.lead} />
      <form
        class="ask"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          go(hashOf('ask', undefined, { q: text.trim() }))
        }}
      >
        <input
          ref={input}
          aria-label={texts.ask.question}
          placeholder={texts.ask.placeholder}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit" class="primary">
          {texts.ask.button}
        </button>
      </form>
      {q === '' ? <Unasked /> : <Found question={q} />}
    </>
  )
}

/** So often it is looked for what there is to ask. */
const lookAgainMs = 2000

/** Says what to do first where there is nothing to ask, or to wait where that is being read. */
function Unasked() {
  const { keep, user, who, mayChange } = useSession()
  const hasFlows = who.stores.includes('flows')
  const ticks = useTicks(lookAgainMs)
  const asked = useAsked(async () => {
    const { cores } = await keep.knowledge.corePage({ user, limit: 1 })
    if (cores.length > 0) return 'something'
    if (!hasFlows) return 'nothing'
    const waiting = (['queued', 'active', 'delayed'] as const).map((state) =>
      keep.flows.jobPage({ user, state, limit: 1 }),
    )
    return (await Promise.all(waiting)).some(({ jobs }) => jobs.length > 0) ? 'soon' : 'nothing'
  }, [user])
  useEffect(() => {
    if (ticks > 0 && asked.value !== 'something') asked.again()
  }, [ticks])
  if (asked.value === undefined || asked.value === 'something') return null
  if (asked.value === 'soon')
    return (
      <Empty
        title={texts.ask.soon}
        hint={texts.ask.soonHint}
        way={{ href: hashOf('queue'), text: texts.ask.watch }}
      />
    )
  return (
    <Empty
      title={texts.ask.empty}
      hint={hasFlows ? texts.ask.emptyHint : undefined}
      way={hasFlows && mayChange ? { href: hashOf('documents'), text: texts.ask.load } : undefined}
    />
  )
}

function Found({ question }: { readonly question: string }) {
  const session = useSession()
  const asked = useAsked(
    async (signal): Promise<Answer> => {
      const library = graphOf(session)
      const [graph, found] = await Promise.all([
        library.retrieve({ text: question, entities, signal }),
        library.search({ text: question, k: 50, signal }),
      ])
      return { graph, words: new Map(found.map((passage) => [passage.chunk.v, passage])) }
    },
    [question, session],
  )
  return (
    <Answered asked={asked}>
      {({ graph, words }) =>
        graph.sources.length === 0 ? (
          <>
            <Empty title={texts.ask.nothing} hint={texts.ask.nothingHint} />
            <Unasked />
          </>
        ) : (
          <Passages key={question} question={question} graph={graph} words={words} />
        )
      }
    </Answered>
  )
}

function Passages({ question, graph, words }: Answer & { readonly question: string }) {
  const [chosen, setChosen] = useState<Triple>()
  const said = chosen === undefined ? undefined : whereSaid(graph, chosen)
  const isTold = graph.sources.some(
    ({ chunk, via }) => via.length > 0 || (words.get(chunk.v)?.highlights.length ?? 0) > 0,
  )
  const names = chosen === undefined ? [] : [chosen.s.v, chosen.o.v].map((id) => nameIn(graph, id))
  return (
    <div class="answer">
      <section aria-label={texts.ask.passages(graph.sources.length)}>
        <h2>{texts.ask.passages(graph.sources.length)}</h2>
        {!isTold && <p class="note">{texts.ask.likest}</p>}
        <ol class="sources">
          {graph.sources.map((source) => (
            <Source
              key={source.chunk.v}
              source={source}
              found={words.get(source.chunk.v)}
              said={source === said ? names : undefined}
            />
          ))}
        </ol>
      </section>
      <aside>
        {graph.triples.length > 0 && (
          <section>
            <h2>{texts.ask.picture}</h2>
            <Picture graph={graph} chosen={chosen} onTriple={setChosen} />
            <a href={hashOf('graph', undefined, { q: question })}>{texts.ask.open}</a>
          </section>
        )}
        <Facts graph={graph} chosen={chosen} onTriple={setChosen} />
        {chosen !== undefined && (
          <p class="note" role="status">
            {said === undefined ? texts.ask.unsaid : texts.ask.said}
          </p>
        )}
        <Elsewhere question={question} entities={entities} />
      </aside>
    </div>
  )
}

/** The first passage from which both were drawn that the statement joins, or which has the names of both. */
function whereSaid(graph: Subgraph, { s, o }: Triple): GraphSource | undefined {
  const [from, to] = [s, o].map(({ v }) => nameIn(graph, v).toLowerCase())
  const has = ({ entities }: GraphSource, id: string) => entities.some(({ v }) => v === id)
  return (
    graph.sources.find((source) => has(source, s.v) && has(source, o.v)) ??
    graph.sources.find(({ text = '' }) => {
      const lower = text.toLowerCase()
      return lower.includes(from as string) && lower.includes(to as string)
    })
  )
}

function nameIn({ labels }: Subgraph, id: string): string {
  return (Object.hasOwn(labels, id) ? labels[id] : undefined) ?? shortened(id)
}

interface SourceProps {
  readonly source: GraphSource
  readonly found: FoundPassage | undefined
  /** What a chosen statement joins, where this passage says it. */
  readonly said: readonly string[] | undefined
}

function Source({ source, found, said }: SourceProps) {
  const { stores } = useSession().who
  const card = useRef<HTMLLIElement>(null)
  const isSaid = said !== undefined
  useEffect(() => {
    if (isSaid) card.current?.scrollIntoView({ block: 'center' })
  }, [isSaid, said?.join()])
  const { core, title, heading, page, start, end, text = '', via, legs } = source
  const names = via.flatMap(({ name }) => marksOf(text, name))
  const words = found?.highlights.map(([start, end]): Mark => ({ start, end, kind: 'word' })) ?? []
  const told = (said ?? []).flatMap((name) =>
    marksOf(text, name).map((mark): Mark => ({ ...mark, kind: 'said' })),
  )
  const place = [
    heading,
    page === undefined ? undefined : texts.ask.page(page),
    start === undefined || end === undefined ? undefined : texts.ask.place(start, end),
  ].filter((part) => part !== undefined)
  return (
    <li ref={card} class={isSaid ? 'card told' : 'card'}>
      <h3 class="free" dir="auto">
        <a href={hashOf(stores.includes('flows') ? 'documents' : 'graph', core)}>{title ?? core}</a>
      </h3>
      {place.length > 0 && <p class="quiet free">{place.join(' · ')}</p>}
      <MarkedText text={text} marks={[...told, ...names, ...words]} />
      <details>
        <summary>{texts.ask.why}</summary>
        <ul class="plain">
          {Object.entries(legs).map(([leg, { rank, score }]) => (
            <li key={leg}>
              {texts.ask.rank(texts.ask.legs[leg as keyof typeof texts.ask.legs], rank)}{' '}
              <span class="quiet">{texts.score(score)}</span>
            </li>
          ))}
          {via.length > 0 && (
            <li>
              {texts.ask.via}{' '}
              {via.map(({ name }, at) => (
                <span key={at}>
                  {at > 0 && ' → '}
                  <mark class="name free">{name}</mark>
                </span>
              ))}
            </li>
          )}
        </ul>
      </details>
    </li>
  )
}

const mostFacts = 60

interface FactsProps {
  readonly graph: Subgraph
  readonly chosen: Triple | undefined
  readonly onTriple: (triple: Triple) => void
}

function Facts({ graph, chosen, onTriple }: FactsProps) {
  const { triples } = graph
  const nameOf = (value: string) => cut(nameIn(graph, value))
  return (
    <section>
      <h2>{texts.ask.facts}</h2>
      {triples.length === 0 ? (
        <p class="quiet">{texts.ask.noFacts}</p>
      ) : (
        <ul class="facts">
          {triples.slice(0, mostFacts).map(({ s, p, o }, at) => (
            <li key={at}>
              <button
                type="button"
                class="fact free"
                dir="auto"
                aria-pressed={isSame(triples[at], chosen)}
                title={cut(`${s.v} ${p.v} ${o.v}`, 300)}
                onClick={() => onTriple(triples[at] as Triple)}
              >
                {nameOf(s.v)} <em>{nameOf(p.v)}</em> {o.e ? nameOf(o.v) : cut(o.v, 200)}
              </button>
            </li>
          ))}
        </ul>
      )}
      <FirstOf shown={mostFacts} all={triples.length} />
    </section>
  )
}

function isSame(a: Triple | undefined, b: Triple | undefined): boolean {
  return a?.s.v === b?.s.v && a?.p.v === b?.p.v && a?.o.v === b?.o.v
}
