// Changes, indexes and asks cores of a directory until it is killed: some workers with cores of their
// own, each step announced before it is begun and after it was acknowledged. Arguments: where the data is, seed,
// first step number.

import { writeSync } from 'node:fs'
import { backendAt } from './place.js'
import { hasCode } from '../../src/errors.js'
import { pace } from '../../src/knowledge/library/policy.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { contentOf } from './crash-content.js'
import { cores, user, type GraphStep } from './graph-crash-steps.js'

const [data, seed, first] = process.argv.slice(2)
const random = new Random(Number(seed))
let next = Number(first)
const workers = 4

// Parts are made and merged all the time.
Object.assign(pace, { manySegments: 4, quietMs: 5, idleMs: 20, fanOut: 2 })

say('opening')
const { knowledge } = await createLorekeep({
  backend: backendAt(data as string),
  graphCacheBytes: 1024 * 1024,
  indexThreads: 1,
})
say('open')
await Promise.all(Array.from({ length: workers }, (_, n) => work(n)))

async function work(n: number): Promise<never> {
  const own = cores.filter((_, at) => at % workers === n)
  for (;;) {
    const core = random.pick(own)
    const step = chooseStep(core)
    say(`begin ${JSON.stringify(step)}`)
    try {
      await carryOut(step)
    } catch (error) {
      // There is no such core to index or to ask.
      if (!hasCode(error, 'LK_CORE_NOT_FOUND')) throw error
    }
    say(`end ${core}`)
  }
}

function chooseStep(core: string): GraphStep {
  const types = [
    'append',
    'append',
    'append',
    'replace',
    'delete',
    'index',
    'all',
    'match',
  ] as const
  const type = random.pick(types)
  const size = 1 + random.below(random.chance(0.1) ? 60 : 5)
  return { type, core, name: `step ${next++}`, size, index: random.chance(0.5) }
}

async function carryOut({ type, core, name, size, index }: GraphStep): Promise<void> {
  const ref = { user, id: core }
  if (type === 'delete') await knowledge.delete(ref)
  else if (type === 'index') await knowledge.index(ref)
  else if (type === 'all') await knowledge.index({ user })
  else if (type === 'match') {
    const graph = knowledge.graph({ user, cores: [core] })
    // All of it, or left in the middle.
    const limit = index ? Infinity : 100
    for await (const _ of graph.match({}, { limit }));
  } else {
    const content = contentOf({ type, core, name, size })
    await knowledge.import(ref, content, { mode: type, index })
  }
}

/** Not console.log: the line has to be out before the next thing is done. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}
