// The picture of a graph, to be moved, enlarged and pointed at. All that it shows and does is in the tables, too.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { texts } from '../texts.js'
import { densityNow, useDrawing, useFrame } from './drawing-thread.js'
import { drawHovered } from './drawing.js'
import type { Layout } from './layout.js'
import { fitted, linkAt, nodeAt, type Camera, type Scene } from './scene.js'

interface CanvasProps {
  readonly scene: Omit<Scene, 'camera' | 'width' | 'height' | 'places' | 'isMoving'>
  readonly layout: Layout
  readonly label: string
  readonly onNode: (node: number | undefined) => void
  readonly onLink: (link: number) => void
  /** Two clicks, or Enter. */
  readonly onToggle: (node: number) => void
}

const [least, most] = [0.02, 8]

export function Canvas({ scene: given, layout, label, onNode, onLink, onToggle }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const above = useRef<HTMLCanvasElement>(null)
  const size = useSize(canvas)
  // Until somebody moves it, the camera sees everything.
  const [moved, setMoved] = useState<Camera>()
  const [hovered, setHovered] = useState<number>()
  const { places, isDone } = layout
  const scene = useMemo((): Scene => {
    const camera = moved ?? fitted(places, size.width, size.height)
    return { ...given, places, isMoving: !isDone, ...size, camera }
  }, [given, places, isDone, size, moved])
  const latest = useRef(scene)
  latest.current = scene
  const isDrawn = useDrawing(canvas, scene)
  // In a picture of its own: pointing does not draw thousands of lines anew.
  useFrame(() => paintHovered(above.current, latest.current, hovered), [scene, hovered])

  const zoom = (factor: number, x = size.width / 2, y = size.height / 2) =>
    setMoved(() => {
      const { camera, width, height } = latest.current
      const scale = Math.min(most, Math.max(least, camera.scale * factor))
      const shift = 1 / camera.scale - 1 / scale
      return {
        x: camera.x + (x - width / 2) * shift,
        y: camera.y + (y - height / 2) * shift,
        scale,
      }
    })
  const pan = (dx: number, dy: number) =>
    setMoved(() => {
      const { camera } = latest.current
      return { ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale }
    })
  const place = ({ clientX, clientY }: MouseEvent): readonly [number, number] => {
    const { left = 0, top = 0 } = canvas.current?.getBoundingClientRect() ?? {}
    return [clientX - left, clientY - top]
  }
  usePointers(canvas, { latest, place, pan, zoom, layout, onNode, onLink, setHovered })
  useWheel(canvas, (event) => {
    // A page that is scrolled past it goes on: it has to be chosen first, or a key held.
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas.current) return
    event.preventDefault()
    zoom(Math.exp(-event.deltaY / 400), ...place(event))
  })
  const press = (event: KeyboardEvent) => {
    const { selected } = latest.current
    const act = {
      ArrowLeft: () => pan(60, 0),
      ArrowRight: () => pan(-60, 0),
      ArrowUp: () => pan(0, 60),
      ArrowDown: () => pan(0, -60),
      '+': () => zoom(1.3),
      '-': () => zoom(1 / 1.3),
      '0': () => setMoved(undefined),
      Enter: () => selected !== undefined && onToggle(selected),
      Escape: () => onNode(undefined),
    }[event.key]
    if (act === undefined || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    act()
  }
  return (
    <div class="graph-canvas">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={label}
        aria-keyshortcuts="Enter + - 0"
        class={hovered === undefined ? undefined : 'pointing'}
        data-done={isDrawn ? '' : undefined}
        onKeyDown={press}
        onDblClick={(event) => {
          const node = nodeAt(latest.current, ...place(event))
          if (node !== undefined) onToggle(node)
        }}
      />
      <canvas ref={above} class="above" aria-hidden="true" />
      <div class="zoom">
        <button type="button" aria-label={texts.graph.nearer} onClick={() => zoom(1.4)}>
          +
        </button>
        <button type="button" aria-label={texts.graph.farther} onClick={() => zoom(1 / 1.4)}>
          −
        </button>
        <button type="button" onClick={() => setMoved(undefined)}>
          {texts.graph.fit}
        </button>
      </div>
    </div>
  )
}

