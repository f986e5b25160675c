// Works on a directory until it is killed: one worker per core, each step announced before it is
// begun and after it was acknowledged. Arguments: where the data is, seed, first step number.

import { writeSync } from 'node:fs'
import { backendAt } from './place.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { contentOf, cores, user, type Step } from './crash-content.js'

const [data, seed, first] = process.argv.slice(2)
const random = new Random(Number(seed))
let next = Number(first)

say('opening')
const keep = await createLorekeep({ backend: backendAt(data as string) })
say('open')
await Promise.all(cores.map((core) => work(core)))

async function work(core: string): Promise<never> {
  for (;;) {
    const step = chooseStep(core)
    say(`begin ${JSON.stringify(step)}`)
    await carryOut(step)
    say(`end ${core}`)
  }
}

function chooseStep(core: string): Step {
  const name = `step ${next++}`
  const type = random.pick([
    'append',
    'append',
    'append',
    'replace',
    'replace',
    'delete',
    'bad',
  ] as const)
  if (type === 'delete') return { type, core, name, size: 0 }
  // From one small slice to several MiB.
  return { type, core, name, size: 1 + random.below(random.chance(0.3) ? 200 : 10) }
}

async function carryOut(step: Step): Promise<void> {
  const ref = { user, id: step.core }
  if (step.type === 'delete') {
    await keep.knowledge.delete(ref)
  } else if (step.type === 'bad') {
    const source = [...contentOf(step), Buffer.of(0xc1)]
    const failed = await keep.knowledge.import(ref, source).then(
      () => false,
      () => true,
    )
    if (!failed) throw new Error('a bad stream was accepted')
  } else {
    await keep.knowledge.import(ref, contentOf(step), { mode: step.type })
  }
}

/** Not console.log: the line has to be out before the next thing is done. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}
