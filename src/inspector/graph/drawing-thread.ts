// The canvas of a graph, as a thread draws on it.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Scene } from './scene.js'
import type { Sketch } from './sketch.js'

/** How one sees it just now. */
export type Shot = Omit<Scene, 'sketch'> & {
  /** Pixels of the screen for each of CSS. */
  readonly density: number
}

/** What the thread is told. It answers `still` where it has drawn what does not move any more. */
export type DrawingOrder =
  | { readonly type: 'canvas'; readonly canvas: OffscreenCanvas }
  /** With the sketch where it is another one than before. */
  | { readonly type: 'shot'; readonly sketch: Sketch | undefined; readonly shot: Shot }

/** The file of the thread, beside this one: scripts/inspector.js makes it, and knows its name. */
declare const DRAWING_FILE: string

/** @returns whether all of it is drawn, and nothing moves */
export function useDrawing(
  canvas: { readonly current: HTMLCanvasElement | null },
  scene: Scene,
): boolean {
  const worker = useRef<Worker | undefined>(undefined)
  const told = useRef<Sketch | undefined>(undefined)
  const latest = useRef(scene)
  latest.current = scene
  const [isStill, setIsStill] = useState(false)
  useEffect(() => {
    const started = new Worker(new URL(DRAWING_FILE, import.meta.url), { type: 'module' })
    started.onmessage = () => setIsStill(!latest.current.isMoving)
    const offscreen = canvas.current?.transferControlToOffscreen()
    if (offscreen !== undefined) tell(started, { type: 'canvas', canvas: offscreen }, [offscreen])
    worker.current = started
    return () => started.terminate()
  }, [])
  useFrame(() => {
    const { sketch, ...shot } = latest.current
    const isNew = told.current !== sketch
    told.current = sketch
    tell(worker.current, {
      type: 'shot',
      sketch: isNew ? sketch : undefined,
      shot: { ...shot, density: densityNow() },
    })
  }, [scene])
  return isStill && !scene.isMoving
}

export function densityNow(): number {
  return Math.min(2, devicePixelRatio)
}

function tell(
  worker: Worker | undefined,
  order: DrawingOrder,
  transfer: Transferable[] = [],
): void {
  worker?.postMessage(order, transfer)
}

/** Once in a frame at the most. */
export function useFrame(work: () => void, keys: readonly unknown[]): void {
  const latest = useRef(work)
  latest.current = work
  const frame = useRef<number | undefined>(undefined)
  useEffect(() => {
    frame.current ??= requestAnimationFrame(() => {
      frame.current = undefined
      latest.current()
    })
  }, keys)
  useEffect(
    () => () => {
      if (frame.current !== undefined) cancelAnimationFrame(frame.current)
    },
    [],
  )
}
