// Vectors of length 1: their products are cosines.

/** Sums of squares between these neither overflowed nor lost what matters. */
const smallestSum = 1e-200
const largestSum = 1e200

/**
 * Writes the vector in float32, at length 1, to `target` from `at` on. Zeros stay zeros, and so does
 * a vector become of which a component is not finite: it is like nothing.
 *
 * Hot: once for each vector that is indexed.
 */
export function normalizeInto(
  components: Float64Array,
  dimensions: number,
  target: Float32Array,
  at: number,
): void {
  let sum = 0
  for (let i = 0; i < dimensions; i++) {
    const component = components[i] as number
    sum += component * component
  }
  if (sum >= smallestSum && sum <= largestSum) {
    const factor = 1 / Math.sqrt(sum)
    for (let i = 0; i < dimensions; i++) target[at + i] = (components[i] as number) * factor
  } else {
    normalizeExtreme(components, dimensions, target, at)
  }
}

/** For components of which squares are too large or too small for a float64. */
function normalizeExtreme(
  components: Float64Array,
  dimensions: number,
  target: Float32Array,
  at: number,
): void {
  let largest = 0
  for (let i = 0; i < dimensions; i++) {
    const size = Math.abs(components[i] as number)
    // Also where it is not a number.
    if (!(size <= largest)) largest = size
    if (!(size < Infinity)) break
  }
  if (largest === 0 || !(largest < Infinity)) {
    target.fill(0, at, at + dimensions)
    return
  }
  let sum = 0
  for (let i = 0; i < dimensions; i++) {
    const scaled = (components[i] as number) / largest
    sum += scaled * scaled
  }
  const length = Math.sqrt(sum)
  for (let i = 0; i < dimensions; i++) {
    target[at + i] = (components[i] as number) / largest / length
  }
}
