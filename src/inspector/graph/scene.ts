// What is to be seen of a graph, and what lies under a place of it.

import type { Palette } from './palette.js'
import type { Sketch } from './sketch.js'

/** What of the graph is in the middle, and how many pixels one of its units takes. */
export interface Camera {
  readonly x: number
  readonly y: number
  readonly scale: number
}

export interface Scene {
  readonly sketch: Sketch
  /** x and y of each node in turn. */
  readonly places: Float32Array
  readonly palette: Palette
  readonly camera: Camera
  /** In CSS pixels. */
  readonly width: number
  readonly height: number
  /** A node. */
  readonly selected: number | undefined
  /** A link. */
  readonly selectedLink: number | undefined
  /** Those that stand out, where that is not everything. */
  readonly lit: ReadonlySet<number> | undefined
  /** Nodes of a way from one to another, in its order. */
  readonly path: readonly number[]
  /** Whether places are still looked for: then what takes long waits. */
  readonly isMoving: boolean
}

export function radiusOf(degree: number): number {
  return 3.5 + Math.min(9, 1.6 * Math.sqrt(degree))
}

/** Where each node is on the screen, and how large. */
export interface View {
  readonly x: Float32Array
  readonly y: Float32Array
  readonly radius: Float32Array
  readonly isSeen: (node: number) => boolean
}

const views = new WeakMap<Scene, View>()

export function viewOf(scene: Scene): View {
  const view = views.get(scene) ?? viewNow(scene)
  views.set(scene, view)
  return view
}

function viewNow({ sketch, places, camera, width, height }: Scene): View {
  const size = sketch.names.length
  const [x, y, radius] = [
    new Float32Array(size),
    new Float32Array(size),
    new Float32Array(size),
  ] as const
  // Nodes grow more slowly than what is between them.
  const grown = Math.min(2, Math.max(0.35, Math.sqrt(camera.scale)))
  for (let at = 0; at < size; at++) {
    x[at] = ((places[2 * at] as number) - camera.x) * camera.scale + width / 2
    y[at] = ((places[2 * at + 1] as number) - camera.y) * camera.scale + height / 2
    radius[at] = radiusOf(sketch.degrees[at] as number) * grown
  }
  const isSeen = (at: number) => {
    const [left = NaN, top = NaN] = [x[at], y[at]]
    return left > -40 && left < width + 40 && top > -40 && top < height + 40
  }
  return { x, y, radius, isSeen }
}

/** The node under a place of the screen. */
export function nodeAt(scene: Scene, left: number, top: number): number | undefined {
  const { x, y, radius } = viewOf(scene)
  let best: number | undefined
  let least = Infinity
  for (let at = 0; at < x.length; at++) {
    const distance = Math.hypot((x[at] as number) - left, (y[at] as number) - top)
    if (distance < Math.max(8, (radius[at] as number) + 3) && distance < least) {
      least = distance
      best = at
    }
  }
  return best
}

/** The link under it. */
export function linkAt(scene: Scene, left: number, top: number): number | undefined {
  const { x, y } = viewOf(scene)
  let best: number | undefined
  let least = 6
  const { ends } = scene.sketch
  for (let at = 0; 2 * at < ends.length; at++) {
    const [from, to] = [ends[2 * at] as number, ends[2 * at + 1] as number]
    const [ax, ay] = [x[from] as number, y[from] as number]
    const [dx, dy] = [(x[to] as number) - ax, (y[to] as number) - ay]
    const along = ((left - ax) * dx + (top - ay) * dy) / (dx * dx + dy * dy || 1)
    const near = Math.min(1, Math.max(0, along))
    const distance = Math.hypot(ax + near * dx - left, ay + near * dy - top)
    if (distance < least) {
      least = distance
      best = at
    }
  }
  return best
}

/** A camera that sees all of it. */
export function fitted(places: Float32Array, width: number, height: number): Camera {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity]
  for (let at = 0; at < places.length; at += 2) {
    const [x, y] = [places[at] as number, places[at + 1] as number]
    if (Number.isNaN(x)) continue
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  if (left > right) return { x: 0, y: 0, scale: 1 }
  // Less where there is little: a small picture is not to be of its edges.
  const room = Math.min(48, 0.06 * Math.min(width, height))
  // Names stand to the right of their nodes.
  const nameRoom = Math.min(60, 0.2 * width)
  const scale = Math.min(
    1.6,
    Math.max(width - 2 * room - nameRoom, 40) / Math.max(right - left, 1),
    Math.max(height - 2 * room, 40) / Math.max(bottom - top, 1),
  )
  return { x: (left + right) / 2 + nameRoom / 2 / scale, y: (top + bottom) / 2, scale }
}
