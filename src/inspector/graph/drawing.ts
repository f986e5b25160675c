// A graph onto a canvas, and what lies under a place of it. Not WebGL: see docs/decisions.md.

import { cut } from './names.js'
import type { Drawn, Link } from './model.js'
import type { Palette } from './palette.js'

/** What of the graph is in the middle, and how many pixels one of its units takes. */
export interface Camera {
  readonly x: number
  readonly y: number
  readonly scale: number
}

export interface Scene {
  readonly drawn: Drawn
  readonly places: Float32Array
  /** By type. */
  readonly colours: ReadonlyMap<string, number>
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
  /** Whether there may be more of it than is shown. */
  readonly hasMore: (node: number) => boolean
  /** Whether places are still looked for: then what takes long waits. */
  readonly isMoving: boolean
  /** Of relations. */
  readonly nameOf: (link: Link) => string
}

/** What takes too long to be drawn in each frame is left out where there is much. */
const [mostLabels, mostMovingLabels, mostLinkLabels, mostArrows] = [90, 20, 60, 1500]

/** Some of many lines show as well as all of them where they go. */
const mostMovingLinks = 4000

export function radiusOf(degree: number): number {
  return 3.5 + Math.min(9, 1.6 * Math.sqrt(degree))
}

/** All but what a pointer is over. */
export function draw(context: CanvasRenderingContext2D, scene: Scene): void {
  const { palette, width, height } = scene
  context.fillStyle = palette.ground
  context.fillRect(0, 0, width, height)
  const view = viewOf(scene)
  drawLinks(context, scene, view)
  drawNodes(context, scene, view)
  if (!scene.isMoving) drawLinkNames(context, scene, view)
  drawNames(context, scene, view)
}

/** The node that a pointer is over, above all else. */
export function drawHovered(
  context: CanvasRenderingContext2D,
  scene: Scene,
  hovered: number | undefined,
): void {
  context.clearRect(0, 0, scene.width, scene.height)
  if (hovered === undefined) return
  const view = viewOf(scene)
  ring(context, [hovered], view, { colour: scene.palette.text, width: 1.5, gap: 2 })
  context.textAlign = 'start'
  context.textBaseline = 'middle'
  drawName(context, scene, view, hovered, true)
}

/** Where each node is on the screen, and how large. */
interface View {
  readonly x: Float32Array
  readonly y: Float32Array
  readonly radius: Float32Array
  readonly isSeen: (node: number) => boolean
}

const views = new WeakMap<Scene, View>()

function viewOf(scene: Scene): View {
  const view = views.get(scene) ?? viewNow(scene)
  views.set(scene, view)
  return view
}

function viewNow({ drawn, places, camera, width, height }: Scene): View {
  const size = drawn.nodes.length
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
    radius[at] = radiusOf(drawn.nodes[at]?.degree ?? 0) * grown
  }
  const isSeen = (at: number) => {
    const [left = NaN, top = NaN] = [x[at], y[at]]
    return left > -40 && left < width + 40 && top > -40 && top < height + 40
  }
  return { x, y, radius, isSeen }
}

function drawLinks(context: CanvasRenderingContext2D, scene: Scene, view: View): void {
  const { drawn, palette, selected, lit, selectedLink, isMoving } = scene
  const isStep = stepsOf(scene)
  const quiet: Link[] = []
  const loud: Link[] = []
  const dim: Link[] = []
  const every = isMoving ? Math.ceil(drawn.links.length / mostMovingLinks) : 1
  drawn.links.forEach((link, at) => {
    const { from, to } = link
    if (!view.isSeen(from) && !view.isSeen(to)) return
    if (at === selectedLink || from === selected || to === selected || isStep(link)) loud.push(link)
    else if (at % every > 0) return
    else if (lit !== undefined && !(lit.has(from) && lit.has(to))) dim.push(link)
    else quiet.push(link)
  })
  const withArrows = quiet.length + loud.length <= mostArrows
  const few = drawn.links.length < 400
  stroke(context, dim, view, palette.line, 0.6)
  stroke(context, quiet, view, palette.line, few ? 1.2 : 0.8)
  if (withArrows && !isMoving) arrows(context, quiet, view, palette.line, 5)
  stroke(context, loud, view, palette.accent, 1.8)
  arrows(context, loud, view, palette.accent, 7)
}

