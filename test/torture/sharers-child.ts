// One of several processes that use all three stores of one database at once: it imports objects and cores, loads
// documents and processes them, and says what was acknowledged, until it is killed or told to stop.

import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { PostgresBackend } from '../../adapters/postgres/index.js'
import { databaseUrl } from '../../src/cli/config/place.js'
import { LorekeepError } from '../../src/errors.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { Random } from '../fixtures/random.js'
import { triplesMessage } from '../fixtures/stores.js'
import { commonCore, definitionOf, flow, schema, user, type Order } from './sharers-work.js'

const { data, seed, place, leaseMs, retryMs } = JSON.parse(process.argv[2] as string) as Order
const random = new Random(seed)
let isOver = false
let batches = 0
const longest = new Map<string, number>()

say('opening')
const keep = await createLorekeep({
  backend: new PostgresBackend({ ...databaseUrl(data), shared: true, retryMs }),
  leaseMs,
  onError: (error) => say(`background ${String(error)}`),
})
const { objects, knowledge, flows } = keep
// Whoever is first; the others say the same.
await objects.defineSchema(schema)
await flows.define(definitionOf(random))
say('open')
const runner = flows.run()
// Told to, or left alone.
for (const event of ['data', 'end']) process.stdin.once(event, () => (isOver = true))
await Promise.all([
  repeat('object', importObjects),
  repeat('object', importObjects),
  repeat('core', importCore),
  repeat('append', appendCore),
  repeat('job', loadDocument),
  repeat('job', loadDocument),
])
for (const [kind, ms] of longest) say(`longest ${kind} ${Math.round(ms)}`)
await runner.stop()
await keep.close()
process.stdin.destroy()

/** What `work` gives is acknowledged: it is said at once, and has to be there in the end. */
async function repeat(kind: string, work: (n: number) => Promise<string>): Promise<void> {
  for (let n = 0; !isOver; n++) {
    const since = performance.now()
    try {
      const told = await work(n)
      say(`${kind} ${told}`)
      longest.set(kind, Math.max(longest.get(kind) ?? 0, performance.now() - since))
    } catch (error) {
      const code = error instanceof LorekeepError ? error.code : String(error)
      say(`error ${kind} ${code} ${Math.round(performance.now() - since)}`)
    }
    await delay(random.below(15))
  }
}

async function importObjects(): Promise<string> {
  const name = `${place}.${batches++}`
  const collection = random.chance(0.5) ? 'common' : `own ${place % 4}`
  const values = [0, 1, 2].map((n) => ({ id: `${name}.${n}`, place }))
  await objects.import({
    metadata: { id: name, user, collection },
    schema_name: schema.name,
    values,
  })
  return name
}

async function importCore(n: number): Promise<string> {
  const id = `core ${place}.${n}`
  const content = [encodeMessage(triplesMessage(id, 1 + random.below(20)), 0)]
  const { digest } = await knowledge.import({ user, id }, content)
  return `${digest} ${id}`
}

async function appendCore(n: number): Promise<string> {
  const name = `${place}.${n}`
  say(`begin ${name}`)
  const message = encodeMessage(triplesMessage(name, 2), 0)
  await knowledge.import({ user, id: commonCore }, [message], { mode: 'append' })
  return name
}

async function loadDocument(): Promise<string> {
  const id = `document ${place}.${batches++}`
  const { job } = await flows.load(flow, { id, user: `user ${random.below(8)}`, content: id })
  return job
}

/** Not console.log: the line has to be out before the next thing is done. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}
