// Works on all three stores of a directory, and says on descriptor 3 what it begins and what was
// acknowledged. Arguments: directory, and a Session as JSON.

import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { LevelBackend, type Profile } from '../../adapters/level/index.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { contentOf, user } from './crash-content.js'
import { carryOut as carryOutOnObjects, definitionOf as schemaOf } from './objects-crash-steps.js'
import {
  chooseCoreStep,
  chooseLoad,
  chooseStepOfObjects,
  coreLanes,
  definitionOf,
  documentOf,
  laneOf,
  leaseMs,
  objectLanes,
  textOf,
  type Step,
} from './powercut-steps.js'

export interface Session {
  readonly seed: number
  /** The first version of what it stores. */
  readonly version: number
  /** Logs of 64 KiB, which are started anew and compacted often. */
  readonly smallLogs: boolean
  /** How often the stores are opened, and the steps of each lane until they are closed. */
  readonly openings: number
  readonly steps: number
}

const [directory, session] = process.argv.slice(2) as [string, string]
const { seed, version: first, smallLogs, openings, steps } = JSON.parse(session) as Session
const random = new Random(seed)
let version = first

const small: Partial<Profile> = { writeBufferBytes: 64 * 1024, reclaimBytes: 8 * 1024 }
const profiles = { cores: small, slices: small, objects: small, flows: small }

for (let n = 0; n < openings; n++) {
  say('opening')
  const backend = new LevelBackend(directory, smallLogs ? { profiles } : {})
  const keep = await createLorekeep({ backend, leaseMs })
  say('open')
  await keep.flows.define(definitionOf(() => delay(random.below(4))))
  const watching = tellDone(keep)
  const runner = keep.flows.run()
  const repeat = async (choose: () => Step) => {
    for (let left = steps; left > 0; left--) await carryOut(keep, choose())
  }
  const loads = (): Step => ({ store: 'flows', step: chooseLoad(random, version++) })
  await Promise.all([
    ...coreLanes.map((core) =>
      repeat(() => ({ store: 'cores', step: chooseCoreStep(random, core, version++) })),
    ),
    ...objectLanes.map(async (lane) => {
      if ((await keep.objects.schema(schemaOf(lane, []).name)) === undefined) {
        await keep.objects.defineSchema(schemaOf(lane, []))
      }
      await repeat(() => ({ store: 'objects', step: chooseStepOfObjects(random, lane, version++) }))
    }),
    repeat(loads),
    repeat(loads),
  ])
  await runner.stop()
  say('closing')
  await keep.close()
  await watching
}

async function carryOut(keep: Lorekeep, step: Step): Promise<void> {
  say(`begin ${JSON.stringify(step)}`)
  const answer = await acted(keep, step)
  say(`end ${laneOf(step)}${typeof answer === 'string' ? ` ${answer}` : ''}`)
}

async function acted({ knowledge, objects, flows }: Lorekeep, { store, step }: Step) {
  if (store === 'cores') {
    const ref = { user, id: step.core }
    if (step.type === 'delete') return knowledge.delete(ref)
    return knowledge.import(ref, contentOf(step), { mode: step.type as 'append' | 'replace' })
  }
  if (store === 'flows') {
    const { job } = await flows.load('f', { ...documentOf(step), content: textOf(step.version) })
    return job
  }
  return carryOutOnObjects(objects, step)
}

/** Of completions that are durable. */
async function tellDone({ flows }: Lorekeep): Promise<void> {
  for await (const event of flows.watch()) if (event.type === 'done') say(`done ${event.job}`)
}

function say(line: string): void {
  writeSync(3, `${line}\n`)
}