function stroke(
  context: CanvasRenderingContext2D,
  links: readonly Link[],
  { x, y, radius }: View,
  colour: string,
  width: number,
): void {
  if (links.length === 0) return
  context.strokeStyle = colour
  context.lineWidth = width
  context.beginPath()
  for (const { from, to } of links) {
    const [left = 0, top = 0, size = 0] = [x[from], y[from], radius[from]]
    if (from === to) {
      context.moveTo(left + size, top - 2 * size)
      context.arc(left, top - 2 * size, size, 0, 7)
      continue
    }
    context.moveTo(left, top)
    context.lineTo(x[to] as number, y[to] as number)
  }
  context.stroke()
}

function arrows(
  context: CanvasRenderingContext2D,
  links: readonly Link[],
  { x, y, radius }: View,
  colour: string,
  size: number,
): void {
  context.fillStyle = colour
  context.beginPath()
  for (const { from, to } of links) {
    const [dx, dy] = [
      (x[to] as number) - (x[from] as number),
      (y[to] as number) - (y[from] as number),
    ]
    const length = Math.hypot(dx, dy)
    const gap = (radius[to] as number) + 1.5
    if (from === to || length < gap + 2 * size) continue
    const [ux, uy] = [dx / length, dy / length]
    const [tipX, tipY] = [(x[to] as number) - ux * gap, (y[to] as number) - uy * gap]
    context.moveTo(tipX, tipY)
    context.lineTo(tipX - ux * size - (uy * size) / 2, tipY - uy * size + (ux * size) / 2)
    context.lineTo(tipX - ux * size + (uy * size) / 2, tipY - uy * size - (ux * size) / 2)
  }
  context.fill()
}

function drawNodes(context: CanvasRenderingContext2D, scene: Scene, view: View): void {
  const { drawn, colours, palette, lit, selected, path, hasMore } = scene
  const { x, y, radius, isSeen } = view
  const [bright, dim] = [new Map<number, number[]>(), new Map<number, number[]>()] as const
  const rings: number[] = []
  drawn.nodes.forEach(({ kind }, at) => {
    if (!isSeen(at)) return
    const layer = lit === undefined || lit.has(at) ? bright : dim
    const colour = colours.get(kind) ?? palette.kinds.length - 1
    const list = layer.get(colour) ?? []
    layer.set(colour, list)
    list.push(at)
    if (hasMore(at)) rings.push(at)
  })
  const fill = (layer: ReadonlyMap<number, readonly number[]>) => {
    for (const [colour, list] of layer) {
      context.fillStyle = palette.kinds[colour] ?? palette.text
      context.beginPath()
      for (const at of list) circle(context, x[at] as number, y[at] as number, radius[at] as number)
      context.fill()
    }
  }
  context.globalAlpha = 0.2
  fill(dim)
  context.globalAlpha = 1
  fill(bright)
  ring(context, rings, view, { colour: palette.quiet, width: 1, gap: 2.5 })
  ring(context, path, view, { colour: palette.accent, width: 2, gap: 2 })
  if (selected !== undefined) {
    ring(context, [selected], view, { colour: palette.accent, width: 3, gap: 3 })
  }
}

function ring(
  context: CanvasRenderingContext2D,
  nodes: readonly number[],
  { x, y, radius, isSeen }: View,
  { colour, width, gap }: { readonly colour: string; readonly width: number; readonly gap: number },
): void {
  context.strokeStyle = colour
  context.lineWidth = width
  context.beginPath()
  for (const at of nodes) {
    if (isSeen(at)) circle(context, x[at] as number, y[at] as number, (radius[at] as number) + gap)
  }
  context.stroke()
}

function circle(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  context.moveTo(x + radius, y)
  context.arc(x, y, radius, 0, 7)
}

/** Which nodes have their name told: those that somebody chose, then the most connected, where there is room. */
function namedNodes(scene: Scene, { x, y, radius, isSeen }: View): readonly number[] {
  const { drawn, selected, lit, path, isMoving } = scene
  const first = [selected, ...path].filter((at) => at !== undefined)
  const neighbours = new Set<number>()
  if (selected !== undefined && lit === undefined) {
    for (const { from, to } of drawn.links) {
      if (from === selected) neighbours.add(to)
      if (to === selected) neighbours.add(from)
    }
  }
  const rest = byDegree(drawn).filter((at) => isSeen(at) && (lit?.has(at) ?? true))
  const rows = new Map<number, (readonly [left: number, right: number])[]>()
  const named: number[] = []
  const most = isMoving ? mostMovingLabels : mostLabels
  for (const at of new Set([...first, ...neighbours, ...rest.slice(0, 12 * most)])) {
    if (named.length >= most) break
    if (!isSeen(at)) continue
    const wide = 6 + 6.5 * Math.min(28, drawn.nodes[at]?.name.length ?? 0)
    const left = nameStart(scene, x[at] as number, radius[at] as number, wide)
    const right = left + wide
    const row = Math.round((y[at] as number) / 9)
    const isTaken = [row - 1, row, row + 1].some((row) =>
      rows.get(row)?.some((other) => other[0] < right && left < other[1]),
    )
    if (isTaken && !first.includes(at)) continue
    rows.set(row, [...(rows.get(row) ?? []), [left, right]])
    named.push(at)
  }
  return named
}

