// The order of numbers, some bits at a time from the lowest (LSD radix sort).

const fewest = 64

/**
 * The places of the numbers in growing order; equal ones stay in theirs. 40 us for a thousand, where
 * sorting with a function that compares takes 170: every import of objects sorts as many hashes of ids, and
 * as many keys of each numeric index.
 */
export function orderOf(numbers: Float64Array): Uint32Array {
  const { length } = numbers
  const order = new Uint32Array(length)
  for (let n = 0; n < length; n++) order[n] = n
  if (isSorted(numbers)) return order
  if (length < fewest) {
    return order.sort((a, b) => (numbers[a] as number) - (numbers[b] as number) || a - b)
  }
  const { low, high } = sortableBits(numbers)
  let from = order
  let to = new Uint32Array(length)
  const counts = new Uint32Array(256)
  for (let pass = 0; pass < 8; pass++) {
    const digits = pass < 4 ? low : high
    const shift = (pass % 4) * 8
    counts.fill(0)
    for (let n = 0; n < length; n++) counts[((digits[n] as number) >>> shift) & 255]!++
    if (counts[((digits[0] as number) >>> shift) & 255] === length) continue
    for (let digit = 0, place = 0; digit < 256; digit++) {
      const count = counts[digit] as number
      counts[digit] = place
      place += count
    }
    for (let n = 0; n < length; n++) {
      const place = from[n] as number
      to[counts[((digits[place] as number) >>> shift) & 255]!++] = place
    }
    ;[from, to] = [to, from]
  }
  return from
}

/** The halves of numbers whose bits order as the numbers do. */
function sortableBits(numbers: Float64Array): { low: Uint32Array; high: Uint32Array } {
  // Adding 0 makes -0 to 0, which it equals.
  const copy = numbers.map((number) => number + 0)
  const words = new Uint32Array(copy.buffer)
  const low = new Uint32Array(numbers.length)
  const high = new Uint32Array(numbers.length)
  for (let n = 0; n < numbers.length; n++) {
    const [lowWord, highWord] = [words[2 * n] as number, words[2 * n + 1] as number]
    const isNegative = highWord >>> 31 === 1
    low[n] = isNegative ? ~lowWord : lowWord
    high[n] = isNegative ? ~highWord : highWord ^ 0x80000000
  }
  return { low, high }
}

function isSorted(numbers: Float64Array): boolean {
  for (let n = 1; n < numbers.length; n++) {
    if ((numbers[n] as number) < (numbers[n - 1] as number)) return false
  }
  return true
}

/**
 * Numbers of 32 bits in their order, as pairs of such a number and where it is in `keys`. Equal ones stay
 * in the order in which they come: that of `before`, which is another result, where there is one.
 * Hot: the engine's sort with a comparison takes ten times as long. benchmarks/graph-import.ts
 */
export function sortedPairs(
  keys: Uint32Array,
  count: number,
  before?: Uint32Array,
): Uint32Array<ArrayBuffer> {
  let from = new Uint32Array(2 * count)
  let to = new Uint32Array(2 * count)
  for (let i = 0; i < count; i++) {
    const id = before === undefined ? i : (before[2 * i + 1] as number)
    from[2 * i] = keys[id] as number
    from[2 * i + 1] = id
  }
  const places = new Uint32Array(2049)
  for (let shift = 0; shift < 32; shift += 11) {
    places.fill(0)
    for (let i = 0; i < count; i++) {
      const next = (((from[2 * i] as number) >>> shift) & 2047) + 1
      places[next] = (places[next] as number) + 1
    }
    // All have one digit here.
    if (places.includes(count)) continue
    for (let digit = 1; digit < 2049; digit++) {
      places[digit] = (places[digit] as number) + (places[digit - 1] as number)
    }
    for (let i = 0; i < count; i++) {
      const key = from[2 * i] as number
      const digit = (key >>> shift) & 2047
      const at = places[digit] as number
      places[digit] = at + 1
      to[2 * at] = key
      to[2 * at + 1] = from[2 * i + 1] as number
    }
    const next = from
    from = to
    to = next
  }
  return from
}

const pairsAtOnce = 1 << 16

/**
 * Puts pairs of a number of 32 bits and another one in the order of the first ones, as sortedPairs() has them. Which
 * of the two arrays they are in then is what it returns; what is in the other is of no use. `pass` lets others have
 * their turn.
 */
export async function sortedInTurns(
  from: Uint32Array,
  to: Uint32Array,
  count: number,
  pass: () => Promise<void>,
): Promise<Uint32Array> {
  let all = 0
  for (let i = 0; i < count; i++) all |= from[2 * i] as number
  // As few passes as there have to be, and then as few digits: those that are written side by side stay in the cache.
  const bits = 32 - Math.clz32(all)
  const passes = Math.ceil(bits / 11)
  const width = passes === 0 ? 0 : Math.ceil(bits / passes)
  const mask = 2 ** width - 1
  const places = new Uint32Array(mask + 2)
  for (let n = 0; n < passes; n++) {
    const shift = n * width
    places.fill(0)
    for (let i = 0; i < count; i++) {
      const next = (((from[2 * i] as number) >>> shift) & mask) + 1
      places[next] = (places[next] as number) + 1
    }
    for (let digit = 1; digit < places.length; digit++) {
      places[digit] = (places[digit] as number) + (places[digit - 1] as number)
    }
    await pass()
    for (let start = 0; start < count; start += pairsAtOnce) {
      scatter(from, to, start, Math.min(count, start + pairsAtOnce), shift, places)
      await pass()
    }
    const next = from
    from = to
    to = next
  }
  return from
}

function scatter(
  from: Uint32Array,
  to: Uint32Array,
  start: number,
  end: number,
  shift: number,
  places: Uint32Array,
): void {
  const mask = places.length - 2
  for (let i = start; i < end; i++) {
    const key = from[2 * i] as number
    const digit = (key >>> shift) & mask
    const at = places[digit] as number
    places[digit] = at + 1
    to[2 * at] = key
    to[2 * at + 1] = from[2 * i + 1] as number
  }
}
