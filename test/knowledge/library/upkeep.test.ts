// What is done for a library in the background, and when nothing is to come any more.

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { LorekeepError } from '../../../src/errors.js'
import { BlockCache } from '../../../src/graph/index/block-cache.js'
import type { PartRecord } from '../../../src/graph/index/layout.js'
import { Part } from '../../../src/graph/index/part.js'
import { Collector } from '../../../src/knowledge/collector.js'
import { CoreTable } from '../../../src/knowledge/core-table.js'
import { HeldContent } from '../../../src/knowledge/library/held-content.js'
import { Lane } from '../../../src/knowledge/library/lane.js'
import { Library } from '../../../src/knowledge/library/library.js'
import { pace } from '../../../src/knowledge/library/policy.js'
import { Upkeep } from '../../../src/knowledge/library/upkeep.js'
import { createId } from '../../../src/knowledge/records.js'
import { createLorekeep } from '../../../src/lorekeep.js'

t.test('what is to be tried again is to come, until it is stopped', async (t) => {
  const usual = { ...pace }
  t.teardown(() => Object.assign(pace, usual))
  Object.assign(pace, { manySegments: 1, idleMs: 5 })
  const backend = new MemoryBackend()
  const cores = await backend.open('cores')
  const slices = await backend.open('slices')
  const table = new CoreTable(cores, new Collector(cores, slices, (error) => t.error(error)))
  const cache = new BlockCache(slices, Infinity)
  const open = (record: PartRecord) => new Part(cache, record)
  const library = new Library('u', table, open, new HeldContent())
  const errors: unknown[] = []
  const upkeep = new Upkeep({
    library,
    tools: {
      table,
      slices,
      read: async function* () {
        throw new LorekeepError('LK_STORAGE_FAILED')
      },
      minLinked: Infinity,
      now: Date.now,
    },
    merges: new Lane(1),
    inTurn: (_, __, work) => work(),
    isOn: true,
    bytesPerSecond: Infinity,
    onError: (error) => errors.push(error),
  })
  library.onChange = () => upkeep.notice()
  const name = { user: 'u', id: 'core' }
  const own = { user: 'u', core: 'core', generation: createId(Date.now()), segment: 0 }
  const waiting = { ...own, bytes: 1, isSoon: true }
  t.ok(await library.commit({ name, operations: [], require: [], member: undefined, waiting }))
  while (errors.length === 0) await sleep(1)
  // Merges go on meanwhile, and have nothing to do.
  await sleep(50)
  t.match(errors, [{ code: 'LK_STORAGE_FAILED' }])
  t.equal(upkeep.isIdle, false)
  await upkeep.stop()
  t.equal(upkeep.isIdle, true)
  await sleep(1100)
  t.equal(errors.length, 1)
})

t.test('what waits for an index under way keeps nobody from a merge', async (t) => {
  const usual = { ...pace }
  t.teardown(() => Object.assign(pace, usual))
  Object.assign(pace, { quietMs: 1 })
  const backend = new MemoryBackend()
  const cores = await backend.open('cores')
  const slices = await backend.open('slices')
  const table = new CoreTable(cores, new Collector(cores, slices, (error) => t.error(error)))
  const cache = new BlockCache(slices, Infinity)
  const library = new Library('u', table, (record) => new Part(cache, record), new HeldContent())
  const merges = new Lane(1)
  let letThrough = () => undefined as void
  const held = new Promise<void>((resolve) => (letThrough = resolve))
  let isRead = false
  const upkeep = new Upkeep({
    library,
    tools: {
      table,
      slices,
      read: async function* () {
        isRead = true
        await held
        throw new LorekeepError('LK_STORAGE_FAILED')
      },
      minLinked: Infinity,
      now: Date.now,
    },
    merges,
    inTurn: (_, __, work) => work(),
    isOn: true,
    bytesPerSecond: Infinity,
    onError: () => undefined,
  })
  const name = { user: 'u', id: 'core' }
  const own = { user: 'u', core: 'core', generation: createId(Date.now()), segment: 0 }
  const waiting = { ...own, bytes: 1, isSoon: true }
  t.ok(await library.commit({ name, operations: [], require: [], member: undefined, waiting }))
  const indexing = upkeep.index(() => [...library.waiting.values()], { isThorough: false })
  while (!isRead) await sleep(1)
  upkeep.notice()
  await sleep(50)
  t.ok(merges.isIdle)
  await upkeep.link({})
  letThrough()
  await t.rejects(indexing, { code: 'LK_STORAGE_FAILED' })
  await upkeep.stop()
})

t.test('parts that nothing can make fewer hold up no import', { timeout: 60_000 }, async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { knowledge } = keep
  const m = { i: '', u: '', m: [], c: 'c' }
  const x = { v: 'urn:x', e: true }
  // A part for each length.
  const v = Array.from({ length: 120 }, (_, n) => new Array<number>(n + 1).fill(1))
  await knowledge.write({ user: 'u', id: 'many' }, [['ge', { m, e: [{ e: x, v }] }]])
  const { parts } = await knowledge.index({ user: 'u' })
  t.ok(parts > 100, `${parts} parts`)
  const triple = { s: x, p: x, o: x }
  await knowledge.write({ user: 'u', id: 'next' }, [['t', { m, t: [triple] }]])
  t.equal(await knowledge.graph({ user: 'u' }).count(), 1)
  t.match(await keep.health(), { ready: true })
})
