// Works on the objects of a directory until it is killed: one worker a lane, each step announced
// before it is begun and after it was acknowledged. Arguments: where the data is, seed, first version.

import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { backendAt } from './place.js'
import { hasCode } from '../../src/errors.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { carryOut, chooseStep, definitionOf, lanes } from './objects-crash-steps.js'

const [data, seed, first] = process.argv.slice(2)
const random = new Random(Number(seed))
let next = Number(first)

say('opening')
const { objects } = await createLorekeep({ backend: backendAt(data as string) })
say('open')
await Promise.all([...lanes.map(work), ...lanes.map(read)])

/** Finds that take long, so that commits have to keep pages for them: each object once. */
async function read(lane: string): Promise<never> {
  const { name } = definitionOf(lane, [])
  for (;;) {
    const seen = new Set<unknown>()
    try {
      for await (const { _id } of objects.find({ schema_name: name })) {
        if (seen.has(_id)) say(`wrong: ${lane} has ${String(_id)} twice`)
        seen.add(_id)
        if (seen.size % 50 === 0) await delay(5)
      }
    } catch (error) {
      if (!hasCode(error, 'LK_SCHEMA_NOT_FOUND')) throw error
    }
    await delay(5)
  }
}

async function work(lane: string): Promise<never> {
  if ((await objects.schema(definitionOf(lane, []).name)) === undefined) {
    await objects.defineSchema(definitionOf(lane, []))
  }
  for (;;) {
    const step = chooseStep(random, lane, 4000, next++)
    say(`begin ${JSON.stringify(step)}`)
    await carryOut(objects, step)
    say(`end ${lane}`)
  }
}

/** Not console.log: the line has to be out before the next thing is done. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}
