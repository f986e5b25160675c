// What stands near each other in a text.

/** Sentences in a row whose entities are related; the nearer, the more. */
const neighbours = 3
const entitiesPerSentence = 12

/**
 * The pairs of URIs that meet most often and most closely, each pair once and in the order of
 * strings. `sentences` has the URIs of each.
 */
export function coOccurrences(
  sentences: readonly (readonly string[])[],
  most: number,
): (readonly [string, string])[] {
  const pairs = new Map<string, { pair: readonly [string, string]; weight: number }>()
  const meet = (x: string, y: string, weight: number) => {
    if (x === y) return
    const pair = x < y ? ([x, y] as const) : ([y, x] as const)
    const key = pair.join(' ')
    pairs.set(key, { pair, weight: (pairs.get(key)?.weight ?? 0) + weight })
  }
  const bounded = sentences.map((uris) => [...new Set(uris)].slice(0, entitiesPerSentence))
  for (const [i, uris] of bounded.entries()) {
    const next = bounded.slice(i + 1, i + neighbours)
    for (const [at, uri] of uris.entries()) {
      for (const other of uris.slice(at + 1)) meet(uri, other, neighbours)
      for (const [distance, others] of next.entries()) {
        for (const other of others) meet(uri, other, neighbours - 1 - distance)
      }
    }
  }
  const strongest = [...pairs.values()].sort((a, b) => b.weight - a.weight)
  return strongest.slice(0, most).map(({ pair }) => pair)
}
