// A page has pieces of text at places. Which of them follow each other is for the reader to see: here
// columns are found by the white space between them, and lines by their baselines.

/** A piece of text on a page. `base` grows upwards. */
export interface Fragment {
  readonly text: string
  readonly left: number
  readonly right: number
  readonly base: number
  readonly size: number
}

export interface Line extends Fragment {
  /** How far the lines of its column reach. */
  readonly columnRight: number
}

/** Buckets that the width of a page is looked at in. */
const buckets = 256
/** The share of a block's lines that may cross what lies between its columns: titles, wide tables. */
const mostCrossing = 0.3
const leastLines = 3
/** How much of its column a line fills, in the middle: cells of a table fill less. */
const leastFilled = 0.5
const mostDepth = 4

/** The columns of a page, in the order of reading: what crosses several ones ends those above it. */
export function columnsOf(fragments: readonly Fragment[], depth = 0): readonly Fragment[][] {
  const gutter = depth < mostDepth ? gutterIn(fragments) : undefined
  if (gutter === undefined) return fragments.length === 0 ? [] : [[...fragments]]
  const crossing = fragments.filter(({ left, right }) => left < gutter && right > gutter)
  const bounds = basesOf(crossing)
  const columns: Fragment[][] = []
  let above = Infinity
  for (const bound of [...bounds, -Infinity]) {
    const band = fragments.filter(({ base }) => base < above && base > bound)
    const apart = band.filter(({ left, right }) => left >= gutter || right <= gutter)
    columns.push(
      ...columnsOf(
        apart.filter(({ right }) => right <= gutter),
        depth + 1,
      ),
    )
    columns.push(
      ...columnsOf(
        apart.filter(({ left }) => left >= gutter),
        depth + 1,
      ),
    )
    // With what stands on its line, left and right of it.
    const onLine = fragments.filter(({ base }) => base === bound)
    if (onLine.length > 0) {
      const last = columns.at(-1)
      // Lines that cross and follow each other are a column of their own.
      if (last !== undefined && apart.length === 0 && bounds[0] !== bound) {
        for (const each of onLine) last.push(each)
      } else columns.push(onLine)
    }
    above = bound
  }
  return columns
}

/** The baselines, from the top. */
function basesOf(fragments: readonly Fragment[]): readonly number[] {
  return [...new Set(fragments.map(({ base }) => base))].sort((one, other) => other - one)
}

/** In the middle of what lies between two columns; `undefined` where there is but one. */
function gutterIn(fragments: readonly Fragment[]): number | undefined {
  if (fragments.length < 2 * leastLines) return undefined
  const lines = linesOf(fragments)
  const { left, right } = widthOf(fragments)
  const width = (right - left) / buckets
  if (!(width > 0)) return undefined
  const counts = new Uint32Array(buckets)
  for (const each of fragments) {
    const from = Math.max(0, Math.floor((each.left - left) / width))
    const to = Math.min(buckets, Math.ceil((each.right - left) / width))
    for (let n = from; n < to; n++) counts[n] = (counts[n] as number) + 1
  }
  const size = medianOf(fragments.map((each) => each.size))
  const most = mostCrossing * lines.length
  let best: { from: number; to: number; count: number } | undefined
  for (let from = Math.floor(buckets * 0.15); from < buckets * 0.85;) {
    const count = counts[from] as number
    let to = from + 1
    while (to < buckets && counts[to] === count) to++
    const isWide = (to - from) * width >= 0.7 * size
    const isBetter =
      best === undefined ||
      count < best.count ||
      (count === best.count && to - from > best.to - best.from)
    if (count <= most && isWide && isBetter) best = { from, to, count }
    from = to
  }
  if (best === undefined) return undefined
  const gutter = left + ((best.from + best.to) / 2) * width
  const one = linesOf(fragments.filter((each) => each.right <= gutter))
  const other = linesOf(fragments.filter((each) => each.left >= gutter))
  return isColumn(one) && isColumn(other) && areBeside(one, other) ? gutter : undefined
}

function isColumn(lines: readonly Line[]): boolean {
  if (lines.length < leastLines) return false
  const { left, right } = widthOf(lines)
  return medianOf(lines.map((line) => line.right - line.left)) >= leastFilled * (right - left)
}

/** Whether they share half of the height of the lower one. */
function areBeside(one: readonly Line[], other: readonly Line[]): boolean {
  const [top, bottom] = extentOf(one)
  const [otherTop, otherBottom] = extentOf(other)
  const shared = Math.min(top, otherTop) - Math.max(bottom, otherBottom)
  return shared >= 0.5 * Math.min(top - bottom, otherTop - otherBottom)
}

function extentOf(lines: readonly Line[]): readonly [top: number, bottom: number] {
  let [top, bottom] = [-Infinity, Infinity]
  for (const { base } of lines) {
    top = Math.max(top, base)
    bottom = Math.min(bottom, base)
  }
  return [top, bottom]
}

/** Not by spreading them: a map has more pieces of text than a call has arguments. */
function widthOf(fragments: readonly Fragment[]): {
  readonly left: number
  readonly right: number
} {
  let [least, most] = [Infinity, -Infinity]
  for (const { left, right } of fragments) {
    least = Math.min(least, left)
    most = Math.max(most, right)
  }
  return { left: least, right: most }
}

/** From the top, each from the left. */
export function linesOf(fragments: readonly Fragment[]): readonly Line[] {
  const sorted = [...fragments].sort((one, other) => other.base - one.base)
  const groups: Fragment[][] = []
  for (const each of sorted) {
    const group = groups.at(-1)
    const first = group?.[0]
    // What is raised or lowered a little stands on the line, too.
    const reach = 0.5 * Math.min(each.size, first?.size ?? each.size)
    if (first !== undefined && first.base - each.base < reach) group?.push(each)
    else groups.push([each])
  }
  const columnRight = fragments.reduce((most, { right }) => Math.max(most, right), -Infinity)
  return groups.map((group) => {
    group.sort((one, other) => one.left - other.left)
    return { ...lineOf(group), columnRight }
  })
}

function lineOf(group: readonly Fragment[]): Fragment {
  let text = ''
  let end: number | undefined
  for (const each of group) {
    const gap = end === undefined ? 0 : each.left - end
    const isApart = gap > 0.15 * each.size && !/\s$/.test(text) && !/^\s/.test(each.text)
    text += isApart ? ` ${each.text}` : each.text
    end = Math.max(end ?? -Infinity, each.right)
  }
  // That of most of it: a first letter may be larger, and a note's number smaller.
  const [most] = [...group].sort((one, other) => other.text.length - one.text.length)
  const { base = 0, size = 0 } = most ?? {}
  const left = group[0]?.left ?? 0
  return { text: text.replace(/\s+/gu, ' ').trim(), left, right: end ?? left, base, size }
}

function medianOf(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other)
  return sorted[sorted.length >> 1] ?? 0
}
