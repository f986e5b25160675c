// What something costs by how much there is of what grows, on two logarithmic axes: times above, bytes
// below. A line that is flat is a cost that does not follow the size; dotted ones follow it.

import { colours, fontSize, inThousands, isDrawable, label, line } from './svg.js'
import { logScale, path, picture, round, steps, widthOf } from './svg.js'

const width = 860
const plot = { from: 76, to: 500 }
const labels = { from: 524, gap: fontSize + 4 }
const decadeHeight = 44

/** How many of a unit are a second, or a byte. */
const inOne = { ms: 1e3, us: 1e6, bytes: 1 }

export function drawLines(title, points) {
  const { growth } = points[0]
  const sizes = steps(points.map(({ size }) => size).filter(isDrawable), 8, [[1]])
  const x = logScale([sizes[0], sizes.at(-1)], plot.from, plot.to)
  const costs = costsOf(points)
  const parts = [label(8, 20, title, { bold: true, room: width - 16 })]
  let y = 34
  for (const unit of ['s', 'bytes']) {
    const drawn = costs.filter((cost) => cost.unit === unit && cost.points.length > 0)
    if (drawn.length === 0) continue
    const panel = drawPanel(drawn, unit, sizes, x, y)
    parts.push(...panel.parts, label(plot.to + 48, panel.bottom + 20, growth, { room: 280 }))
    y = panel.bottom + 36
  }
  return picture({ width, height: y, title, description: describe(costs), parts })
}

/** In the order of their first points; each with what it has for every size, in seconds or bytes. */
export function costsOf(points) {
  const costs = new Map()
  for (const { cost, size, value, unit } of points) {
    const found = costs.get(cost) ?? { cost, unit: unit === 'bytes' ? 'bytes' : 's', points: [] }
    costs.set(cost, found)
    const scaled = value / inOne[unit]
    if (isDrawable(size) && isDrawable(scaled)) found.points.push({ size, value: scaled })
  }
  for (const { points } of costs.values()) points.sort((a, b) => a.size - b.size)
  return [...costs.values()].map((cost, n) => ({ ...cost, n }))
}

function drawPanel(costs, unit, sizes, x, top) {
  const values = costs.flatMap(({ points }) => points.map(({ value }) => value))
  const ticks = steps(values, 12, [[1]])
  const decades = Math.log10(ticks.at(-1) / ticks[0])
  const height = Math.max(Math.round(decades) * decadeHeight, costs.length * labels.gap, 120)
  const bottom = top + height
  const y = logScale([ticks[0], ticks.at(-1)], bottom, top)
  const parts = [
    ...sizes.map((size) => line(x(size), top, x(size), bottom, { 'stroke-opacity': 0.3 })),
    ...sizes.map((size) => label(x(size), bottom + 20, inThousands(size), { anchor: 'middle' })),
    ...ticks.map((tick) => line(plot.from, y(tick), plot.to, y(tick), { 'stroke-opacity': 0.3 })),
    ...ticks.map((tick) => label(plot.from - 8, y(tick) + 4, show(tick, unit), { anchor: 'end' })),
    ...proportional(ticks, sizes, x, y),
  ]
  const ends = apart(
    costs.map(({ points }) => y(points.at(-1).value)),
    { from: top + labels.gap / 2, to: bottom - labels.gap / 2 },
  )
  const largest = Math.max(...costs.map(({ points }) => points.at(-1).size))
  for (const [n, cost] of costs.entries()) {
    const isShort = cost.points.at(-1).size < largest
    parts.push(...drawCost(cost, { end: ends[n], isShort, x, y }))
  }
  return { parts, bottom }
}

/** What grows as the size does, from each step of the axis that it begins at. */
function proportional(ticks, sizes, x, y) {
  const [first, last] = [sizes[0], sizes.at(-1)]
  const [least, most] = [ticks[0], ticks.at(-1)]
  const parts = []
  for (let start = least * (first / last) * 10; start < most * 0.999; start *= 10) {
    const from = Math.max(1, least / start) * first
    const to = Math.min(last, (most / start) * first)
    if (to < from * 1.001) continue
    const style = { 'stroke-dasharray': '1 4', 'stroke-opacity': 0.8 }
    parts.push(line(x(from), y((start * from) / first), x(to), y((start * to) / first), style))
  }
  return parts
}