function paintHovered(
  canvas: HTMLCanvasElement | null,
  scene: Scene,
  hovered: number | undefined,
): void {
  const context = canvas?.getContext('2d')
  if (canvas === null || context === null || context === undefined) return
  const density = densityNow()
  const [width, height] = [Math.round(scene.width * density), Math.round(scene.height * density)]
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width
    canvas.height = height
  }
  context.setTransform(density, 0, 0, density, 0, 0)
  drawHovered(context, scene, hovered)
}

function useSize(element: { readonly current: HTMLElement | null }) {
  const [size, setSize] = useState({ width: 0, height: 0 })
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return
      const { width, height } = entry.contentRect
      setSize({ width, height })
    })
    if (element.current !== null) observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return size
}

/** Not by preact: what may keep the page from scrolling has to say so. */
function useWheel(
  element: { readonly current: HTMLElement | null },
  turn: (event: WheelEvent) => void,
): void {
  const latest = useRef(turn)
  latest.current = turn
  useEffect(() => {
    const follow = (event: WheelEvent) => latest.current(event)
    element.current?.addEventListener('wheel', follow, { passive: false })
    return () => element.current?.removeEventListener('wheel', follow)
  }, [])
}

interface Pointing {
  readonly latest: { readonly current: Scene }
  readonly place: (event: MouseEvent) => readonly [number, number]
  readonly pan: (dx: number, dy: number) => void
  readonly zoom: (factor: number, x: number, y: number) => void
  readonly layout: Layout
  readonly onNode: (node: number | undefined) => void
  readonly onLink: (link: number) => void
  readonly setHovered: (node: number | undefined) => void
}

/** One pointer moves a node, or everything; two make it larger or smaller. */
function usePointers(element: { readonly current: HTMLCanvasElement | null }, given: Pointing) {
  const latest = useRef(given)
  latest.current = given
  useEffect(() => {
    const canvas = element.current
    if (canvas === null) return
    const down = new Map<number, readonly [number, number]>()
    let held: number | undefined
    let isMoved = false
    const spread = () => {
      const [[ax, ay] = [0, 0], [bx, by] = [0, 0]] = [...down.values()]
      return Math.hypot(ax - bx, ay - by)
    }
    const listeners = {
      pointerdown(event: PointerEvent) {
        const at = latest.current.place(event)
        down.set(event.pointerId, at)
        canvas.setPointerCapture(event.pointerId)
        held = nodeAt(latest.current.latest.current, ...at)
        isMoved = down.size > 1
      },
      pointermove(event: PointerEvent) {
        const { latest: scene, place, pan, zoom, layout, setHovered } = latest.current
        const at = place(event)
        const before = down.get(event.pointerId)
        if (before === undefined) {
          setHovered(nodeAt(scene.current, ...at))
          return
        }
        const [dx, dy] = [at[0] - before[0], at[1] - before[1]]
        if (!isMoved && Math.hypot(dx, dy) < 4) return
        isMoved = true
        const wide = spread()
        down.set(event.pointerId, at)
        if (down.size === 2 && wide > 0) zoom(spread() / wide, ...at)
        else if (held === undefined) pan(dx, dy)
        else {
          const { camera, width, height, places } = scene.current
          const x = (at[0] - width / 2) / camera.scale + camera.x
          const y = (at[1] - height / 2) / camera.scale + camera.y
          places.set([x, y], 2 * held)
          layout.move(held, x, y)
          pan(0, 0)
        }
      },
      pointerup(event: PointerEvent) {
        down.delete(event.pointerId)
        if (isMoved) return
        const { latest: scene, place, onNode, onLink } = latest.current
        const at = place(event)
        const node = nodeAt(scene.current, ...at)
        const link = node === undefined ? linkAt(scene.current, ...at) : undefined
        if (link === undefined) onNode(node)
        else onLink(link)
      },
      pointercancel: (event: PointerEvent) => void down.delete(event.pointerId),
      pointerleave: () => latest.current.setHovered(undefined),
    }
    for (const [name, listener] of Object.entries(listeners)) {
      canvas.addEventListener(name as 'pointerdown', listener as (event: PointerEvent) => void)
    }
  }, [])
}
