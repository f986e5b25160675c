// Loads documents and processes them until it is killed: each load announced before it is begun and
// after it was acknowledged, and each completion that is durable. Arguments: where the data is, seed, first
// version.

import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { backendAt } from './place.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { clockOf, definitionOf, leaseMs, users } from './flows-crash-flow.js'

const [data, seed, first] = process.argv.slice(2)
const random = new Random(Number(seed))
let version = Number(first)

say('opening')
const keep = await createLorekeep({
  backend: backendAt(data as string),
  leaseMs,
  clock: clockOf(random),
})
say('open')
const { flows } = keep
await flows.define(definitionOf(random, say))
flows.run()
void tellDone()
await Promise.all([1, 2, 3].map(load))

async function load(): Promise<never> {
  for (;;) {
    const { version: n, user, id } = next()
    say(`begin ${n}`)
    const { job } = await flows.load('f', { id, user, content: `version ${n}` })
    say(`loaded ${n} ${job} ${user} ${id}`)
    await delay(random.below(30))
  }
}

function next() {
  return { version: version++, user: random.pick(users), id: `d${random.below(12)}` }
}

/** Of completions that are durable. */
async function tellDone(): Promise<void> {
  for await (const event of flows.watch()) if (event.type === 'done') say(`done ${event.job}`)
}

/** Not console.log: the line has to be out before the next thing is done. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}
