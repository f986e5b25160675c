// A graph to walk in: its picture, what its colours mean, what is chosen, and tables of the same.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { RemoteGraph } from '../../client/index.js'
import { useDoing } from '../asking.js'
import { Field } from '../parts/controls.js'
import { Empty, Failure } from '../parts/states.js'
import { texts } from '../texts.js'
import { Details } from './details.js'
import { Files } from './file-menu.js'
import { Legend } from './legend.js'
import {
  drawnOf,
  isLink,
  isOfTexts,
  linkBetween,
  pathBetween,
  triplesOf,
  type Filter,
  type Link,
  type Shown,
} from './model.js'
import { Picture, type StillScene } from './picture.js'
import { expand } from './reading.js'
import { hasMore, nameOf } from './sketch.js'
import { Tables } from './tables.js'

interface ExplorerProps {
  /** What is shown at first: another one needs another key. */
  readonly initial: Shown
  readonly graph: RemoteGraph
  /** What files of it are called, without their ending. */
  readonly fileName: string
  readonly empty: { readonly title: string; readonly hint: string }
}

/** The two things of a link, from and to, by id. */
type Joined = readonly [string, string]

export function Explorer({ initial, graph, fileName, empty }: ExplorerProps) {
  const [shown, setShown] = useState(initial)
  const [hidden, setHidden] = useState<Filter>(() => hiddenAtFirst(initial))
  const [selected, setSelected] = useState<string>()
  const [joined, setJoined] = useState<Joined>()
  const [sought, setSought] = useState('')
  const [start, setStart] = useState<string>()
  const [path, setPath] = useState<readonly string[]>()
  const { isBusy, error, start: begin } = useDoing()
  const scene = useRef<StillScene | undefined>(undefined)
  const parts = useParts(3)
  const drawn = useMemo(() => drawnOf(shown, hidden), [shown, hidden])
  // Places are of one picture, and the next has others.
  const link = useMemo(() => joined && linkBetween(drawn, ...joined), [drawn, joined])
  const found = useMemo(() => placesOf(drawn.nodes, sought), [drawn, sought])
  const way = path?.map((id) => drawn.places.get(id) ?? -1).filter((at) => at >= 0) ?? []

  const choose = (id: string | undefined) => {
    setJoined(undefined)
    setSelected(id)
    if (start === undefined || id === undefined || id === start) return
    const [from, to] = [drawn.places.get(start), drawn.places.get(id)]
    if (from === undefined || to === undefined) return
    setPath(pathBetween(drawn, from, to).map((at) => drawn.nodes[at]?.id as string))
    setStart(undefined)
  }
  const chooseLink = ({ from, to }: Link) => {
    setSelected(undefined)
    setJoined([drawn.nodes[from]?.id as string, drawn.nodes[to]?.id as string])
  }
  const toggle = (id: string) =>
    begin(async () => {
      if (hasMore(shown, id)) setShown(await expand(graph, shown, id))
      else setShown({ ...shown, collapsed: new Set([...shown.collapsed, id]) })
    })
  if (initial.triples.length === 0) return <Empty {...empty} />
  return (
    <div class="explorer">
      {drawn.all > drawn.nodes.length && (
        <p class="note" role="status">
          {texts.graph.most(drawn.nodes.length, drawn.all)}
        </p>
      )}
      <div class="explored">
        <Picture
          drawn={drawn}
          shown={shown}
          selected={selected}
          selectedLink={link}
          lit={way.length > 0 ? new Set(way) : found}
          path={way}
          onNode={choose}
          onLink={chooseLink}
          onToggle={toggle}
          scene={scene}
        />
        <div class="about">
          <Field
            label={texts.graph.find}
            value={sought}
            onInput={setSought}
            onEnter={() => {
              const [first] = found ?? []
              if (first !== undefined) choose(drawn.nodes[first]?.id)
            }}
            hint={sought === '' ? texts.graph.findHint : texts.graph.foundSome(found?.size ?? 0)}
          />
          {start !== undefined && (
            <p class="note" role="status">
              {texts.graph.pathFrom(nameOf(shown, start))}{' '}
              <button type="button" class="small" onClick={() => setStart(undefined)}>
                {texts.cancel}
              </button>
            </p>
          )}
          {path !== undefined && (
            <div class="note" role="status">
              {path.length === 0 ? (
                texts.graph.noPath
              ) : (
                <ol class="path">
                  {path.map((id) => (
                    <li key={id} class="free" dir="auto">
                      {nameOf(shown, id)}
                    </li>
                  ))}
                </ol>
              )}
              <button type="button" class="small" onClick={() => setPath(undefined)}>
                {texts.dismiss}
              </button>
            </div>
          )}
          {error !== undefined && <Failure error={error} />}
          <Details
            graph={graph}
            shown={shown}
            drawn={drawn}
            selected={selected}
            link={link}
            isBusy={isBusy}
            onNode={choose}
            onLink={chooseLink}
            onToggle={toggle}
            onPath={(id) => {
              setPath(undefined)
              setStart(id)
            }}
          />
          {parts > 1 && <Legend shown={shown} drawn={drawn} hidden={hidden} onChange={setHidden} />}
        </div>
      </div>
      {parts > 2 && (
        <Tables
          drawn={drawn}
          shown={shown}
          found={found}
          onNode={choose}
          onLink={chooseLink}
          onToggle={toggle}
        >
          <Files fileName={fileName} scene={scene} triples={() => triplesOf(drawn, shown)} />
        </Tables>
      )}
    </div>
  )
}

/** How many of the parts are there: one more with each frame, so that none of them is held up for long. */
function useParts(all: number): number {
  const [parts, setParts] = useState(1)
  useEffect(() => {
    if (parts < all) setParts(parts + 1)
  }, [parts])
  return parts
}

/** Where things were said is left out at first, if there is anything else. */
function hiddenAtFirst({ triples, kinds }: Shown): Filter {
  const isThing = triples.some(
    (triple) =>
      isLink(triple) && !isOfTexts(kinds.get(triple.s.v)) && !isOfTexts(kinds.get(triple.o.v)),
  )
  const texts = [...new Set(kinds.values())].filter(isOfTexts)
  return { kinds: new Set(isThing ? texts : []), relations: new Set() }
}

function placesOf(nodes: readonly { readonly name: string; readonly id: string }[], text: string) {
  const sought = text.trim().toLowerCase()
  if (sought === '') return undefined
  const places = new Set<number>()
  nodes.forEach(({ name, id }, at) => {
    const isIt = name.slice(0, 1000).toLowerCase().includes(sought) || id === text.trim()
    if (isIt) places.add(at)
  })
  return places
}
