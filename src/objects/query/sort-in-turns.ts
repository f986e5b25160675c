// A sort of a million values takes seconds: others have their turn meanwhile.

/** What is sorted, or merged, at once: some milliseconds. */
const run = 8192

/** The same values sorted: at once where they are few, and `values` itself then. */
export function sortSoon<T>(
  values: T[],
  compare: (a: T, b: T) => number,
  breathe: () => Promise<void>,
): T[] | Promise<T[]> {
  return values.length <= run ? values.sort(compare) : sortInTurns(values, compare, breathe)
}

/** As `toSorted()` does it, stable. `breathe` is called between steps that are short. */
export async function sortInTurns<T>(
  values: readonly T[],
  compare: (a: T, b: T) => number,
  breathe: () => Promise<void>,
): Promise<T[]> {
  let sorted: T[] = []
  for (let from = 0; from < values.length; from += run) {
    for (const value of values.slice(from, from + run).sort(compare)) sorted.push(value)
    await breathe()
  }
  for (let width = run; width < values.length; width *= 2) {
    const merged: T[] = []
    for (let from = 0; from < sorted.length; from += 2 * width) {
      const middle = Math.min(from + width, sorted.length)
      const end = Math.min(from + 2 * width, sorted.length)
      let left = from
      let right = middle
      while (left < middle || right < end) {
        const isLeft =
          right === end || (left < middle && compare(sorted[left] as T, sorted[right] as T) <= 0)
        merged.push(sorted[isLeft ? left++ : right++] as T)
        if (merged.length % run === 0) await breathe()
      }
    }
    sorted = merged
  }
  return sorted
}
