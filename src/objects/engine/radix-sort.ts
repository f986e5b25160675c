// The order of numbers, eight bits at a time from the lowest (LSD radix sort): 40 us for a thousand
// here, where sorting with a function that compares takes 170. Every import sorts as many hashes
// of ids, and as many keys of each numeric index.

const fewest = 64

/** The places of the numbers in growing order; equal ones stay in theirs. */
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
