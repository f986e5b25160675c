// A graph onto a canvas. Not WebGL: see docs/decisions.md.

import { cut } from './names.js'
import { viewOf, type Scene, type View } from './scene.js'
import type { Sketch } from './sketch.js'

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D

/** What takes too long to be drawn in each frame is left out where there is much. */
const [mostLabels, mostMovingLabels, mostLinkLabels, mostArrows] = [90, 20, 60, 1500]

/** Some of many lines show as well as all of them where they go. */
const mostMovingLinks = 4000

/** All but what a pointer is over. */
export function draw(context: Context, scene: Scene): void {
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
export function drawHovered(context: Context, scene: Scene, hovered: number | undefined): void {
  context.clearRect(0, 0, scene.width, scene.height)
  if (hovered === undefined) return
  const view = viewOf(scene)
  ring(context, [hovered], view, { colour: scene.palette.text, width: 1.5, gap: 2 })
  context.textAlign = 'start'
  context.textBaseline = 'middle'
  drawName(context, scene, view, hovered, true)
}

function drawLinks(context: Context, scene: Scene, view: View): void {
  const { sketch, palette, selected, lit, selectedLink, isMoving } = scene
  const { ends } = sketch
  const isStep = stepsOf(scene)
  const quiet: number[] = []
  const loud: number[] = []
  const dim: number[] = []
  const size = ends.length / 2
  const every = isMoving ? Math.ceil(size / mostMovingLinks) : 1
  for (let at = 0; at < size; at++) {
    const [from, to] = [ends[2 * at] as number, ends[2 * at + 1] as number]
    if (!view.isSeen(from) && !view.isSeen(to)) continue
    if (at === selectedLink || from === selected || to === selected || isStep(from, to)) {
      loud.push(at)
    } else if (at % every > 0) continue
    else if (lit !== undefined && !(lit.has(from) && lit.has(to))) dim.push(at)
    else quiet.push(at)
  }
  const withArrows = quiet.length + loud.length <= mostArrows
  const few = size < 400
  const pen = { ends, view }
  stroke(context, dim, pen, palette.line, 0.6)
  stroke(context, quiet, pen, palette.line, few ? 1.2 : 0.8)
  if (withArrows && !isMoving) arrows(context, quiet, pen, palette.line, 5)
  stroke(context, loud, pen, palette.accent, 1.8)
  arrows(context, loud, pen, palette.accent, 7)
}

interface Lines {
  readonly ends: Uint32Array
  readonly view: View
}

function stroke(
  context: Context,
  links: readonly number[],
  { ends, view: { x, y, radius } }: Lines,
  colour: string,
  width: number,
): void {
  if (links.length === 0) return
  context.strokeStyle = colour
  context.lineWidth = width
  context.beginPath()
  for (const link of links) {
    const [from, to] = [ends[2 * link] as number, ends[2 * link + 1] as number]
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
  context: Context,
  links: readonly number[],
  { ends, view: { x, y, radius } }: Lines,
  colour: string,
  size: number,
): void {
  context.fillStyle = colour
  context.beginPath()
  for (const link of links) {
    const [from, to] = [ends[2 * link] as number, ends[2 * link + 1] as number]
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

function drawNodes(context: Context, scene: Scene, view: View): void {
  const { sketch, palette, lit, selected, path } = scene
  const { x, y, radius, isSeen } = view
  const [bright, dim] = [new Map<number, number[]>(), new Map<number, number[]>()] as const
  const rings: number[] = []
  sketch.colours.forEach((colour, at) => {
    if (!isSeen(at)) return
    const layer = lit === undefined || lit.has(at) ? bright : dim
    const list = layer.get(colour) ?? []
    layer.set(colour, list)
    list.push(at)
    if (sketch.more[at] === 1) rings.push(at)
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
  context: Context,
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

function circle(context: Context, x: number, y: number, radius: number): void {
  context.moveTo(x + radius, y)
  context.arc(x, y, radius, 0, 7)
}

/** Which nodes have their name told: those that somebody chose, then the most connected, where there is room. */
function namedNodes(
  context: Context,
  scene: Scene,
  { x, y, radius, isSeen }: View,
): readonly number[] {
  const { sketch, selected, lit, path, isMoving } = scene
  const first = [selected, ...path].filter((at) => at !== undefined)
  const neighbours = new Set<number>()
  if (selected !== undefined && lit === undefined) {
    const { ends } = sketch
    for (let at = 0; at < ends.length; at += 2) {
      const [from, to] = [ends[at] as number, ends[at + 1] as number]
      if (from === selected) neighbours.add(to)
      if (to === selected) neighbours.add(from)
    }
  }
  const rest = byDegree(sketch).filter((at) => isSeen(at) && (lit?.has(at) ?? true))
  const rows = new Map<number, (readonly [left: number, right: number, y: number])[]>()
  const named: number[] = []
  const most = isMoving ? mostMovingLabels : mostLabels
  for (const at of new Set([...first, ...neighbours, ...rest.slice(0, 12 * most)])) {
    if (named.length >= most) break
    if (!isSeen(at)) continue
    const wide = widthOf(context, scene, at)
    const left = nameStart(scene, x[at] as number, radius[at] as number, wide)
    const right = left + wide
    const middle = y[at] as number
    const row = Math.floor(middle / nameHeight)
    const isTaken = [row - 1, row, row + 1].some((row) =>
      rows
        .get(row)
        ?.some(
          (other) =>
            other[0] < right && left < other[1] && Math.abs(middle - other[2]) < nameHeight,
        ),
    )
    if (isTaken && !first.includes(at)) continue
    rows.set(row, [...(rows.get(row) ?? []), [left, right, middle]])
    named.push(at)
  }
  return named
}

/** Of one line of a name with what is around it, in pixels. */
const nameHeight = 16

const widths = new WeakMap<Sketch, Map<number, number>>()

/** Of a node's name, in pixels. Measured once: hundreds are looked at for each frame. */
function widthOf(context: Context, { sketch, palette }: Scene, at: number): number {
  const known = widths.get(sketch) ?? new Map<number, number>()
  widths.set(sketch, known)
  let width = known.get(at)
  if (width === undefined) {
    context.font = `12px ${palette.font}`
    width = context.measureText(cut(sketch.names[at] ?? '', 28)).width + 4
    known.set(at, width)
  }
  return width
}

/** Right of its node; where the picture ends before the name does, left of it, or as far right as it is whole. */
function nameStart({ width }: Scene, x: number, radius: number, wide: number): number {
  const [right, left] = [x + radius + 4, x - radius - 4 - wide]
  if (right + wide <= width || x > width) return right
  return left >= 0 ? left : Math.max(2, width - wide - 2)
}

const orders = new WeakMap<Sketch, readonly number[]>()

/** The most connected first. */
function byDegree(sketch: Sketch): readonly number[] {
  const { degrees } = sketch
  const order =
    orders.get(sketch) ??
    [...degrees.keys()].sort((a, b) => (degrees[b] as number) - (degrees[a] as number))
  orders.set(sketch, order)
  return order
}

function drawNames(context: Context, scene: Scene, view: View): void {
  context.textAlign = 'start'
  context.textBaseline = 'middle'
  for (const at of namedNodes(context, scene, view).toReversed()) {
    drawName(context, scene, view, at, at === scene.selected)
  }
}

function drawName(context: Context, scene: Scene, view: View, at: number, isFirst: boolean): void {
  const { sketch, palette } = scene
  context.font = `${isFirst ? '600 13px' : '12px'} ${palette.font}`
  const name = cut(sketch.names[at] ?? '', isFirst ? 60 : 28)
  const wide = context.measureText(name).width
  const x = nameStart(scene, view.x[at] as number, view.radius[at] as number, wide)
  haloed(context, name, x, view.y[at] as number, palette.text, palette.ground)
}

function drawLinkNames(context: Context, scene: Scene, view: View): void {
  const { sketch, palette, selected, selectedLink, camera } = scene
  const { ends, said, relations } = sketch
  const isStep = stepsOf(scene)
  const wanted: number[] = []
  const seen: number[] = []
  for (let at = 0; 2 * at < ends.length; at++) {
    const [from, to] = [ends[2 * at] as number, ends[2 * at + 1] as number]
    const isChosen = at === selectedLink || from === selected || to === selected
    if (isChosen || isStep(from, to)) wanted.push(at)
    if (view.isSeen(from) && view.isSeen(to)) seen.push(at)
  }
  // All of them where one can read them, else those that somebody chose.
  const shown = seen.length <= mostLinkLabels && camera.scale > 0.7 ? seen : wanted
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.font = `11px ${palette.font}`
  for (const at of shown.slice(0, mostLinkLabels)) {
    const [from, to] = [ends[2 * at] as number, ends[2 * at + 1] as number]
    const [dx, dy] = [
      (view.x[to] as number) - (view.x[from] as number),
      (view.y[to] as number) - (view.y[from] as number),
    ]
    if (from !== to && Math.hypot(dx, dy) < 45) continue
    // Nearer to where it begins, so that what is said of both ends does not lie on itself.
    const [x, y] = [(view.x[from] as number) + dx * 0.45, (view.y[from] as number) + dy * 0.45]
    const top = from === to ? y - 3 * (view.radius[from] as number) : y
    const name = cut(relations[said[at] as number] ?? '', 24)
    haloed(context, name, x, top, palette.quiet, palette.ground)
  }
}

function haloed(
  context: Context,
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
function stepsOf({ path }: Scene): (from: number, to: number) => boolean {
  if (path.length === 0) return () => false
  const next = new Map(path.map((at, step) => [at, path[step + 1]]))
  return (from, to) => next.get(from) === to || next.get(to) === from
}
