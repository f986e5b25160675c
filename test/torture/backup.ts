// Backups of a store at work: cores, objects and flows are changed all at once, flows that run write
// cores of their own, and now and then a backup begins, to a target that takes its time. Each is
// restored into memory and compared with what was acknowledged at its call.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, restore } from '../../src/index.js'
import type { Backend, Lorekeep } from '../../src/index.js'
import { Random } from '../fixtures/random.js'
import { coreProblems, flowProblems, objectProblems } from '../fixtures/problems.js'
import { triplesMessage } from '../fixtures/stores.js'
import { contentOf, cores, digestOf, user, type Step } from './crash-content.js'

export interface BackupRuns {
  readonly engine: 'memory' | 'level'
  readonly backups: number
  readonly seed: number
  /** A fresh one for each run. */
  readonly directory: (run: number) => string
}

/** As many as of one store. */
const backupsPerRun = 10

export async function backupRuns({ engine, backups, seed, directory }: BackupRuns) {
  const counts = { backups: 0, entries: 0, bytes: 0, operations: 0, between: 0 }
  for (let run = 0; counts.backups < backups; run++) {
    const random = new Random(seed + run)
    const wanted = Math.min(backupsPerRun, backups - counts.backups)
    const backend = engine === 'memory' ? new MemoryBackend() : new LevelBackend(directory(run))
    try {
      await oneRun(backend, random, wanted, counts)
    } catch (error) {
      throw new Error(`run ${run} of seed ${seed} on ${engine}: ${String(error)}`, { cause: error })
    }
  }
  return counts
}

/** One kind of work, one operation after the other: what was acknowledged, and what may be by now. */
interface Lane {
  acknowledged: string
  next: string | undefined
  /** Makes an operation: what there is after it, and how to do it. */
  choose(): { readonly after: string; readonly run: () => Promise<unknown> }
  read(keep: Lorekeep): Promise<string>
}

async function oneRun(
  backend: Backend,
  random: Random,
  wanted: number,
  counts: Awaited<ReturnType<typeof backupRuns>>,
): Promise<void> {
  // Nothing is indexed beside the look at what lies there.
  const keep = await createLorekeep({ backend, leaseMs: 500, indexThreads: 0 })
  await keep.objects.defineSchema({ name: 's', fields: { n: { type: 'integer' } }, indexes: ['n'] })
  await keep.flows.define({ id: 'still', steps: [{ name: 'nothing', run: async () => 1 }] })
  await keep.flows.define(workingFlow)
  const runner = keep.flows.run({ flows: ['work'] })
  const lanes = [coresLane(keep, random), objectsLane(keep, random), queueLane(keep, random)]
  for (const lane of lanes) lane.acknowledged = await lane.read(keep)
  const loaded: string[] = []
  let stopped = false
  const work = async (lane: Lane) => {
    while (!stopped) {
      const { after, run } = lane.choose()
      lane.next = after
      await run()
      lane.acknowledged = after
      lane.next = undefined
      counts.operations++
      if (random.chance(0.3)) await turn()
    }
  }
  const load = async () => {
    for (let n = 0; !stopped; n++) {
      await keep.flows.load('work', { id: `w${n}`, user: 'worker', content: `text ${n}` })
      loaded.push(`w${n}`)
      await sleep(random.below(4))
    }
  }
  const working = Promise.all([...lanes.map(work), load()])
  working.catch(() => {})
  const checking: Promise<unknown>[] = []
  for (let n = 0; n < wanted; n++) {
    await Promise.race([sleep(5 + random.below(60)), working])
    const expected = lanes.map(({ acknowledged, next }) => [acknowledged, next])
    const before = [...loaded]
    const [target, bytes] = slowTarget(random)
    const check = async () => {
      const summary = await keep.backup(target)
      counts.backups++
      counts.entries += summary.entries
      counts.bytes += summary.bytes
      counts.between += expected.filter(([, next]) => next !== undefined).length
      await compare(bytes(), lanes, expected, before)
    }
    const checked = check()
    checked.catch(() => {})
    checking.push(checked)
    // Mostly one at a time.
    if (random.chance(0.8)) await Promise.race([checked, working])
  }
  try {
    await Promise.all(checking)
  } finally {
    stopped = true
    await working
    await runner.stop()
    await keep.close()
  }
}

async function compare(
  bytes: Uint8Array,
  lanes: readonly Lane[],
  expected: readonly (readonly (string | undefined)[])[],
  loaded: readonly string[],
): Promise<void> {
  const backend = new MemoryBackend()
  await restore(backend, bytes)
  // Nothing is indexed beside the look at what lies there.
  const keep = await createLorekeep({ backend, leaseMs: 500, indexThreads: 0 })
  for (const [n, lane] of lanes.entries()) {
    const found = await lane.read(keep)
    if (!expected[n]!.includes(found)) assert.equal(found, expected[n]![0], 'what was acknowledged')
  }
  const jobs = new Map<string, string>()
  for await (const job of keep.flows.jobs({ flow: 'work' })) jobs.set(job.document, job.state)
  for (const document of loaded) assert.ok(jobs.has(document), `${document} was loaded before`)
  // Across partitions: a job ends after its core was written, and only then.
  for (const [document, state] of jobs) {
    if (state !== 'done') continue
    const core = await keep.knowledge.stat({ user: 'worker', id: document })
    assert.equal(core?.triples, 3, `the core of ${document}, which is done`)
  }
  assert.deepEqual(await coreProblems(backend), [])
  assert.deepEqual(await objectProblems(backend), [])
  assert.deepEqual(await flowProblems(await backend.open('flows')), [])
  // It goes on where it was.
  await keep.flows.define(workingFlow)
  const runner = keep.flows.run({ flows: ['work'] })
  for (;;) {
    const { queued, active, delayed } = await keep.flows.stats('work')
    if (queued + active + delayed === 0) break
    await sleep(5)
  }
  await runner.stop()
  await keep.close()
}

