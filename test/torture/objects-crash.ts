import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { backendAt } from './place.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { ObjectStore } from '../../src/objects/types.js'
import { Random } from '../fixtures/random.js'
import { objectProblems } from '../fixtures/problems.js'
import { killedRun } from './killed-run.js'
import {
  after,
  definitionOf,
  emptyLane,
  lanes,
  objectOf,
  type Lane,
  type Step,
} from './objects-crash-steps.js'

export interface ObjectsCrashReport {
  readonly cycles: number
  readonly acknowledged: number
  /** Kills that fell into the opening of the store, and steps that a kill cut. */
  readonly killedOpening: number
  readonly cut: number
  /** Cut steps that turned out to have happened. */
  readonly cutButDone: number
  /** Kills that left pages which were kept for finds. */
  readonly left: number
}

/**
 * Kills a process that changes objects at random moments, again and again on one directory, and
 * looks after each kill: what was acknowledged is whole, a step that was cut happened wholly or not
 * at all, a deletion goes on by itself, and every index is right. Throws where that is not so.
 */
export async function objectsCrashLoop(options: {
  readonly data: string
  readonly cycles: number
  readonly seed: number
  readonly onCycle?: (cycle: number) => void
}): Promise<ObjectsCrashReport> {
  const { data, cycles, seed, onCycle } = options
  const random = new Random(seed)
  const held = new Map<string, Lane>()
  const report = { cycles, acknowledged: 0, killedOpening: 0, cut: 0, cutButDone: 0, left: 0 }
  let version = 0
  // Kills that all fall into the opening would show nothing.
  const last = () => (report.acknowledged === 0 ? 5 * cycles : cycles)
  for (let cycle = 0; cycle < last(); cycle++) {
    const args = [data, String(random.below(2 ** 31)), String(version)]
    const lines = await killedRun('objects-crash-child.js', args, random)
    if (lines.at(-1) === 'opening') report.killedOpening++
    const cut = new Map<string, Step>()
    for (const line of lines) {
      assert.ok(!line.startsWith('wrong'), `seed ${seed}, cycle ${cycle}: ${line}`)
      if (line.startsWith('begin ')) {
        const step = JSON.parse(line.slice(6)) as Step
        cut.set(step.lane, step)
        version++
      } else if (line.startsWith('end ')) {
        const step = cut.get(line.slice(4)) as Step
        cut.delete(step.lane)
        held.set(step.lane, after(held.get(step.lane) ?? emptyLane, step))
        report.acknowledged++
      }
    }
    report.cut += cut.size
    const backend = backendAt(data)
    if ((await objectProblems(backend)).some(isLeftPage)) report.left++
    const keep = await createLorekeep({ backend })
    for (const lane of lanes) {
      const place = `seed ${seed}, cycle ${cycle}, lane ${lane}, cut ${JSON.stringify(cut.get(lane))}`
      const before = held.get(lane) ?? emptyLane
      const step = cut.get(lane)
      const expected = step && after(before, step)
      if (step?.type === 'deleteCollection') await settled(keep.objects, lane, before.objects.size)
      const found = await laneOf(keep.objects, lane, place)
      if (isSame(found, before)) continue
      assert.ok(expected !== undefined, `${place}: an acknowledged step is missing`)
      assert.deepEqual(found, expected, `${place}: half of a step is there`)
      held.set(lane, expected)
      report.cutButDone++
    }
    await keep.close()
    const closed = backendAt(data)
    // A deletion that went on beside the reading may have left pages: the next to open deletes them.
    const problems = (await objectProblems(closed)).filter((line) => !isLeftPage(line))
    assert.deepEqual(problems, [], `seed ${seed}, cycle ${cycle}`)
    await closed.close()
    onCycle?.(cycle)
  }
  return report
}

function isLeftPage(problem: string): boolean {
  return problem.startsWith('leftover ("retired"')
}

/** Waits for a deletion that was begun to end. */
export async function settled(objects: ObjectStore, lane: string, size: number): Promise<void> {
  for (let n = 0; n < 500; n++) {
    const stat = (await objects.collections()).find(({ name }) => name === lane)
    if (stat === undefined) return
    // It had not begun: nothing is missing, and nothing goes.
    if (stat.objects === size && n > 5) return
    await delay(10)
  }
}

export async function laneOf(objects: ObjectStore, lane: string, place: string): Promise<Lane> {
  const { name } = definitionOf(lane, [])
  const schema = await objects.schema(name)
  const found = new Map<number, number>()
  if (schema === undefined) return emptyLane
  for await (const object of objects.find<{ version: number }>({ schema_name: name })) {
    const { version } = object
    const _id = object._id as number
    const own = Object.entries(object).filter(([field]) => !field.startsWith('_'))
    assert.deepEqual(Object.fromEntries(own), { ...objectOf(_id, version) }, place)
    found.set(_id, version)
  }
  return { objects: found, indexes: schema.indexes.map(String) }
}

export function isSame(a: Lane, b: Lane): boolean {
  if (a.objects.size !== b.objects.size || a.indexes.join() !== b.indexes.join()) return false
  return [...a.objects].every(([id, version]) => b.objects.get(id) === version)
}
