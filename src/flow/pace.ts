// How many jobs are worth to be claimed ahead of those that run: as many as are done while the next claim is made.
// Where processes take turns, or the storage is far away, a claim takes as long as many small steps.

/** Who has claimed work for longer keeps it from others who have none. */
const mostMs = 200
/** Of those that run at once: whoever ends without a word has all of it to be given back. */
const mostTimes = 8
/** A claim that takes less is waited for. */
const quickMs = 10
/** Of the newest figure, in the mean. */
const weight = 0.25

export class Pace {
  #claimMs: number | undefined
  #jobMs: number | undefined

  /** How long a claim has taken. */
  claimed(ms: number): void {
    this.#claimMs = mean(this.#claimMs, ms)
  }

  /** How long the steps of a job have taken, from their beginning. */
  ended(ms: number): void {
    this.#jobMs = mean(this.#jobMs, ms)
  }

  /** Where so many run at once. */
  ahead(concurrency: number): number {
    const [claimMs, jobMs] = [this.#claimMs, this.#jobMs]
    if (claimMs === undefined || jobMs === undefined || claimMs < quickMs) return 0
    const done = (Math.min(claimMs, mostMs) * concurrency) / jobMs
    return Math.floor(Math.min(done, mostTimes * concurrency))
  }
}

function mean(before: number | undefined, newest: number): number {
  return before === undefined ? newest : before + weight * (newest - before)
}
