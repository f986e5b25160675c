// Writes to all three stores until it is killed, or told by a line on its input to close: each write
// announced before it is begun and after it was acknowledged or refused. Arguments: directory, seed,
// first version.

import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { hasCode } from '../../src/errors.js'
import { Random } from '../fixtures/random.js'
import { triplesMessage } from '../fixtures/stores.js'
import { coreNames, flow, groupSize, groups, profiles, schema, user } from './diskfull-content.js'

const [directory, seed, first] = process.argv.slice(2)
const random = new Random(Number(seed))
let version = Number(first)
let ended = false

const backend = new LevelBackend(directory as string, { profiles })
const keep = await createLorekeep({ backend, onError: report })
const { knowledge, objects, flows } = keep
process.stdin.once('data', () => (ended = true))
await untilDone(() => objects.defineSchema(schema))
await untilDone(() => flows.define({ ...flow, steps: [{ name: 'take', run: () => undefined }] }))
say('open')
flows.run()
const lanes = [
  lane('core', coreNames, async (id, n) => {
    // Some short, some in files of their own.
    const triples = random.chance(0.5) ? 10 : 1000 + random.below(4000)
    await knowledge.write({ user, id }, [triplesMessage(`version ${n}`, triples)], {
      mode: 'replace',
    })
  }),
  lane('objects', groups, async (collection, version) => {
    const values = Array.from({ length: groupSize }, (_, id) => ({ id: `i${id}`, version }))
    const metadata = { id: `batch ${version}`, user, collection }
    await objects.import({ metadata, schema_name: schema.name, values }, { onDuplicate: 'replace' })
  }),
  lane('flow', ['f'], async (_, n) => {
    const content = `version ${n} `.repeat(random.chance(0.1) ? 8000 : 20)
    return (await flows.load(flow.id, { user, id: `d${n % 50}`, content })).job
  }),
]
await Promise.all(lanes)
await keep.close()
// Open, it would keep the process.
process.stdin.destroy()

async function lane(
  kind: string,
  names: readonly string[],
  write: (name: string, version: number) => Promise<unknown>,
): Promise<void> {
  while (!ended) {
    const name = random.pick(names)
    const n = version++
    say(`begin ${kind} ${name} ${n}`)
    try {
      const job = await write(name, n)
      say(`done ${kind} ${name} ${n} ${String(job ?? '')}`)
    } catch (error) {
      report(error)
      say(`refused ${kind}`)
      await delay(20)
    }
  }
}

/** The disk may be full of what was there before. */
async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      report(error)
      await delay(50)
    }
  }
}

function report(error: unknown): void {
  if (hasCode(error, 'LK_STORAGE_FAILED') || hasCode(error, 'LK_STORAGE_UNAVAILABLE')) return
  say(`strange ${String(error)}`)
}

/** Not console.log: the line has to be out before the next thing is done. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}
