// Places of nodes, as a thread finds them.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Drawn } from './model.js'

/** What the thread is told. Places are x and y of each node in turn, NaN where it has none yet; links are two nodes each. */
export type Order =
  | {
      readonly type: 'begin'
      readonly turn: number
      readonly places: Float32Array
      readonly links: Uint32Array
    }
  | { readonly type: 'move'; readonly node: number; readonly x: number; readonly y: number }

/** What it tells. */
export interface Places {
  readonly turn: number
  readonly places: Float32Array
  readonly isDone: boolean
}

/** The file of the thread, beside this one: scripts/inspector.js makes it, and knows its name. */
declare const LAYOUT_FILE: string

export interface Layout {
  /** x and y of each node in turn; empty before any are known. Changed where somebody moves a node. */
  readonly places: Float32Array
  readonly isDone: boolean
  readonly move: (node: number, x: number, y: number) => void
}

/** @param links two nodes for each */
export function useLayout(drawn: Drawn, links: Uint32Array): Layout {
  const worker = useRef<Worker | undefined>(undefined)
  const turn = useRef(0)
  const known = useRef(new Map<string, readonly [number, number]>())
  const [state, setState] = useState<Omit<Layout, 'move'>>({
    places: new Float32Array(),
    isDone: false,
  })
  const latest = useRef(drawn)
  useEffect(() => {
    const started = new Worker(new URL(LAYOUT_FILE, import.meta.url), { type: 'module' })
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
    started.onmessage = ({ data }: MessageEvent<Places>) => {
      if (data.turn !== turn.current || (isCalm && !data.isDone)) return
      latest.current.nodes.forEach(({ id }, at) => {
        known.current.set(id, [data.places[2 * at] as number, data.places[2 * at + 1] as number])
      })
      setState(data)
    }
    worker.current = started
    return () => started.terminate()
  }, [])
  useEffect(() => {
    latest.current = drawn
    const places = new Float32Array(2 * drawn.nodes.length)
    drawn.nodes.forEach(({ id }, at) => {
      const [x, y] = known.current.get(id) ?? [NaN, NaN]
      places[2 * at] = x
      places[2 * at + 1] = y
    })
    turn.current++
    // What has no place yet is not drawn: NaN.
    setState({ places, isDone: drawn.nodes.length === 0 })
    tell(worker.current, { type: 'begin', turn: turn.current, places, links })
  }, [drawn])
  const move = useRef((node: number, x: number, y: number) => {
    const moved = latest.current.nodes[node]
    if (moved !== undefined) known.current.set(moved.id, [x, y])
    tell(worker.current, { type: 'move', node, x, y })
  }).current
  return { ...state, move }
}

function tell(worker: Worker | undefined, order: Order): void {
  worker?.postMessage(order)
}
