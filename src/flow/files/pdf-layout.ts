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
  const { text, left, right } = inReadingOrder(group)
  // That of most of it: a first letter may be larger, and a note's number smaller.
  const [most] = [...group].sort((one, other) => other.text.length - one.text.length)
  const { base = 0, size = 0 } = most ?? {}
  return { text: text.replace(/\s+/gu, ' ').trim(), left, right, base, size }
}

/** What lies between two words at least, in letter sizes. */
const wordGap = 0.15

/** Hebrew, Arabic and their kin; each piece has its own letters in the order of reading already. */
const rightToLeft =
  /(?=\p{L})[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gu

/**
 * Pieces from the left as one: from right to left where most of their letters go so. What goes the other way within
 * keeps its own order, and in a line from the right the numbers behind it.
 */
function inReadingOrder(group: readonly Fragment[]): Fragment {
  const ways = group.map(({ text }) => wayOf(text))
  if (!ways.some((way) => way < 0)) return joinedPieces(group, false)
  const way = ways.reduce((sum, each) => sum + each, 0) < 0 ? -1 : 1
  const parts: Fragment[] = []
  for (let at = 0; at < group.length;) {
    let end = at + 1
    const isOther = (ways[at] as number) * way < 0
    if (way < 0) end = numberEnd(group, at)
    for (let next = end; isOther && next < group.length; next++) {
      const [piece, of] = [group[next] as Fragment, (ways[next] as number) * way]
      if (of > 0) break
      if (of < 0 || (way < 0 && /\p{N}/u.test(piece.text))) end = next + 1
    }
    parts.push(joinedPieces(group.slice(at, end), isOther && way > 0))
    at = end
  }
  return joinedPieces(parts, way < 0)
}

/** What a number is of: digits are read from the left wherever they stand. */
const ofNumber = /^[\p{Nd}.,:/+-]+$/u

/** Where the number ends that may begin at a place, in one piece or in several without a gap. */
function numberEnd(group: readonly Fragment[], at: number): number {
  let end = at + 1
  for (let next = at; next < group.length; next++) {
    const { text, left, size } = group[next] as Fragment
    if (next > at && left - (group[next - 1] as Fragment).right > wordGap * size) break
    if (!ofNumber.test(text)) break
    if (/\p{Nd}/u.test(text)) end = next + 1
    else if (next === at) break
  }
  return end
}

/** By its letters, how many more go to the right; fewer than none where most go to the left. */
function wayOf(text: string): number {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters - 2 * (text.match(rightToLeft)?.length ?? 0)
}

/** Pieces from the left as one, read from there or from the right. */
function joinedPieces(group: readonly Fragment[], isBack: boolean): Fragment {
  let text = ''
  let edge: number | undefined
  for (const each of isBack ? group.toReversed() : group) {
    const gap = edge === undefined ? 0 : isBack ? edge - each.right : each.left - edge
    const isApart = gap > wordGap * each.size && !/\s$/.test(text) && !/^\s/.test(each.text)
    text += isApart ? ` ${each.text}` : each.text
    edge = isBack ? Math.min(edge ?? Infinity, each.left) : Math.max(edge ?? -Infinity, each.right)
  }
  const { base = 0, size = 0, left = 0 } = group[0] ?? {}
  const right = group.reduce((most, { right }) => Math.max(most, right), left)
  return { text, left, right, base, size }
}

function medianOf(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other)
  return sorted[sorted.length >> 1] ?? 0
}
