// Definitions of flows: checked once, where they come in.

import { Problems } from '../door/problems.js'
import type { JsonObject } from '../types.js'
import { builtInNames, builtInSteps, isBuiltIn } from './steps/built-in.js'
import type { Flow, FlowStep, Step } from './types.js'
import { Members } from '../door/members.js'
import { aFunction, aName, anObject, longestTimer } from '../door/rules.js'
import { isPlainObject, isRecord, quoted, shown, type Fields } from '../door/wording.js'

interface CheckedDefinition {
  readonly flow: Flow
  /** The steps of code, by their names. */
  readonly code: ReadonlyMap<string, Step>
}

/** What the numbers of a flow may be. */
export const flowNumbers = {
  concurrency: { least: 1, most: 10_000, otherwise: undefined },
  maxAttempts: { least: 1, most: 1000, otherwise: 5 },
  stepTimeoutMs: { least: 1, most: 2 ** 31 - 1, otherwise: 600_000 },
  minDelayMs: { least: 0, most: 2 ** 31 - 1, otherwise: 1000 },
  maxDelayMs: { least: 0, most: 2 ** 31 - 1, otherwise: 300_000 },
  maxQueued: { least: 1, most: Number.MAX_SAFE_INTEGER, otherwise: 10_000_000 },
  keepDone: { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: 10_000 },
} as const

/** Of a flow that names none, also of those that are stored: a new built-in step joins no flow. */
const defaultSteps = ['chunk', 'embed', 'extract', 'store', 'index']
const maxIdBytes = 256
const maxSteps = 100

/** @throws LorekeepError `LK_FLOW_INVALID` with `details.errors` */
export function checkDefinition(definition: unknown): CheckedDefinition {
  const problems = new Problems()
  const given = new Members(definition, '', problems, 'a definition of a flow, an object')
  problems.throwIfAny('LK_FLOW_INVALID')
  const id = given.need('id', aFlowId)
  const active = given.boolean('active') ?? true
  const code = new Map<string, Step>()
  const steps = readSteps(given.get('steps'), code, problems)
  builtInSteps(steps, problems, code)
  const found: Record<string, number> = {}
  const concurrency = onlyCompute(steps) ? computedAtOnce : askedAtOnce
  for (const [name, { least, most, otherwise }] of Object.entries(flowNumbers)) {
    found[name] = given.integer(name, least, most) ?? otherwise ?? concurrency
  }
  fitDelays(found, given)
  given.end()
  problems.throwIfAny('LK_FLOW_INVALID')
  const limits = found as Record<keyof typeof flowNumbers, number>
  return { flow: { id: id as string, active, steps, ...limits }, code }
}

/** A default gives way to what was given; two that were given have to fit. */
function fitDelays(found: Record<string, number>, given: Members): void {
  const { minDelayMs: least = 0, maxDelayMs: most = 0 } = found
  if (least <= most) return
  const [givenLeast, givenMost] = [given.get('minDelayMs'), given.get('maxDelayMs')]
  if (givenMost === undefined) found.maxDelayMs = least
  else if (givenLeast === undefined) found.minDelayMs = most
  // One that is no number at all was told of.
  else if (givenLeast === least && givenMost === most)
    given.fail('minDelayMs', `must be at most maxDelayMs, which is ${most}, not ${least}`)
}

/** Each may be a request to a model. */
const askedAtOnce = 4
/** What they store shares commits: of short texts 90 a second with 4 at once, 126 with 32. */
const computedAtOnce = 32

/** Whether steps neither ask a model nor do what nobody knows here. */
export function onlyCompute(steps: readonly FlowStep[]): boolean {
  return steps.every(({ code, options }) => code !== true && options?.['type'] !== 'openai')
}

/** What a new store has, and a salvaged one that has lost it. */
export function firstFlow(): Flow {
  return checkDefinition({ id: 'default' }).flow
}

export const aFlowId = aName(maxIdBytes)

/** The steps of a flow, ready to run; `undefined` where `code` lacks one. */
export function stepsOf(
  flow: Flow,
  code: ReadonlyMap<string, Step> | undefined,
): readonly Step[] | undefined {
  const problems = new Problems()
  const built = builtInSteps(flow.steps, problems, code)
  // What is stored was checked, maybe by a version that knew other options.
  problems.throwIfAny('LK_FLOW_INVALID')
  const steps = flow.steps.map(({ name }, place) => built[place] ?? code?.get(name))
  return steps.every((step) => step !== undefined) ? steps : undefined
}

function readSteps(
  given: unknown = defaultSteps,
  code: Map<string, Step>,
  problems: Problems,
): readonly FlowStep[] {
  const fail = (path: string, message: string) => problems.fail(path, message)
  if (!Array.isArray(given) || given.length === 0 || given.length > maxSteps) {
    fail('steps', `must be a list of 1 to ${maxSteps} steps, not ${foundIn(given)}`)
    return []
  }
  const names = new Set<string>()
  return given.flatMap((step: unknown, place): FlowStep[] => {
    const path = `steps[${place}]`
    const found = readStep(step, path, code, problems)
    if (found === undefined) return []
    if (names.has(found.name)) fail(path, `is called '${found.name}', as one before it`)
    // A step of code may stand in for one that is built in.
    const needsChunks = isBuiltIn(found.name) && found.name !== 'chunk' && found.code !== true
    if (needsChunks && code.size === 0 && !names.has('chunk')) {
      fail(path, `'${found.name}' needs 'chunk' before it, or a step of your own`)
    }
    names.add(found.name)
    return [found]
  })
}

/** An instance of a class has its methods on the prototype, and what it likes beside them. */
function membersOf(step: Fields): Fields {
  if (isPlainObject(step)) return step
  const { name, run, timeoutMs, record, options, embedder } = step as Fields
  return { name, run, timeoutMs, record, options, embedder }
}

/** Of a list that is too long, how long it is. */
function foundIn(given: unknown): string {
  return Array.isArray(given) && given.length > 0 ? `one of ${given.length}` : shown(given)
}

function readStep(
  step: unknown,
  path: string,
  code: Map<string, Step>,
  problems: Problems,
): FlowStep | undefined {
  const given = new Members(isRecord(step) ? membersOf(step) : { name: step }, path, problems)
  const name = given.get('name')
  if (typeof name !== 'string' || name === '' || !name.isWellFormed()) {
    const expected = `the name of a built-in step (${builtInNames.join(', ')}), or a step`
    problems.fail(path, `must be ${expected}, not ${shown(name)}`)
    return undefined
  }
  if (given.get('run') !== undefined) {
    given.take('run', aFunction)
    if (given.get('options') !== undefined) given.fail('options', 'are for built-in steps by name')
    given.integer('timeoutMs', 1, longestTimer)
    given.boolean('record')
    // Of embed(), for the steps behind it.
    given.take('embedder', aFunction)
    given.end()
    code.set(name, step as Step)
    return { name, code: true }
  }
  for (const member of ['timeoutMs', 'record'] as const) {
    if (given.get(member) !== undefined) given.fail(member, 'is for steps of code')
  }
  const options = given.take('options', anObject)
  given.end()
  if (!isBuiltIn(name)) {
    problems.fail(
      path,
      `is ${quoted(name)}, no built-in step: there are ${builtInNames.join(', ')}`,
    )
    return undefined
  }
  // Its caller may go on changing it.
  return options === undefined
    ? { name }
    : { name, options: structuredClone(options) as JsonObject }
}
