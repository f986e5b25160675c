// How many were done in each second, by how many had been done whenever that was looked at.

/** What had been done at a time, in ms. */
export interface Look {
  readonly at: number
  readonly done: number
}

/** Looks that are further apart say nothing of the seconds between: nobody looked. */
const mostApartMs = 10_000

/**
 * One for each second, the last one before the last look at the end.
 *
 * @param looks the oldest first
 */
export function ratesOf(looks: readonly Look[], seconds: number): readonly number[] {
  const rates = Array.from({ length: seconds }, () => 0)
  const end = looks.at(-1)?.at ?? 0
  looks.slice(1).forEach((look, before) => {
    const { at: start, done } = looks[before] as Look
    const rate = (Math.max(0, look.done - done) / (look.at - start)) * 1000
    if (look.at - start > mostApartMs || !Number.isFinite(rate)) return
    for (let second = 0; second < seconds; second++) {
      const [from, to] = [end - (seconds - second) * 1000, end - (seconds - second - 1) * 1000]
      const shared = Math.min(to, look.at) - Math.max(from, start)
      if (shared > 0) rates[second] = (rates[second] as number) + (rate * shared) / 1000
    }
  })
  return rates
}
