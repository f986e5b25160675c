// Power cuts: a process works on all three stores while a preloaded shim journals what it does to
// names and contents; then the states of the disk that a cut at some moment may have left are laid
// out and opened. What was acknowledged by then has to be there whole, and what was begun as a
// whole or not at all.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { realpathSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { LevelBackend } from '../../adapters/level/index.js'
import { hasCode } from '../../src/errors.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { coreProblems, flowProblems, objectProblems } from '../fixtures/problems.js'
import { after as coreAfter, assertWhole } from './crash.js'
import { digestOf, user, type Step as CoreStep } from './crash-content.js'
import { isSame, laneOf as objectsOf, settled } from './objects-crash.js'
import { after as laneAfter, emptyLane, type Lane } from './objects-crash-steps.js'
import type { Session } from './powercut-child.js'
import {
  Journal,
  models,
  readTree,
  writeTree,
  type Model,
  type SyncCall,
  type Tree,
} from './powercut-journal.js'
import {
  coreLanes,
  definitionOf,
  documentOf,
  laneOf,
  leaseMs,
  objectLanes,
  textOf,
  type LoadStep,
  type Step,
} from './powercut-steps.js'

/** Below the root, so that parents have to be made too. */
export const location = '/made/for it/data'

export interface PowerCutReport {
  readonly sessions: number
  readonly models: Readonly<Record<string, ModelReport>>
  /** The first ones, for people. */
  readonly failures: readonly string[]
}

interface ModelReport {
  cuts: number
  /** Within the first 100 operations of a session. */
  early: number
  /** Steps that were acknowledged before the cuts, one session's counted for each cut. */
  acknowledged: number
  lost: number
  torn: number
  cannotOpen: number
}

/** Why power cuts cannot be tried here; undefined where they can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'the shim is for Linux'
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'there is no C compiler (cc)'
  }
}

/**
 * Where a directory for cuts is best made: what is laid out and opened there is synced for nothing,
 * since the journal alone says what lasts. In memory where there is room.
 */
export function memoryDirectory(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    accessSync('/dev/shm', constants.W_OK)
    if (bavail * bsize > 256 * 1024 ** 2) return '/dev/shm'
  } catch {
    // There is none.
  }
  return tmpdir()
}

export interface PowerCutOptions {
  readonly directory: string
  /** In each model. */
  readonly cuts: number
  readonly seed: number
  /** In each model, of one session. */
  readonly cutsPerSession?: number
  /** Syncs that are taken out. */
  readonly ignored?: (sync: SyncCall) => boolean
  readonly models?: readonly Model[]
  /** Ends at the first failure. */
  readonly untilFailure?: boolean
  readonly onSession?: (report: PowerCutReport) => void
}

/** Throws only where the harness itself is at fault: failures are counted. */
export async function powerCuts(options: PowerCutOptions): Promise<PowerCutReport> {
  const { directory, cuts, seed, cutsPerSession = 10, ignored, untilFailure = false } = options
  const tried = options.models ?? models
  const random = new Random(seed)
  mkdirSync(directory, { recursive: true })
  const failures: string[] = []
  const perModel = Object.fromEntries(tried.map((model) => [model, emptyReport()]))
  let sessions = 0
  const report = () => ({ sessions, models: perModel, failures })
  let start: Start = { tree: new Map(), known: nothing }
  for (let left = cuts; left > 0 && !(untilFailure && failures.length > 0);) {
    const place = `seed ${seed}, session ${sessions}`
    const journal = await record(directory, start, random, ignored)
    const now = Math.min(left, cutsPerSession)
    left -= now
    // Chosen one after the other, so that a seed repeats them; looked at several at a time.
    const waiting = tried
      .flatMap((model) => Array.from({ length: now }, () => model))
      .map((model, n) => ({ model, n, random: new Random(random.below(2 ** 32)) }))
    const follow: (Start | undefined)[] = waiting.map(() => undefined)
    const look = async ({ model, n, random }: (typeof waiting)[number]) => {
      const at = chooseCut(journal, random)
      const tree = journal.cut(at, model, random)
      const told = toldBefore(journal, at, start.known)
      const counts = perModel[model]!
      counts.cuts++
      if (journal.operations.filter((operation) => operation < at).length <= 100) counts.early++
      counts.acknowledged += told.acknowledged
      const drains = random.chance(0.25)
      try {
        const known = await check(join(directory, `cut ${n}`), tree, told, drains)
        follow[n] = { tree, known }
      } catch (error) {
        const kind = error instanceof Failure ? error.kind : 'torn'
        counts[kind]++
        const message = error instanceof Error ? error.message : String(error)
        if (failures.length < 40) {
          failures.push(`${place}, model ${model}, cut ${at} of ${journal.length}: ${kind}: ${message}`) // prettier-ignore
        }
      }
    }
    const queue = waiting.values()
    const lookAtSome = async () => {
      for (const one of queue) {
        if (untilFailure && failures.length > 0) return
        await look(one)
      }
    }
    await Promise.all(Array.from({ length: 4 }, lookAtSome))
    sessions++
    options.onSession?.(report())
    // What follows begins on what a cut has left, or anew.
    const starts = follow.filter((one) => one !== undefined)
    start = random.chance(0.5) && starts.length > 0 ? random.pick(starts) : anew
  }
  return report()
}

