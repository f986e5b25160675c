import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Random } from '../fixtures/random.js'
import type { Order } from './locks-contender.js'

export interface LocksReport {
  readonly rounds: number
  /** Ended while they tried to take the directory, and while they had it. */
  readonly killedOpening: number
  readonly killedOwners: number
  /** Of those who took and released as fast as they could. */
  readonly churned: number
}

const contenders = 8
const threads = 3
const churns = 10

/**
 * Processes and threads that all try to take one directory at once, again and again, with some
 * killed at any moment. Throws where not exactly one has it, where a dead owner keeps it, or where
 * something is left behind.
 */
export async function lockRaces(options: {
  readonly directory: string
  readonly rounds: number
  readonly seed: number
  /** Some processes get a network of their own, so that they cannot ask each other. */
  readonly far?: boolean
  readonly onRound?: (round: number) => void
}): Promise<LocksReport> {
  const { rounds, seed, onRound, far = false } = options
  const random = new Random(seed)
  const directory = join(options.directory, 'data')
  const mark = join(options.directory, 'mark')
  await mkdir(directory, { recursive: true })
  const report = { rounds, killedOpening: 0, killedOwners: 0, churned: 0 }
  const start = (place: number) => new Contender(directory, place < threads, far && place > 4)
  const field = Array.from({ length: contenders }, (_, place) => start(place))
  const replace = async (one: Contender) => {
    await one.kill()
    const place = field.indexOf(one)
    field[place] = start(place)
  }
  try {
    for (let round = 0; round < rounds; round++) {
      await Promise.all(field.map((one) => one.ready))
      if (random.chance(0.2)) {
        const order = { do: 'churn', times: churns, mark } as const
        for (const answer of await Promise.all(field.map((one) => one.ask(order)))) {
          assert.match(answer, /^held \d+ times$/)
          report.churned += Number(answer.split(' ')[1])
        }
      } else {
        const answers = field.map((one) => one.ask({ do: 'take' }))
        const doomed = random.chance(0.3) ? random.shuffle(field).slice(0, 1 + random.below(3)) : []
        if (doomed.length > 0) {
          await delay(random.below(random.pick([1, 5, 20])))
          await Promise.all(doomed.map(replace))
          report.killedOpening += doomed.length
        }
        const outcomes = await Promise.all(answers)
        const winners = field.filter((one) => one.holds)
        const others = outcomes.filter((outcome) => outcome !== 'held' && outcome !== 'killed')
        assert.ok(
          others.every((outcome) => outcome === 'LK_STORAGE_LOCKED'),
          `round ${round}: ${outcomes}`,
        )
        // The one to win may have been killed.
        if (doomed.length > 0) assert.ok(winners.length <= 1, `round ${round}: ${outcomes}`)
        else assert.equal(winners.length, 1, `round ${round}: ${outcomes}`)
        for (const winner of winners) {
          if (random.chance(0.3)) {
            await replace(winner)
            report.killedOwners++
          } else {
            await winner.ask({ do: 'release' })
          }
        }
      }
      onRound?.(round)
    }
    // Whatever the dead have left, the next to open removes.
    const [last] = field as [Contender]
    await last.ready
    assert.equal(await last.ask({ do: 'take' }), 'held')
    assert.equal((await readdir(directory)).length, 1)
    await last.ask({ do: 'release' })
    assert.deepEqual(await readdir(directory), [])
    return report
  } finally {
    await Promise.all(field.map((one) => one.kill()))
  }
}

class Contender {
  readonly ready: Promise<string>
  holds = false
  readonly #send: (order: Order) => unknown
  readonly #end: () => unknown
  readonly #ended: Promise<unknown>
  #answer: ((answer: string) => void) | undefined

  constructor(directory: string, thread: boolean, far: boolean) {
    const script = resolve('dist/test/torture/locks-contender.js')
    this.ready = new Promise((resolve) => (this.#answer = resolve))
    const heard = (answer: string) => this.#answer?.(answer)
    if (thread) {
      const worker = new Worker(script, { workerData: directory }).on('message', heard)
      this.#ended = once(worker, 'exit')
      this.#send = (order) => worker.postMessage(order)
      this.#end = () => worker.terminate()
    } else {
      const through = { execPath: 'unshare', execArgv: ['-n', process.execPath] }
      const child = fork(script, [directory], far ? through : {}).on('message', heard)
      this.#ended = once(child, 'exit')
      this.#send = (order) => child.send(order)
      this.#end = () => child.kill('SIGKILL')
    }
  }

  async ask(order: Order): Promise<string> {
    const asked = new Promise<string>((resolve) => (this.#answer = resolve))
    this.#send(order)
    const answer = await Promise.race([asked, delay(180_000, 'no answer', { ref: false })])
    this.holds = answer === 'held'
    return answer
  }

  async kill(): Promise<void> {
    this.#end()
    await this.#ended
    this.holds = false
    this.#answer?.('killed')
  }
}
