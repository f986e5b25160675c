// What is chosen: a thing with what is said of it, or a statement with the passage that says it.

import type { RemoteGraph } from '../../client/index.js'
import type { Triple } from '../../types.js'
import { vocabulary } from '../../vocabulary.js'
import { useAsked } from '../asking.js'
import { MarkedText, marksOf } from '../parts/marked-text.js'
import { Answered, FirstOf } from '../parts/states.js'
import { hashOf } from '../place.js'
import { texts } from '../texts.js'
import { isLink, type Drawn, type Link, type Shown } from './model.js'
import { cut } from './names.js'
import { relationsOf } from './picture.js'
import { hasMore, nameOf } from './sketch.js'
import { passagesOf } from './reading.js'

/** So much of it is shown beside the picture. */
const [mostPassages, mostTold, mostLinks] = [5, 20, 40]

/** Statements of one thing that are looked through for what is said of it. */
const mostRead = 1000

interface DetailsProps {
  readonly graph: RemoteGraph
  readonly shown: Shown
  readonly drawn: Drawn
  readonly selected: string | undefined
  readonly link: Link | undefined
  readonly isBusy: boolean
  readonly onNode: (id: string) => void
  readonly onLink: (link: Link) => void
  readonly onToggle: (id: string) => void
  readonly onPath: (id: string) => void
}

export function Details(props: DetailsProps) {
  const { selected, link, drawn, shown, graph } = props
  if (selected !== undefined) return <Thing {...props} id={selected} />
  if (link === undefined) return <p class="quiet">{texts.graph.choose}</p>
  const [from, to] = [drawn.nodes[link.from], drawn.nodes[link.to]]
  return (
    <section class="card chosen" aria-label={texts.graph.statement}>
      <p class="free" dir="auto">
        <strong>{cut(from?.name ?? '')}</strong> {relationsOf(shown, link)}{' '}
        <strong>{cut(to?.name ?? '')}</strong>
      </p>
      {link.triples[0] !== undefined && (
        <Said graph={graph} triple={link.triples[0]} names={[from?.name ?? '', to?.name ?? '']} />
      )}
    </section>
  )
}

interface SaidProps {
  readonly graph: RemoteGraph
  readonly triple: Triple
  readonly names: readonly string[]
}

/** The passages that say it, with the names in them. */
function Said({ graph, triple, names }: SaidProps) {
  const { s, p, o } = triple
  const asked = useAsked((signal) => passagesOf(graph, triple, signal), [s.v, p.v, o.v, graph])
  return (
    <Answered asked={asked}>
      {(passages) =>
        passages.length === 0 ? (
          <p class="quiet">{texts.graph.noPassage}</p>
        ) : (
          <>
            <h2>{texts.ask.passages(passages.length)}</h2>
            {passages.slice(0, mostPassages).map(({ chunk, text }) => (
              <div key={chunk} class="excerpt" tabIndex={0} role="region" aria-label={cut(chunk)}>
                <MarkedText text={text} marks={names.flatMap((name) => marksOf(text, name))} />
              </div>
            ))}
            <FirstOf shown={mostPassages} all={passages.length} />
          </>
        )
      }
    </Answered>
  )
}

function Thing(props: DetailsProps & { readonly id: string }) {
  const { id, shown, drawn, graph, isBusy, onNode, onLink, onToggle, onPath } = props
  const place = drawn.places.get(id)
  const links = drawn.links.filter(({ from, to }) => from === place || to === place)
  const kind = shown.kinds.get(id)
  const asked = useAsked(
    async (signal) =>
      Array.fromAsync(graph.match({ s: { v: id, e: true } }, { limit: mostRead, signal })),
    [id, graph],
  )
  return (
    <section class="card chosen" aria-label={texts.graph.thing}>
      <h2 class="free" dir="auto">
        {nameOf(shown, id)}
      </h2>
      <p class="quiet free iri" title={id.slice(0, 2000)}>
        {cut(id, 160)}
      </p>
      {kind !== undefined && (
        <p>
          <span class="badge free">{nameOf(shown, kind)}</span>
        </p>
      )}
      <div class="all">
        <button type="button" class="small" disabled={isBusy} onClick={() => onToggle(id)}>
          {hasMore(shown, id) ? texts.graph.expand : texts.graph.collapse}
        </button>
        <button type="button" class="small" onClick={() => onPath(id)}>
          {texts.graph.path}
        </button>
        <a href={hashOf('graph', undefined, { around: id })}>{texts.graph.around}</a>
      </div>
      <Answered asked={asked}>
        {(triples) => {
          const told = triples.filter((triple) => !isLink(triple) && triple.p.v !== vocabulary.type)
          return (
            <>
              <dl class="facts-of">
                {told.slice(0, mostTold).map(({ p, o }, at) => [
                  <dt key={`p${at}`} class="free">
                    {nameOf(shown, p.v)}
                  </dt>,
                  <dd key={`o${at}`} class="free" dir="auto">
                    {cut(o.v, 300)}
                  </dd>,
                ])}
              </dl>
              <FirstOf shown={mostTold} all={told.length} />
            </>
          )
        }}
      </Answered>
      {links.length > 0 && (
        <ul class="facts">
          {links.slice(0, mostLinks).map((link) => {
            const isOut = link.from === place
            const other = drawn.nodes[isOut ? link.to : link.from]
            return (
              <li key={`${link.from} ${link.to}`} class="free" dir="auto">
                {isOut ? '→ ' : '← '}
                <button type="button" class="link" onClick={() => onLink(link)}>
                  {relationsOf(shown, link)}
                </button>{' '}
                <button type="button" class="link" onClick={() => onNode(other?.id as string)}>
                  {cut(other?.name ?? '')}
                </button>
              </li>
            )
          })}
        </ul>
      )}
      <FirstOf shown={mostLinks} all={links.length} />
    </section>
  )
}