/** Right of its node; where the picture ends before the name does, left of it, or as far right as it is whole. */
function nameStart({ width }: Scene, x: number, radius: number, wide: number): number {
  const [right, left] = [x + radius + 4, x - radius - 4 - wide]
  if (right + wide <= width || x > width) return right
  return left >= 0 ? left : Math.max(2, width - wide - 2)
}

const orders = new WeakMap<Drawn, readonly number[]>()

/** The most connected first. */
function byDegree(drawn: Drawn): readonly number[] {
  const known = orders.get(drawn)
  if (known !== undefined) return known
  const { nodes } = drawn
  const order = [...nodes.keys()].sort((a, b) => (nodes[b]?.degree ?? 0) - (nodes[a]?.degree ?? 0))
  orders.set(drawn, order)
  return order
}

function drawNames(context: CanvasRenderingContext2D, scene: Scene, view: View): void {
  context.textAlign = 'start'
  context.textBaseline = 'middle'
  for (const at of namedNodes(scene, view).toReversed()) {
    drawName(context, scene, view, at, at === scene.selected)
  }
}

function drawName(
  context: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  at: number,
  isFirst: boolean,
): void {
  const { drawn, palette } = scene
  context.font = `${isFirst ? '600 13px' : '12px'} ${palette.font}`
  const name = cut(drawn.nodes[at]?.name ?? '', isFirst ? 60 : 28)
  const wide = context.measureText(name).width
  const x = nameStart(scene, view.x[at] as number, view.radius[at] as number, wide)
  haloed(context, name, x, view.y[at] as number, palette.text, palette.ground)
}

function drawLinkNames(context: CanvasRenderingContext2D, scene: Scene, view: View): void {
  const { drawn, palette, selected, selectedLink, nameOf, camera } = scene
  const isStep = stepsOf(scene)
  const wanted = drawn.links.filter(
    (link, at) =>
      at === selectedLink || link.from === selected || link.to === selected || isStep(link),
  )
  const seen = drawn.links.filter(({ from, to }) => view.isSeen(from) && view.isSeen(to))
  // All of them where one can read them, else those that somebody chose.
  const shown = seen.length <= mostLinkLabels && camera.scale > 0.7 ? seen : wanted
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.font = `11px ${palette.font}`
  for (const link of shown.slice(0, mostLinkLabels)) {
    const { from, to } = link
    const [dx, dy] = [
      (view.x[to] as number) - (view.x[from] as number),
      (view.y[to] as number) - (view.y[from] as number),
    ]
    if (from !== to && Math.hypot(dx, dy) < 45) continue
    // Nearer to where it begins, so that what is said of both ends does not lie on itself.
    const [x, y] = [(view.x[from] as number) + dx * 0.45, (view.y[from] as number) + dy * 0.45]
    const top = from === to ? y - 3 * (view.radius[from] as number) : y
    haloed(context, cut(nameOf(link), 24), x, top, palette.quiet, palette.ground)
  }
}

function haloed(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  colour: string,
  ground: string,
): void {
  context.lineJoin = 'round'
  context.lineWidth = 3
  context.strokeStyle = ground
  context.strokeText(text, x, y)
  context.fillStyle = colour
  context.fillText(text, x, y)
}

/** Which links the path goes by, whichever way they lead. */
function stepsOf({ path }: Scene): (link: Link) => boolean {
  if (path.length === 0) return () => false
  const next = new Map(path.map((at, step) => [at, path[step + 1]]))
  return ({ from, to }) => next.get(from) === to || next.get(to) === from
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
  scene.drawn.links.forEach(({ from, to }, at) => {
    const [ax, ay] = [x[from] as number, y[from] as number]
    const [dx, dy] = [(x[to] as number) - ax, (y[to] as number) - ay]
    const along = ((left - ax) * dx + (top - ay) * dy) / (dx * dx + dy * dy || 1)
    const near = Math.min(1, Math.max(0, along))
    const distance = Math.hypot(ax + near * dx - left, ay + near * dy - top)
    if (distance < least) {
      least = distance
      best = at
    }
  })
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
