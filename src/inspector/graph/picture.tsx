// A graph as it is drawn, wherever it stands: beside tables that say the same, or beside an answer.

import { useMemo, useRef } from 'preact/hooks'
import { texts } from '../texts.js'
import { Canvas } from './canvas.js'
import { useLayout } from './layout.js'
import type { Drawn, Link, Shown } from './model.js'
import { usePalette } from './palette.js'
import type { Scene } from './scene.js'
import { nameOf, sketchOf } from './sketch.js'

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
  const sketch = useMemo(() => sketchOf(drawn, shown), [drawn, shown])
  const layout = useLayout(drawn, sketch.ends)
  const link = drawn.links.findIndex(
    ({ from, to }) => from === selectedLink?.from && to === selectedLink.to,
  )
  const scene = {
    sketch,
    palette,
    lit,
    path,
    selected: selected === undefined ? undefined : drawn.places.get(selected),
    selectedLink: link < 0 ? undefined : link,
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

/** What is said by a link. */
export function relationsOf(shown: Shown, { triples }: Link): string {
  return [...new Set(triples.map(({ p }) => nameOf(shown, p.v)))].join(', ')
}
