import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { backendAt } from './place.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { coreProblems } from '../fixtures/problems.js'
import { contentOf, cores, digestOf, user, type Step } from './crash-content.js'
import { killedRun } from './killed-run.js'

export interface CrashReport {
  readonly cycles: number
  readonly acknowledged: number
  /** Kills that fell into the opening of the store, and steps that a kill cut. */
  readonly killedOpening: number
  readonly cut: number
  /** Cut steps that turned out to have happened. */
  readonly cutButDone: number
}

/**
 * Kills a working process at random moments, again and again on one directory, and looks after
 * each kill: what was acknowledged is whole, a step that was cut happened wholly or not at all,
 * and nothing is left staged. Throws where that is not so.
 */
export async function crashLoop(options: {
  readonly data: string
  readonly cycles: number
  readonly seed: number
  readonly onCycle?: (cycle: number) => void
}): Promise<CrashReport> {
  const { data, cycles, seed, onCycle } = options
  const random = new Random(seed)
  /** The imports that each core holds; undefined where there is no core. */
  const held = new Map<string, readonly Step[] | undefined>()
  const report = { cycles, acknowledged: 0, killedOpening: 0, cut: 0, cutButDone: 0 }
  let steps = 0
  // Kills that all fall into the opening would show nothing.
  const last = () => (report.acknowledged === 0 ? 5 * cycles : cycles)
  for (let cycle = 0; cycle < last(); cycle++) {
    const args = [data, String(random.below(2 ** 31)), String(steps)]
    const lines = await killedRun('crash-child.js', args, random)
    if (lines.at(-1) === 'opening' || lines.length === 0) report.killedOpening++
    const cut = new Map<string, Step>()
    for (const line of lines) {
      if (line.startsWith('begin ')) {
        const step = JSON.parse(line.slice(6)) as Step
        cut.set(step.core, step)
        steps++
      } else if (line.startsWith('end ')) {
        const step = cut.get(line.slice(4)) as Step
        cut.delete(step.core)
        held.set(step.core, after(held.get(step.core), step))
        report.acknowledged++
      }
    }
    report.cut += cut.size
    await using keep = await createLorekeep({ backend: backendAt(data) })
    for (const core of cores) {
      const before = held.get(core)
      const step = cut.get(core)
      const found = (await keep.knowledge.stat({ user, id: core }))?.digest
      const place = `cycle ${cycle}, core ${core}, seed ${seed}`
      if (found !== (before && digestOf(before))) {
        assert.ok(step, `${place}: an acknowledged step is missing`)
        const expected = after(before, step)
        assert.equal(found, expected && digestOf(expected), `${place}: half of a step is there`)
        held.set(core, expected)
        report.cutButDone++
      }
      await assertWhole(keep.knowledge, core, held.get(core))
    }
    await keep.close()
    const backend = backendAt(data)
    assert.deepEqual(await coreProblems(backend), [], `cycle ${cycle}, seed ${seed}`)
    await backend.close()
    onCycle?.(cycle)
  }
  return report
}

export async function assertWhole(
  knowledge: Awaited<ReturnType<typeof createLorekeep>>['knowledge'],
  core: string,
  steps: readonly Step[] | undefined,
): Promise<void> {
  if (!steps) return
  const [found, expected] = [createHash('sha256'), createHash('sha256')]
  for await (const chunk of await knowledge.export({ user, id: core })) found.update(chunk)
  for (const step of steps) for (const chunk of contentOf(step)) expected.update(chunk)
  assert.equal(found.digest('hex'), expected.digest('hex'), `the content of ${core}`)
}

export function after(held: readonly Step[] | undefined, step: Step): readonly Step[] | undefined {
  switch (step.type) {
    case 'append':
      return [...(held ?? []), step]
    case 'replace':
      return [step]
    case 'delete':
      return undefined
    case 'bad':
      return held
  }
}