function drawCost({ cost, unit, points, n }, { end, isShort, x, y }) {
  const colour = colours[n % colours.length]
  const places = points.map(({ size, value }) => [round(x(size)), round(y(value))])
  const [lastX, lastY] = places.at(-1)
  const last = points.at(-1)
  const place = isShort ? ` at ${inThousands(last.size)}` : ''
  const value = `: ${show(last.value, unit)}${place}`
  const room = width - labels.from - 8 - widthOf(value)
  const leader = { stroke: colour, 'stroke-dasharray': '2 2', 'stroke-width': 0.75 }
  return [
    path(`M${places.join('L')}`, {
      stroke: colour,
      'stroke-width': 2,
      fill: 'none',
      class: 'cost',
    }),
    ...places.map(([px, py]) => marker(n, px, py, colour)),
    line(lastX + 6, lastY, labels.from - 4, end, leader),
    label(labels.from, end + 4, cost, { room, fill: colour, after: value }),
  ]
}

/** Lines are told apart by these, too. */
function marker(n, x, y, fill) {
  const shapes = [
    `M${x} ${y - 4}l4 4l-4 4l-4 -4z`,
    `M${round(x - 3.5)} ${round(y - 3.5)}h7v7h-7z`,
    `M${x} ${y - 4}l4.5 8h-9z`,
    `M${x} ${y + 4}l4.5 -8h-9z`,
    `M${x - 1} ${y - 4}h2v3h3v2h-3v3h-2v-3h-3v-2h3z`,
  ]
  return path(shapes[n % shapes.length], { fill })
}

/** As near to where they would be as they can, one below the other. */
function apart(wanted, { from, to }) {
  const order = [...wanted.keys()].sort((a, b) => wanted[a] - wanted[b] || a - b)
  const placed = new Array(wanted.length)
  let next = from
  for (const n of order) {
    placed[n] = Math.max(next, wanted[n])
    next = placed[n] + labels.gap
  }
  next = to
  for (const n of order.toReversed()) {
    placed[n] = Math.min(next, placed[n])
    next = placed[n] - labels.gap
  }
  return placed
}

/** How cost follows size: 0 not at all, 1 in proportion. By least squares over the logarithms. */
export function slopeOf(points) {
  const places = points.map(({ size, value }) => [Math.log(size), Math.log(value)])
  const mean = (k) => places.reduce((sum, place) => sum + place[k], 0) / places.length
  const [x, y] = [mean(0), mean(1)]
  const over = places.reduce((sum, place) => sum + (place[0] - x) * (place[1] - y), 0)
  const under = places.reduce((sum, place) => sum + (place[0] - x) ** 2, 0)
  return under === 0 ? undefined : over / under
}

const units = {
  s: [
    [1, 's'],
    [1e-3, 'ms'],
    [1e-6, 'µs'],
    [1e-9, 'ns'],
  ],
  bytes: [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
    [1, 'bytes'],
  ],
}

export function show(value, unit) {
  const known = units[unit]
  const [size, name] = known.find(([size]) => value >= size * 0.9995) ?? known.at(-1)
  return `${inThousands(Number((value / size).toPrecision(3)))} ${name}`
}

function describe(costs) {
  const told = costs
    .filter(({ points }) => points.length > 0)
    .map(({ cost, unit, points }) => {
      const [first, last] = [points[0], points.at(-1)]
      return `${cost}: ${show(first.value, unit)} at ${inThousands(first.size)}, ${show(last.value, unit)} at ${inThousands(last.size)}`
    })
  return `Cost by size, on two logarithmic axes; dotted lines grow as the size does. ${told.join('. ')}`
}
