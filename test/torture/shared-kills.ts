// Two processes share a database; one of them is killed at a random moment, again and again, while the other one
// goes on.

import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '../fixtures/random.js'
import { Sharers } from './sharers.js'

/** What a process that was killed held is taken back after this. */
const leaseMs = 1500

export async function sharedKills(options: {
  readonly data: string
  readonly cycles: number
  readonly seed: number
  readonly onCycle?: (cycle: number) => void
}) {
  const { data, cycles, seed, onCycle } = options
  const random = new Random(seed)
  const sharers = new Sharers({ data, seed, leaseMs, retryMs: 10_000 })
  let steady = sharers.start()
  await steady.open
  let killedOpening = 0
  for (let cycle = 0; cycle < cycles; cycle++) {
    let isOpen = false
    const other = sharers.start()
    void other.open.then(() => (isOpen = true))
    // While it opens, or later.
    if (!random.chance(0.2)) await other.open
    await delay(random.below(random.chance(0.25) ? 50 : 800))
    if (!isOpen) killedOpening++
    const before = sharers.acknowledged
    if (random.chance(0.2)) {
      // He who has been there for long: his part goes to the one who came.
      await other.open
      steady.child.kill('SIGKILL')
      await steady.ended
      steady = other
    } else {
      other.child.kill('SIGKILL')
      await other.ended
    }
    for (const end = performance.now() + 10_000; sharers.acknowledged === before; await delay(10)) {
      assert.ok(performance.now() < end, 'the others do not go on')
    }
    onCycle?.(cycle)
  }
  await sharers.stop(steady)
  const jobs = await sharers.check()
  assert.deepEqual(sharers.errors, [])
  const again = jobs.filter(({ attempts }) => attempts > 1).length
  const { acknowledged, longestMs, background } = sharers
  return { cycles, acknowledged, jobs: jobs.length, again, killedOpening, longestMs, background }
}
