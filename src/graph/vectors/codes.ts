// Vectors in numbers of 8 bits: a quarter of the memory, and as much less to wait for. They tell what
// is near; what a search keeps is compared again in float32.
//
// Each vector has a factor of its own, by which its largest component becomes 127: a file that grows
// needs no other codes then, and vectors that are mostly zeros lose nothing to those that are not.

/** With fewer dimensions a vector has few codes to tell it from others: each component gets two. */
const fewestSingle = 48
const most = 127
/** What the second code of a component is worth, in the first one's. */
const rest = 1 / (2 * most)
/** The kernel takes so many at a time. */
const group = 16
const mostQuery = 32_767
const roundUp = 1.5 * 2 ** 52

/** Bytes of a vector's codes. The last of them are zeros, and so is what is left of a query. */
export function codeBytes(dimensions: number): number {
  const codes = dimensions < fewestSingle ? 2 * dimensions : dimensions
  return Math.ceil(codes / group) * group
}

/**
 * Vectors whose products by codes differ by more than this are in their exact order, but for few:
 * some five times the deviation that rounding to codes makes.
 */
export function codeMargin(dimensions: number, factor: number): number {
  return dimensions < fewestSingle ? 8 * rest * factor : 2 * factor
}

/** Writes the codes of the vector at `from`, and returns their factor. */
export function encodeInto(
  vectors: Float32Array,
  from: number,
  dimensions: number,
  codes: Int8Array,
  at: number,
): number {
  let largest = 0
  for (let n = from; n < from + dimensions; n++) {
    const size = Math.abs(vectors[n] as number)
    if (size > largest) largest = size
  }
  if (largest === 0) {
    codes.fill(0, at, at + codeBytes(dimensions))
    return 0
  }
  const scale = most / largest
  // Rounded by adding what leaves no room for a fraction: Math.round() takes twice as long.
  for (let n = 0; n < dimensions; n++) {
    codes[at + n] = (vectors[from + n] as number) * scale + roundUp - roundUp
  }
  let end = dimensions
  if (dimensions < fewestSingle) {
    for (let n = 0; n < dimensions; n++) {
      const exact = (vectors[from + n] as number) * scale
      codes[at + end++] = Math.round((exact - (codes[at + n] as number)) / rest)
    }
  }
  codes.fill(0, at + end, at + codeBytes(dimensions))
  return largest / most
}

/**
 * Writes a query, to be multiplied with codes, and returns its factor. No sum of products with codes
 * leaves 32 bits: by Cauchy and Schwarz, from the lengths of both.
 */
export function queryInto(vector: Float32Array, query: Int16Array): number {
  const { length } = vector
  let largest = 0
  let squares = 0
  for (let n = 0; n < length; n++) {
    const component = vector[n] as number
    largest = Math.max(largest, Math.abs(component))
    squares += component * component
  }
  query.fill(0)
  if (largest === 0) return 0
  const longest = (2 ** 31 - 1) / (most * Math.sqrt(codeBytes(length)))
  // Rounding adds at most half to each, and is what the tenth is for.
  const scale = Math.min(mostQuery / largest, (0.9 * longest) / Math.sqrt(2 * squares))
  for (let n = 0; n < length; n++) query[n] = Math.round((vector[n] as number) * scale)
  if (length < fewestSingle) {
    for (let n = 0; n < length; n++) query[length + n] = Math.round((query[n] as number) * rest)
  }
  return 1 / scale
}