/** Takes chunks at once, after a while, or with a long pause somewhere. */
function slowTarget(random: Random): readonly [Writable, () => Buffer] {
  const chunks: Buffer[] = []
  const pause = random.pick([0, 0, 1, 20])
  const target = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, callback) => {
      chunks.push(Buffer.from(chunk))
      if (pause === 0) callback()
      else setTimeout(callback, pause)
    },
  })
  return [target, () => Buffer.concat(chunks)]
}

/** Writes a core, and then is done. */
const workingFlow = {
  id: 'work',
  concurrency: 4,
  steps: [
    {
      name: 'write',
      run: async (
        _: unknown,
        {
          document,
          knowledge,
        }: { document: { id: string; user: string }; knowledge: Lorekeep['knowledge'] },
      ) => {
        const { id, user } = document
        await knowledge.write({ user, id }, [triplesMessage(id)], { mode: 'replace' })
      },
    },
  ],
} as never

function coresLane({ knowledge }: Lorekeep, random: Random): Lane {
  const steps = new Map<string, readonly Step[]>()
  const digests = new Map<string, string>()
  let n = 0
  const shown = () => JSON.stringify([...digests].sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    acknowledged: '',
    next: undefined,
    choose() {
      const core = random.pick(cores)
      const ref = { user, id: core }
      const type = random.pick(['append', 'append', 'replace', 'replace', 'delete'] as const)
      if (type === 'delete') {
        steps.delete(core)
        digests.delete(core)
        return { after: shown(), run: () => knowledge.delete(ref) }
      }
      // From one small slice to some of 1 MiB.
      const size = 1 + random.below(random.chance(0.2) ? 60 : 4)
      const step: Step = { type, core, name: `step ${n++}`, size }
      const all = [...(type === 'append' ? (steps.get(core) ?? []) : []), step]
      steps.set(core, all)
      digests.set(core, digestOf(all))
      return { after: shown(), run: () => knowledge.import(ref, contentOf(step), { mode: type }) }
    },
    async read({ knowledge }) {
      const found: [string, string][] = []
      for await (const { id, digest, segments } of knowledge.list({ user })) {
        found.push([id, digest])
        // Not only what the record says.
        const hash = createHash('sha256')
        for await (const chunk of await knowledge.export({ user, id })) hash.update(chunk)
        if (segments === 1) assert.equal(hash.digest('hex'), digest, id)
      }
      return JSON.stringify(found.sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

function objectsLane({ objects }: Lorekeep, random: Random): Lane {
  const model = new Map<string, number>()
  let next = 0
  const shown = () => JSON.stringify([...model].sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    acknowledged: '',
    next: undefined,
    choose() {
      const ids = [...model.keys()]
      const id = ids.length > 0 ? random.pick(ids) : undefined
      const type =
        id === undefined ? 'import' : random.pick(['import', 'import', 'replace', 'delete'])
      if (type === 'delete') {
        model.delete(id!)
        return { after: shown(), run: () => objects.delete('c', id!) }
      }
      if (type === 'replace') {
        const n = next++
        model.set(id!, n)
        return { after: shown(), run: () => objects.replace('c', id!, { n }) }
      }
      const values = Array.from({ length: 1 + random.below(40) }, () => ({
        id: `o${next}`,
        n: next++,
      }))
      for (const { id, n } of values) model.set(id, n)
      const metadata = { id: `batch ${next}`, user, collection: 'c' }
      return { after: shown(), run: () => objects.import({ metadata, schema_name: 's', values }) }
    },
    async read({ objects }) {
      const found: [string, number][] = []
      for await (const one of objects.find({ schema_name: 's' } as never)) {
        const { id, n } = one as unknown as { id: string; n: number }
        found.push([id, n])
      }
      return JSON.stringify(found.sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

function queueLane({ flows }: Lorekeep, random: Random): Lane {
  const waiting = new Map<string, string>()
  let n = 0
  const shown = () => JSON.stringify([...waiting.keys()].sort())
  return {
    acknowledged: '',
    next: undefined,
    choose() {
      const [document, job] = random.pick([...waiting, ['', '']])
      if (document !== '' && random.chance(0.3)) {
        waiting.delete(document!)
        return { after: shown(), run: () => flows.cancel(job!) }
      }
      const id = `d${n++}`
      waiting.set(id, '')
      const content = 'x'.repeat(random.chance(0.05) ? 200_000 : 20)
      return {
        after: shown(),
        run: async () => {
          waiting.set(id, (await flows.load('still', { id, user, content })).job)
        },
      }
    },
    async read({ flows }) {
      const found: string[] = []
      for await (const { document } of flows.jobs({ flow: 'still' })) found.push(document)
      return JSON.stringify(found.sort())
    },
  }
}
