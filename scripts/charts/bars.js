// Ratios as bars from a line at 1, longer to the right where ours is more: the median, a whisker from
// the smallest to the largest, and the target.

import { show } from '../../dist/benchmarks/result.js'
import { colours, ink, inThousands, isDrawable, label } from './svg.js'
import { line, logScale, path, picture, rect, round, steps } from './svg.js'

const width = 860
const plot = { from: 310, to: 750 }
const rowHeight = 18
const barHeight = 9

const [met, missed] = colours
const colourOf = (figure) => (figure.met === undefined ? ink : figure.met ? met : missed)

/** Those of a group that have one: what is measured in ms or MiB is in the table alone. */
export function isRatio(figure) {
  return 'skipped' in figure || figure.unit === 'x'
}

export function drawBars(title, figures) {
  const rows = figures.filter(isRatio)
  const values = rows.flatMap(({ value, low, high, target }) => [value, low, high, limitOf(target)])
  const ticks = steps([1, ...values.filter(isDrawable)], 10)
  const x = logScale([ticks[0], ticks.at(-1)], plot.from, plot.to)
  const parts = [label(8, 20, title, { bold: true, room: width - 16 }), ...legend(40)]
  let y = 62
  parts.push(...axis(ticks, x, y))
  y += 8
  for (const block of blocksOf(rows)) {
    parts.push(label(8, y + 13, block[0].scenario, { bold: true, room: width - 16 }))
    y += rowHeight
    for (const figure of block) {
      const text = instead(figure)
      if (text === undefined) parts.push(...grid(ticks, x, y), ...bar(figure, x, y))
      else parts.push(label(plot.from + 8, y + 13, text, { room: plot.to - plot.from - 12 }))
      parts.push(label(20, y + 13, figure.peer, { room: plot.from - 32 }))
      y += rowHeight
    }
    y += 6
  }
  parts.push(...axis(ticks, x, y + 10))
  return picture({ width, height: y + 20, title, description: describe(rows), parts })
}

/** Figures of one scenario that follow each other, against one peer and another. */
function blocksOf(rows) {
  const blocks = []
  for (const figure of rows) {
    if (blocks.at(-1)?.[0].scenario === figure.scenario) blocks.at(-1).push(figure)
    else blocks.push([figure])
  }
  return blocks
}

/** What is written where there is nothing to draw. */
function instead(figure) {
  if ('skipped' in figure) return `skipped: ${figure.skipped}`
  return Number.isFinite(figure.value) ? undefined : 'not measured'
}

function grid(ticks, x, y) {
  const style = (tick) => (tick === 1 ? { 'stroke-width': 1.5 } : { 'stroke-opacity': 0.3 })
  return ticks.map((tick) => line(x(tick), y, x(tick), y + rowHeight, style(tick)))
}

function bar(figure, x, y) {
  const { value, low, high, target } = figure
  const parts = []
  const middle = y + rowHeight / 2
  const colour = colourOf(figure)
  if (isDrawable(value)) {
    const [from, to] = [Math.min(x(1), x(value)), Math.max(x(1), x(value))]
    const style = { fill: colour, 'fill-opacity': 0.35, stroke: colour, class: 'bar' }
    parts.push(rect(from, middle - barHeight / 2, to - from, barHeight, style))
  }
  if (Number.isFinite(low) && isDrawable(high) && low !== high) {
    const [from, to] = [isDrawable(low) ? x(low) : plot.from, x(high)]
    const caps = `M${round(from)} ${middle - 3}v6M${round(from)} ${middle}H${round(to)}M${round(to)} ${middle - 3}v6`
    parts.push(path(caps, { stroke: colour, 'stroke-width': 1.5, fill: 'none', class: 'whisker' }))
  }
  const limit = limitOf(target)
  if (isDrawable(limit)) parts.push(tick(x(limit), y, 'least' in target))
  const verdict = figure.met === undefined ? '' : figure.met ? ' met' : ' missed'
  return [...parts, label(plot.to + 12, y + 13, show(value, 'x') + verdict, { fill: colour })]
}

/** A flag that points to where the target is met. */
function tick(x, y, isLeast) {
  const d = `M${round(x)} ${y + 1}V${y + rowHeight - 1}M${round(x)} ${y + 1}l${isLeast ? 6 : -6} 3l${isLeast ? -6 : 6} 3z`
  return path(d, { stroke: ink, fill: ink, 'stroke-width': 1.5, class: 'target' })
}

function axis(ticks, x, y) {
  return ticks.map((tick) => label(x(tick), y, inThousands(tick), { anchor: 'middle' }))
}

function legend(y) {
  const sample = (x, fill, text) => [
    rect(x, y - 9, 14, barHeight, { fill, 'fill-opacity': 0.35, stroke: fill }),
    label(x + 20, y, text),
  ]
  const whisker = `M300 ${y - 8}v6M300 ${y - 5}h24M324 ${y - 8}v6`
  return [
    ...sample(8, met, 'target met'),
    ...sample(100, missed, 'target missed'),
    ...sample(210, ink, 'no target'),
    path(whisker, { stroke: ink, 'stroke-width': 1.5, fill: 'none' }),
    label(332, y, 'smallest to largest'),
    tick(460, y - 13, true),
    label(472, y, 'target, with a flag on the side where it is met'),
  ]
}

function describe(rows) {
  const drawn = rows.filter(({ value }) => Number.isFinite(value))
  const told = drawn.map(({ scenario, peer, value }) => `${scenario}, ${peer}: ${show(value, 'x')}`)
  return `Ratios of ours to each peer, by a logarithmic scale, from a line at 1. ${told.join('. ')}`
}

function limitOf(target) {
  return target && ('least' in target ? target.least : target.most)
}
