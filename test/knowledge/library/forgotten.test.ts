// Parts come and go by the thousand: what is gone leaves nothing in memory.

import v8 from 'node:v8'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { BlockFile } from '../../../src/graph/index/block-cache.js'
import { Part } from '../../../src/graph/index/part.js'
import { pace } from '../../../src/knowledge/library/policy.js'
import type { CoreMessage } from '../../../src/types.js'
import { openStore } from '../../fixtures/stores.js'
import { entity, messageOf } from '../../graph/asked.js'

const user = 'u'

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