/** Whether a report has nothing bad in it. */
export function isWhole(report: PowerCutReport): boolean {
  return Object.values(report.models).every(
    ({ lost, torn, cannotOpen }) => lost + torn + cannotOpen === 0,
  )
}

const emptyReport = (): ModelReport => ({
  cuts: 0,
  early: 0,
  acknowledged: 0,
  lost: 0,
  torn: 0,
  cannotOpen: 0,
})

class Failure extends Error {
  readonly kind: 'lost' | 'torn' | 'cannotOpen'

  constructor(kind: Failure['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

// ── what is known of the stores ──────────────────────────────────────────────

interface Known {
  readonly cores: ReadonlyMap<string, readonly CoreStep[] | undefined>
  readonly objects: ReadonlyMap<string, Lane>
  /** Jobs and their documents. */
  readonly jobs: ReadonlyMap<string, LoadStep>
  readonly done: ReadonlySet<string>
  readonly version: number
}

interface Start {
  readonly tree: Tree
  readonly known: Known
}

const nothing: Known = {
  cores: new Map(),
  objects: new Map(),
  jobs: new Map(),
  done: new Set(),
  version: 1,
}
const anew: Start = { tree: new Map(), known: nothing }

interface Told extends Known {
  /** Begun and not acknowledged, by lane. */
  readonly begun: ReadonlyMap<string, Step>
  readonly acknowledged: number
}

/** What the process had said before that record. */
function toldBefore(journal: Journal, at: number, known: Known): Told {
  const cores = new Map(known.cores)
  const objects = new Map(known.objects)
  const jobs = new Map(known.jobs)
  const done = new Set(known.done)
  const begun = new Map<string, Step>()
  let { version } = known
  let acknowledged = 0
  for (const { at: when, line } of journal.said) {
    // Versions are not used again, whatever the cut has left of them.
    if (line.startsWith('begin ')) version++
    if (when >= at) continue
    if (line.startsWith('begin ')) {
      const step = JSON.parse(line.slice(6)) as Step
      begun.set(laneOf(step), step)
    } else if (line.startsWith('done ')) {
      done.add(line.slice(5))
      acknowledged++
    } else if (line.startsWith('end ')) {
      const lane = [...begun.keys()].find((name) => `${line} `.startsWith(`end ${name} `))!
      const { store, step } = begun.get(lane)!
      begun.delete(lane)
      acknowledged++
      if (store === 'cores') cores.set(step.core, coreAfter(cores.get(step.core), step))
      else if (store === 'flows') jobs.set(line.slice(`end ${lane} `.length), step)
      else objects.set(step.lane, laneAfter(objects.get(step.lane) ?? emptyLane, step))
    }
  }
  return { cores, objects, jobs, done, begun, version, acknowledged }
}

// ── recording ────────────────────────────────────────────────────────────────

/** Runs Node with the shim, on a root that has `before` in it. */
export async function journalOf(options: {
  /** For the shim and the journal. */
  readonly directory: string
  readonly root: string
  readonly before: Tree
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly ignored?: ((sync: SyncCall) => boolean) | undefined
}): Promise<Journal> {
  const { directory, root, before, args, env, ignored } = options
  const shim = join(directory, 'shim.so')
  if (!existsSync(shim)) {
    const source = 'test/torture/powercut-shim.c'
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', shim, source, '-ldl', '-lpthread'])
  }
  const file = join(directory, 'journal')
  rmSync(file, { force: true })
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ignore'],
    env: {
      ...process.env,
      ...env,
      LD_PRELOAD: shim,
      POWERCUT_ROOT: root,
      POWERCUT_JOURNAL: file,
      POWERCUT_SAY: '3',
      // Writes by io_uring would pass the shim by.
      UV_USE_IO_URING: '0',
    },
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.equal(code, 0, `the process with the shim ended with ${code ?? signal}`)
  return new Journal({ bytes: readFileSync(file), root, before, ignored })
}

async function record(
  directory: string,
  { tree, known }: Start,
  random: Random,
  ignored: ((sync: SyncCall) => boolean) | undefined,
) {
  const place = join(directory, 'session')
  rmSync(place, { recursive: true, force: true })
  writeTree(place, tree)
  const root = realpathSync(place)
  const session: Session = {
    seed: random.below(2 ** 31),
    version: known.version,
    smallLogs: random.chance(0.75),
    openings: 1 + random.below(3),
    steps: 4 + random.below(16),
  }
  const program = join('dist/test/torture', 'powercut-child.js')
  const journal = await journalOf({
    directory,
    root,
    before: tree,
    args: [program, root + location, JSON.stringify(session)],
    env: {
      POWERCUT_SYNC_US: random.pick(['0', '500', '2000']),
      POWERCUT_TABLE_US: random.pick(['0', '20000', '20000']),
    },
    ignored,
  })
  // Whatever the shim has missed shows here.
  const [found, journaled] = [readTree(root), journal.atEnd()]
  assert.deepEqual([...journaled.keys()].sort(), [...found.keys()].sort(), 'the journal has gaps')
  for (const [path, content] of found) {
    assert.ok(isDeepStrictEqual(content, journaled.get(path)), `the journal has gaps in ${path}`)
  }
  return journal
}

/** What is said of each partition. */
const about: Readonly<Record<string, RegExp>> = {
  cores: /^end core/,
  slices: /^end core/,
  objects: /^end objects/,
  flows: /^(done|end load)/,
}

/** Early in the session, behind something said, behind a full log, or anywhere. */
function chooseCut({ operations, said, rotations, length }: Journal, random: Random): number {
  const choice = random.next()
  if (choice < 0.35) return operations[random.below(Math.min(100, operations.length))]! + 1
  if (choice < 0.6) {
    // At once, or a moment later, when others have gone on.
    const { at } = random.pick(said)
    return Math.min(length, at + 1 + (random.chance(0.5) ? 0 : random.below(12)))
  }
  // Everything was closed.
  if (choice > 0.96) return length
  if (choice < 0.75) {
    // What was acknowledged in the new log before LevelDB made its name last.
    const exposed = rotations.flatMap(({ at: from, until, directory }) => {
      const lines = about[basename(directory)]!
      return said.filter(({ at, line }) => from < at && at < until && lines.test(line))
    })
    if (exposed.length > 0) return random.pick(exposed).at + 1
  }
  return random.below(length + 1)
}

// ── looking ──────────────────────────────────────────────────────────────────

/** What it turned out to hold. */
async function check(place: string, tree: Tree, told: Told, drains: boolean): Promise<Known> {
  rmSync(place, { recursive: true, force: true })
  writeTree(place, tree)
  const directory = place + location
  let keep: Lorekeep
  try {
    keep = await createLorekeep({ backend: new LevelBackend(directory), leaseMs })
  } catch (error) {
    throw new Failure('cannotOpen', String(error))
  }
  let known: Known
  try {
    known = {
      cores: await checkCores(keep, told),
      objects: await checkObjects(keep, told),
      ...(await checkFlows(keep, told)),
      version: told.version,
    }
    if (drains) await drain(keep, known)
  } finally {
    await keep.close()
  }
  const closed = new LevelBackend(directory)
  try {
    const problems = [
      ...(await coreProblems(closed)),
      ...(await objectProblems(closed)),
      ...(await flowProblems(await closed.open('flows'))),
    ]
    if (problems.length > 0) throw new Failure('torn', problems.join('; '))
  } finally {
    await closed.close()
  }
  return known
}

/** They are made of the same steps again and again. */
const digests = new Map<string, string>()

function digestOfAll(steps: readonly CoreStep[]): string {
  const name = steps.map(({ core, name, size }) => `${core} ${name} ${size}`).join()
  let digest = digests.get(name)
  if (digest === undefined) digests.set(name, (digest = digestOf(steps)))
  return digest
}

async function checkCores({ knowledge }: Lorekeep, told: Told): Promise<Known['cores']> {
  const known = new Map(told.cores)
  for (const core of coreLanes) {
    const before = told.cores.get(core)
    const found = (await knowledge.stat({ user, id: core }))?.digest
    if (found !== (before && digestOfAll(before))) {
      const begun = told.begun.get(`core ${core}`)
      if (begun?.store !== 'cores') throw new Failure('lost', `core ${core}`)
      const expected = coreAfter(before, begun.step)
      if (found !== (expected && digestOfAll(expected))) throw new Failure('torn', `core ${core}`)
      known.set(core, expected)
    }
    await assertWhole(knowledge, core, known.get(core))
  }
  return known
}

async function checkObjects({ objects }: Lorekeep, told: Told): Promise<Known['objects']> {
  const known = new Map(told.objects)
  for (const lane of objectLanes) {
    const before = told.objects.get(lane) ?? emptyLane
    const begun = told.begun.get(`objects ${lane}`)
    const step = begun?.store === 'objects' ? begun.step : undefined
    if (step?.type === 'deleteCollection') await settled(objects, lane, before.objects.size)
    const found = await objectsOf(objects, lane, `lane ${lane}`)
    if (isSame(found, before)) continue
    if (step === undefined) throw new Failure('lost', `objects of ${lane}`)
    const expected = laneAfter(before, step)
    if (!isSame(found, expected)) throw new Failure('torn', `objects of ${lane}: ${step.type}`)
    known.set(lane, expected)
  }
  return known
}

async function checkFlows(
  keep: Lorekeep,
  told: Told,
): Promise<{ jobs: Known['jobs']; done: Known['done'] }> {
  const { flows } = keep
  const jobs = new Map<string, LoadStep>()
  const done = new Set<string>()
  const begun = new Map(
    [...told.begun.values()].flatMap(({ store, step }) =>
      store === 'flows' ? [[step.version, step] as const] : [],
    ),
  )
  if ((await flows.get('f')) !== undefined) {
    for await (const { id, document, state } of flows.jobs({ flow: 'f' })) {
      const step = told.jobs.get(id) ?? begun.get(Number(document.slice(1)))
      if (step === undefined) throw new Failure('torn', `nobody loaded job ${id}, ${document}`)
      jobs.set(id, step)
      if (state === 'done') done.add(id)
      if (state === 'dead') throw new Failure('torn', `job ${id} is dead`)
    }
  }
  for (const id of told.jobs.keys()) if (!jobs.has(id)) throw new Failure('lost', `job ${id}`)
  for (const id of told.done) if (!done.has(id)) throw new Failure('lost', `the end of job ${id}`)
  // What a job has written was acknowledged before its end was.
  for (const id of [...done].slice(-5)) await assertCoreOf(keep, jobs.get(id)!)
  return { jobs, done }
}

/** Brings every document to its end, and looks at what it became. */
async function drain(keep: Lorekeep, { jobs, done }: Known): Promise<void> {
  const { flows } = keep
  if ((await flows.get('f')) === undefined) return
  await flows.define(definitionOf(() => Promise.resolve()))
  for await (const { id } of flows.jobs({ flow: 'f', state: 'done' })) {
    if (!done.has(id)) throw new Failure('torn', `job ${id} is done by itself`)
  }
  const runner = flows.run()
  for (let n = 0; ; n++) {
    const { queued, active, delayed, dead } = await flows.stats('f')
    if (dead > 0 || n === 3000) throw new Failure('torn', 'the queue does not come to its end')
    if (queued + active + delayed === 0) break
    await delay(10)
  }
  await runner.stop()
  for (const step of jobs.values()) await assertCoreOf(keep, step)
}

async function assertCoreOf({ knowledge }: Lorekeep, step: LoadStep): Promise<void> {
  const length = String(textOf(step.version).length)
  const found: string[] = []
  try {
    for await (const [kind, message] of knowledge.messages(documentOf(step))) {
      if (kind === 't') found.push(...message.t.map(({ o }) => o.v))
    }
  } catch (error) {
    if (!hasCode(error, 'LK_CORE_NOT_FOUND')) throw error
    throw new Failure('lost', `the core of d${step.version}`)
  }
  if (found.join() !== `${length},${length}`) {
    throw new Failure('torn', `the core of d${step.version}`)
  }
}
