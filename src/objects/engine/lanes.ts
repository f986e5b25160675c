// A collection lies in a lane. Each lane has a head and gives numbers of its own, so that processes which share a
// backend commit to collections of different lanes at the same time. The lane that has given a number is told by the
// number: rows, pages, runs and versions of a lane lie together. A store that nobody shares has lane 0 alone.

/** Each has a head that a look at all reads. */
export const laneCount = 16

/** Of pages, runs and versions. */
const span = 2 ** 48

/** Lane 0 has half of the rows there can be: those of a store that is not shared. */
const firstShared = 2 ** 40
const rowSpan = 2 ** 36

/** In front of the first page, run or version of a lane. */
export const laneBase = (lane: number): number => lane * span

/** Of a page, a run or a version. */
export const laneOf = (number: number): number => Math.floor(number / span)

/** In front of the first row of a lane. */
export const rowBase = (lane: number): number =>
  lane === 0 ? 0 : firstShared + (lane - 1) * rowSpan

/** Tables of references go by the low bits of rows: so those of lanes are not the same. */
export const firstRow = (lane: number): number => rowBase(lane) + lane * 2 ** 28

/** The rows of a lane are below that. */
export const rowEnd = (lane: number): number => rowBase(lane + 1)

export const laneOfRow = (row: number): number =>
  row < firstShared ? 0 : 1 + Math.floor((row - firstShared) / rowSpan)
