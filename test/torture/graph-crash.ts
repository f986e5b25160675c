import assert from 'node:assert/strict'
import { backendAt } from './place.js'
import type { KnowledgeStore } from '../../src/knowledge/types.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { coreProblems } from '../fixtures/problems.js'
import { digestOf, triplesOf, type Step } from './crash-content.js'
import { after, cores, user, type GraphStep } from './graph-crash-steps.js'
import { killedRun } from './killed-run.js'

export interface GraphCrashReport {
  readonly cycles: number
  readonly acknowledged: number
  /** Kills that fell into the opening of the store, and steps that a kill cut. */
  readonly killedOpening: number
  readonly cut: number
  /** Cut steps that turned out to have happened. */
  readonly cutButDone: number
  /** Cores that had an index, all or a part of it, when they were looked at after a kill. */
  readonly indexed: number
}

/**
 * Kills a process that changes, indexes and asks cores at random moments, again and again on one
 * directory, and looks after each kill: answers are those of what was acknowledged, a step that was
 * cut happened wholly or not at all, and the index says what the cores say, with no block besides. Throws where that is
 * not so.
 */
export async function graphCrashLoop(options: {
  readonly data: string
  readonly cycles: number
  readonly seed: number
  readonly onCycle?: (cycle: number) => void
}): Promise<GraphCrashReport> {
  const { data, cycles, seed, onCycle } = options
  const random = new Random(seed)
  const held = new Map<string, readonly Step[] | undefined>()
  const report = { cycles, acknowledged: 0, killedOpening: 0, cut: 0, cutButDone: 0, indexed: 0 }
  let steps = 0
  for (let cycle = 0; cycle < cycles; cycle++) {
    const args = [data, String(random.below(2 ** 31)), String(steps)]
    const lines = await killedRun('graph-crash-child.js', args, random)
    if (lines.at(-1) === 'opening') report.killedOpening++
    const cut = new Map<string, GraphStep>()
    for (const line of lines) {
      if (line.startsWith('begin ')) {
        const step = JSON.parse(line.slice(6)) as GraphStep
        cut.set(step.core, step)
        steps++
      } else if (line.startsWith('end ')) {
        const step = cut.get(line.slice(4)) as GraphStep
        cut.delete(step.core)
        held.set(step.core, after(held.get(step.core), step))
        report.acknowledged++
      }
    }
    report.cut += cut.size
    const keep = await createLorekeep({ backend: backendAt(data) })
    for (const core of cores) {
      const before = held.get(core)
      const step = cut.get(core)
      const stat = await keep.knowledge.stat({ user, id: core })
      const place = `cycle ${cycle}, core ${core}, seed ${seed}`
      if (stat?.digest !== (before && digestOf(before))) {
        assert.ok(step, `${place}: an acknowledged step is missing`)
        const expected = after(before, step)
        assert.equal(stat?.digest, expected && digestOf(expected), `${place}: half of a step`)
        held.set(core, expected)
        report.cutButDone++
      }
      if (stat === undefined) continue
      const { state } = await keep.knowledge.indexState({ user, id: core })
      if (state !== 'none') report.indexed++
    }
    await assertAnswers(keep.knowledge, held, `cycle ${cycle}, seed ${seed}`)
    await keep.close()
    const closed = backendAt(data)
    assert.deepEqual(await coreProblems(closed), [], `cycle ${cycle}, seed ${seed}`)
    await closed.close()
    onCycle?.(cycle)
  }
  return report
}

/** Each import has triples of its own, whose subjects begin with its name. */
async function assertAnswers(
  knowledge: KnowledgeStore,
  held: ReadonlyMap<string, readonly Step[] | undefined>,
  place: string,
): Promise<void> {
  const all: Step[] = []
  for (const [core, steps] of held) {
    if (steps === undefined) continue
    all.push(...steps)
    const graph = knowledge.graph({ user, cores: [core] })
    const triples = steps.reduce((sum, step) => sum + triplesOf(step), 0)
    assert.equal(await graph.count(), triples, `${place}, counted in ${core}`)
    for (const { name } of steps.slice(-3)) {
      const s = { v: `http://example.org/${name}/0`, e: true }
      assert.equal(await graph.count({ s }), 1, `${place}, ${name} in ${core}`)
    }
  }
  const found: Record<string, number> = {}
  for await (const { s } of knowledge.graph({ user }).match()) {
    const name = s.v.split('/').at(-2) ?? ''
    found[name] = (found[name] ?? 0) + 1
  }
  const expected = Object.fromEntries(all.map((step) => [step.name, triplesOf(step)]))
  assert.deepEqual(found, expected, `${place}, over all cores`)
}
