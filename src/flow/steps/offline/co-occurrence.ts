// What stands near each other in a text.

/** Sentences in a row whose entities are related; the nearer, the more. */
const neighbours = 3
const entitiesPerSentence = 12
/** More than there are URIs; the product of two is still exact. */
const mostNumbers = 2 ** 26

/**
 * The pairs of URIs that meet most often and most closely, each pair once and in the order of
 * strings. `sentences` has the URIs of each.
 */
export function coOccurrences(
  sentences: readonly (readonly string[])[],
  most: number,
): (readonly [string, string])[] {
  // Numbers are quicker to pair than their strings.
  const numbers = new Map<string, number>()
  const uriOf: string[] = []
  const numberOf = (uri: string): number => {
    const known = numbers.get(uri)
    if (known !== undefined) return known
    numbers.set(uri, uriOf.length)
    return uriOf.push(uri) - 1
  }
  const weights = new Map<number, number>()
  const meet = (x: number, y: number, weight: number) => {
    if (x === y) return
    const key = x < y ? x * mostNumbers + y : y * mostNumbers + x
    weights.set(key, (weights.get(key) ?? 0) + weight)
  }
  const bounded = sentences.map((uris) => {
    return [...new Set(uris)].slice(0, entitiesPerSentence).map(numberOf)
  })
  for (const [i, uris] of bounded.entries()) {
    const next = bounded.slice(i + 1, i + neighbours)
    for (const [at, uri] of uris.entries()) {
      for (const other of uris.slice(at + 1)) meet(uri, other, neighbours)
      for (const [distance, others] of next.entries()) {
        for (const other of others) meet(uri, other, neighbours - 1 - distance)
      }
    }
  }
  const strongest = [...weights].sort(([, a], [, b]) => b - a).slice(0, most)
  return strongest.map(([key]) => {
    const x = uriOf[Math.floor(key / mostNumbers)] ?? ''
    const y = uriOf[key % mostNumbers] ?? ''
    return x < y ? [x, y] : [y, x]
  })
}
