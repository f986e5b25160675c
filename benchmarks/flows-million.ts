// Whether a queue of a million documents costs more than an empty one: opening it, loading 2,000
// documents and processing 2,000. Both queues go through the same rounds, so that nothing but the
// million tells them apart. Beside the opening what that cannot leave out.

import { join } from 'node:path'
import { createDocument, inFlight } from './flows-data.js'
import { defineFlow, flow, openOurs, processOurs } from './flows-store.js'
import * as bench from './measure.js'
import { openingName, openNeeded } from './opening-needed.js'

const rounds = 9
const full = 1_000_000
const few = 2_000
const textBytes = 200
const concurrency = 100

type Parts = Record<'open' | 'load' | 'work', number[]>

function measure(users: number): Promise<void> {
  return bench.inDirectory(async (directory) => {
    const ours = new Queue(join(directory, 'full'), users, full)
    const empty = new Queue(join(directory, 'empty'), users, 0)
    await ours.fill()
    await empty.fill()
    const { needed } = await bench.interleave(rounds, {
      full: (round) => ours.run(round),
      empty: (round) => empty.run(round),
      needed: () => openNeeded(join(directory, 'full')),
    })
    const whose = users === 1 ? 'of 1 user' : `of ${users.toLocaleString('en')} users`
    const peer = 'an empty queue'
    for (const [part, what, count, unit] of [
      ['open', 'open a queue of 1,000,000', 1, 'opens/s'],
      ['load', 'load into 1,000,000', few, 'loads/s'],
      ['work', 'claim to completion in 1,000,000', few, 'jobs/s'],
    ] as const) {
      const names = { scenario: `${what} ${whose}`, peer }
      const target = { least: 0.9 }
      const operations = { count, unit }
      bench.report(
        bench.compareOperations(names, operations, ours.parts[part], empty.parts[part], target),
      )
    }
    const toNeeded = { scenario: `open a queue of 1,000,000 ${whose}`, peer: openingName }
    const opens = { count: 1, unit: 'opens/s' }
    bench.report(bench.compareOperations(toNeeded, opens, ours.parts.open, needed, { least: 0.8 }))
  })
}

/** A queue that holds so many documents at the beginning of each round. */
class Queue {
  readonly parts: Parts = { open: [], load: [], work: [] }
  readonly #directory: string
  readonly #users: number
  readonly #held: number
  #next = 0

  constructor(directory: string, users: number, held: number) {
    this.#directory = directory
    this.#users = users
    this.#held = held
  }

  async fill(): Promise<void> {
    await using keep = await openOurs(this.#directory)
    await defineFlow(keep.flows, concurrency)
    const time = await bench.seconds(() =>
      inFlight(this.#documents(this.#held), 1000, (document) => keep.flows.load(flow, document)),
    )
    if (this.#held === 0) return
    const rss = Math.round(process.memoryUsage.rss() / bench.MiB)
    bench.note(`  ${Math.round(this.#held / time)} loads/s, ${this.#users} users, RSS ${rss} MiB`)
  }

  /** The seconds of all three parts; each is kept by itself. */
  async run(round: number): Promise<number> {
    const start = process.hrtime.bigint()
    await using keep = await openOurs(this.#directory)
    const { flows } = keep
    const counted = await defineFlow(flows, concurrency)
    const before = await flows.stats(flow)
    // With the first look at the flow: what opening put off is paid by then.
    const open = Number(process.hrtime.bigint() - start) / 1e9
    bench.check(before.queued === this.#held, `how many are queued before: ${before.queued}`)
    const documents = [...this.#documents(few)]
    const load = await bench.seconds(() =>
      inFlight(documents, 200, (document) => flows.load(flow, document)),
    )
    const work = await processOurs(flows, counted, few)
    bench.check(counted.runs >= few, `the runs of the step: ${counted.runs}`)
    // The runner may have gone on for a moment: what it took too many is put back.
    const { queued } = await flows.stats(flow)
    const missing = this.#held - queued
    await inFlight(this.#documents(missing), 200, (document) => flows.load(flow, document))
    if (round >= 0) {
      this.parts.open.push(open)
      this.parts.load.push(load)
      this.parts.work.push(work)
    } else {
      bench.note(`  first opening of ${this.#held}: ${(open * 1000).toFixed(1)} ms`)
    }
    return open + load + work
  }

  *#documents(count: number) {
    const shape = { textBytes, users: this.#users }
    for (let n = 0; n < count; n++) yield createDocument(this.#next++, shape)
  }
}

// Down here, because a class is not there before its line.
bench.note('flows-million')
for (const users of [1, 1000]) await measure(users)
