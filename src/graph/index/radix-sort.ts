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
