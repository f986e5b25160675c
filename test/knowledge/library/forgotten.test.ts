// Parts come and go by the thousand: what is gone leaves nothing in memory.

import v8 from 'node:v8'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { BlockFile } from '../../../src/graph/index/block-cache.js'
import { Part } from '../../../src/graph/index/part.js'
import { mostIdle } from '../../../src/knowledge/library/libraries.js'
import { Library } from '../../../src/knowledge/library/library.js'
import { pace } from '../../../src/knowledge/library/policy.js'
import type { CoreMessage } from '../../../src/types.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { openStore } from '../../fixtures/stores.js'
import { entity, messageOf } from '../../graph/asked.js'

const user = 'u'
const seed = pickSeed()

function messagesOf(n: number): CoreMessage[] {
  const m = { i: '', m: [], u: '', c: '' }
  const name = entity(`e${n}`)
  return [
    messageOf([{ s: name, p: entity('p'), o: name }]),
    ['ge', { m, e: [{ e: name, v: [[n, 1]] }] }],
  ]
}

/** How many objects of a class are reachable; collects garbage first. */
function reachable(kind: abstract new (...parts: never[]) => unknown): number {
  return v8.queryObjects(kind as never, { format: 'count' }) as unknown as number
}

const canCount = typeof v8.queryObjects === 'function'
t.test(
  'parts that were replaced by others are not kept by what questions read of them',
  { skip: !canCount && 'v8.queryObjects() came with Node 20.13' },
  async (t) => {
    const usual = { ...pace }
    t.teardown(() => Object.assign(pace, usual))
    Object.assign(pace, { manySegments: 4, quietMs: 5, idleMs: 20, fanOut: 3 })
    const { knowledge } = await openStore(t, new MemoryBackend())
    const graph = knowledge.graph({ user })
    const cores = 120
    for (let n = 0; n < cores; n++) {
      await knowledge.write({ user, id: `${n}` }, messagesOf(n), { index: true })
      t.equal((await graph.nearest([n, 1], { k: 200 })).length, n + 1)
      t.equal(await graph.count(), n + 1)
    }
    const { parts } = await knowledge.index({ user })
    t.equal(await graph.count(), cores)
    // What a thread or a timer has in hand yet.
    const most = 2 * parts + 10
    t.ok(reachable(Part) <= most, `${reachable(Part)} parts, where ${parts} are left`)
    t.ok(reachable(BlockFile) <= most, `${reachable(BlockFile)} files of blocks`)
  },
)

t.test(
  `libraries of users whom nobody asks for are not kept, and are found again (SEED=${seed})`,
  { skip: !canCount && 'v8.queryObjects() came with Node 20.13' },
  async (t) => {
    const usual = { pace: { ...pace }, mostIdle: { ...mostIdle } }
    t.teardown(() => {
      Object.assign(pace, usual.pace)
      Object.assign(mostIdle, usual.mostIdle)
    })
    Object.assign(pace, { manySegments: 4, quietMs: 1, idleMs: 2, fanOut: 3 })
    mostIdle.libraries = 3
    const random = new Random(seed)
    for (const indexThreads of [0, 1]) {
      const { knowledge } = await openStore(t, new MemoryBackend(), { indexThreads })
      const users = 30
      const said = Array.from({ length: users }, () => 0)
      const snapshots: { count: number; close: () => void; ask: () => Promise<number> }[] = []
      for (let step = 0; step < 400; step++) {
        const n = random.below(users)
        const name = `user ${n}`
        const work = async () => {
          const each = said[n] as number
          await knowledge.write({ user: name, id: `${each % 4}` }, messagesOf(step))
          said[n] = each + 1
        }
        if (random.chance(0.4)) await work()
        else if (random.chance(0.2)) {
          const snapshot = await knowledge.graph({ user: name }).snapshot()
          const close = () => snapshot.close()
          snapshots.push({ count: said[n] as number, close, ask: () => snapshot.count() })
        } else {
          t.equal(await knowledge.graph({ user: name }).count(), said[n])
        }
        if (snapshots.length > 5) {
          const { count, close, ask } = snapshots.shift() as (typeof snapshots)[number]
          t.equal(await ask(), count, 'a version that is held')
          close()
        }
        if (step % 20 === 0) await sleep(5)
      }
      for (const { close } of snapshots) close()
      await sleep(50)
      for (let n = 0; n < users; n++) {
        t.equal(await knowledge.graph({ user: `user ${n}` }).count(), said[n])
        await sleep(1)
      }
      const left = await leftOf(async (n) => {
        t.equal(await knowledge.graph({ user: `user ${n % 2}` }).count(), said[n % 2])
      })
      t.ok(left <= 12, `${left} libraries`)
    }
  },
)

/** How many libraries are left in the end: each question lets go of some for which nothing is to be done. */
async function leftOf(ask: (n: number) => Promise<void>): Promise<number> {
  let left = Infinity
  for (let n = 0; n < 100 && left > 12; n++) {
    await ask(n)
    await sleep(10)
    // Collecting garbage takes longer than all else.
    if (n % 10 === 9) left = reachable(Library)
  }
  return left
}

t.test(
  'libraries for which there is something to do do not keep others',
  { skip: !canCount && 'v8.queryObjects() came with Node 20.13' },
  async (t) => {
    const usual = { pace: { ...pace }, mostIdle: { ...mostIdle } }
    t.teardown(() => {
      Object.assign(pace, usual.pace)
      Object.assign(mostIdle, usual.mostIdle)
    })
    mostIdle.libraries = 3
    const { knowledge } = await openStore(t, new MemoryBackend())
    const ask = async (name: string) => {
      t.equal(await knowledge.graph({ user: name }).count(), 0)
    }
    // What is to come for them takes for ever.
    Object.assign(pace, { manySegments: 1e6, quietMs: 1e6, idleMs: 1e6 })
    const busy = 8
    for (let n = 0; n < busy; n++) {
      await knowledge.write({ user: `busy ${n}`, id: 'core' }, messagesOf(n))
    }
    Object.assign(pace, { idleMs: 1 })
    for (let n = 0; n < 40; n++) await ask(`idle ${n}`)
    await sleep(20)
    const left = await leftOf((n) => ask(`idle ${n % 2}`))
    t.ok(left <= busy + 4, `${left} libraries`)
  },
)
