// A graph as it is drawn, wherever it stands: beside tables that say the same, or beside an answer.

import { useMemo, useRef } from 'preact/hooks'
import { texts } from '../texts.js'
import { Canvas } from './canvas.js'
import type { Scene } from './drawing.js'
import { useLayout } from './layout.js'
import type { Drawn, Link, Shown } from './model.js'
import { cut, shortened } from './names.js'
import { colourOf, usePalette } from './palette.js'

export type StillScene = Omit<Scene, 'camera' | 'width' | 'height' | 'isMoving'>

interface PictureProps {
  readonly drawn: Drawn
  readonly shown: Shown
  readonly selected?: string | undefined
  readonly selectedLink?: Link | undefined
  readonly lit?: ReadonlySet<number> | undefined
  readonly path?: readonly number[]
  readonly onNode: (id: string | undefined) => void
  readonly onLink: (link: Link) => void
  readonly onToggle: (id: string) => void
  /** What is drawn just now, for files. */
  readonly scene?: { current: StillScene | undefined }
}

export function Picture(props: PictureProps) {
  const { drawn, shown, selected, selectedLink, lit, path = [], onNode, onLink, onToggle } = props
  const palette = usePalette()
  const layout = useLayout(drawn)
  const colours = useMemo(() => colourOf(drawn.nodes), [drawn])
  const link = drawn.links.findIndex(
    ({ from, to }) => from === selectedLink?.from && to === selectedLink.to,
  )
  const scene = {
    drawn,
    colours,
    palette,
    lit,
    path,
    selected: selected === undefined ? undefined : drawn.places.get(selected),
    selectedLink: link < 0 ? undefined : link,
    hasMore: (node: number) => hasMore(shown, drawn.nodes[node]?.id ?? ''),
    nameOf: (link: Link) => relationsOf(shown, link),
  }
  const still = useRef<StillScene | undefined>(undefined)
  still.current = { ...scene, places: layout.places }
  if (props.scene !== undefined) props.scene.current = still.current
  const idOf = (node: number) => drawn.nodes[node]?.id as string
  return (
    <Canvas
      scene={scene}
      layout={layout}
      label={texts.graph.picture(drawn.nodes.length, drawn.links.length)}
      onNode={(node) => onNode(node === undefined ? undefined : idOf(node))}
      onLink={(at) => onLink(drawn.links[at] as Link)}
      onToggle={(node) => onToggle(idOf(node))}
    />
  )
}

/** Whether there are neighbours that are not shown, or may be. */
export function hasMore({ expanded, collapsed }: Shown, id: string): boolean {
  return collapsed.has(id) || (expanded !== true && !expanded.has(id))
}

export function nameOf({ names }: Shown, id: string): string {
  return cut(names.get(id) ?? shortened(id))
}

/** What is said by a link. */
export function relationsOf(shown: Shown, { triples }: Link): string {
  return [...new Set(triples.map(({ p }) => nameOf(shown, p.v)))].join(', ')
}
