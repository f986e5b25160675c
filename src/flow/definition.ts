// Definitions of flows: checked once, where they come in.

import { addUnknown, ErrorList } from '../error-list.js'
import { LorekeepError } from '../errors.js'
import type { JsonObject } from '../objects/types.js'
import { builtInNames, builtInSteps, isBuiltIn } from './steps/built-in.js'
import type { Problem } from './steps/options.js'
import type { Flow, FlowStep, Step } from './types.js'

export interface CheckedDefinition {
  readonly flow: Flow
  /** The steps of code, by their names. */
  readonly code: ReadonlyMap<string, Step>
}

const numbers = {
  concurrency: { least: 1, most: 10_000, otherwise: 4 },
  maxAttempts: { least: 1, most: 1000, otherwise: 5 },
  stepTimeoutMs: { least: 1, most: 2 ** 31 - 1, otherwise: 600_000 },
  minDelayMs: { least: 0, most: 2 ** 31 - 1, otherwise: 1000 },
  maxDelayMs: { least: 0, most: 2 ** 31 - 1, otherwise: 300_000 },
  maxQueued: { least: 1, most: Number.MAX_SAFE_INTEGER, otherwise: 10_000_000 },
  keepDone: { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: 10_000 },
} as const

const members = ['id', 'active', 'steps', ...Object.keys(numbers)]
const maxIdBytes = 256
const maxSteps = 100

/** @throws LorekeepError `LK_FLOW_INVALID` with `details.errors` */
export function checkDefinition(definition: unknown): CheckedDefinition {
  const problems = new ErrorList<Problem>()
  const fail = (path: string, message: string) => problems.add({ path, message })
  if (!isRecord(definition)) {
    fail('', 'a definition is an object')
    throw invalid(problems)
  }
  const { id, active = true, steps: given = builtInNames } = definition
  if (!isFlowId(id)) fail('id', `must be a string of 1 to ${maxIdBytes} bytes, well-formed`)
  if (typeof active !== 'boolean') fail('active', 'must be true or false')
  const code = new Map<string, Step>()
  const steps = readSteps(given, code, problems)
  builtInSteps(steps, problems, code)
  const found: Record<string, number> = {}
  for (const [name, { least, most, otherwise }] of Object.entries(numbers)) {
    const value = definition[name] ?? otherwise
    if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) {
      found[name] = Number(value)
    } else fail(name, `must be a whole number from ${least} to ${most}`)
  }
  addUnknown(problems, definition, members, (path) => ({
    path,
    message: `is unknown: there is ${members.join(', ')}`,
  }))
  if (problems.count > 0) throw invalid(problems)
  const limits = found as Record<keyof typeof numbers, number>
  return { flow: { id: id as string, active: active as boolean, steps, ...limits }, code }
}

/** What a new store has, and a salvaged one that has lost it. */
export function firstFlow(): Flow {
  return checkDefinition({ id: 'default' }).flow
}

export function isFlowId(id: unknown): id is string {
  if (typeof id !== 'string' || id === '' || !id.isWellFormed()) return false
  return Buffer.byteLength(id) <= maxIdBytes
}

/** The steps of a flow, ready to run; `undefined` where `code` lacks one. */
export function stepsOf(
  flow: Flow,
  code: ReadonlyMap<string, Step> | undefined,
): readonly Step[] | undefined {
  const problems = new ErrorList<Problem>()
  const built = builtInSteps(flow.steps, problems, code)
  // What is stored was checked, maybe by a version that knew other options.
  if (problems.count > 0) throw invalid(problems)
  const steps = flow.steps.map(({ name }, place) => built[place] ?? code?.get(name))
  return steps.every((step) => step !== undefined) ? steps : undefined
}

function readSteps(
  given: unknown,
  code: Map<string, Step>,
  problems: ErrorList<Problem>,
): readonly FlowStep[] {
  const fail = (path: string, message: string) => problems.add({ path, message })
  if (!Array.isArray(given) || given.length === 0 || given.length > maxSteps) {
    fail('steps', `must be a list of 1 to ${maxSteps} steps`)
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

function readStep(
  step: unknown,
  path: string,
  code: Map<string, Step>,
  problems: ErrorList<Problem>,
): FlowStep | undefined {
  const fail = (path: string, message: string) => problems.add({ path, message })
  const { name, options, run, timeoutMs, ...rest } = isRecord(step) ? step : { name: step }
  if (typeof name !== 'string' || name === '' || !name.isWellFormed()) {
    fail(path, `must be the name of a built-in step (${builtInNames.join(', ')}), or a step`)
    return undefined
  }
  if (run !== undefined) {
    if (typeof run !== 'function') fail(`${path}.run`, 'must be a function')
    if (options !== undefined) fail(`${path}.options`, 'are for built-in steps by name')
    if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && Number(timeoutMs) > 0)) {
      fail(`${path}.timeoutMs`, 'must be a whole number above 0')
    }
    code.set(name, step as Step)
    return { name, code: true }
  }
  addUnknown(problems, rest, [], (key) => ({
    path: `${path}.${key}`,
    message: 'is unknown: there is name, options, run, timeoutMs',
  }))
  if (timeoutMs !== undefined) fail(`${path}.timeoutMs`, 'is for steps of code')
  if (!isBuiltIn(name)) {
    fail(path, `'${name}' is no built-in step: there is ${builtInNames.join(', ')}`)
    return undefined
  }
  if (options === undefined) return { name }
  if (!isRecord(options)) {
    fail(`${path}.options`, 'must be an object')
    return undefined
  }
  // Its caller may go on changing it.
  return { name, options: structuredClone(options) as JsonObject }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(problems: ErrorList<Problem>): LorekeepError {
  const sentence = problems.sentence(({ path, message }) => `${path} ${message}`.trim())
  return new LorekeepError('LK_FLOW_INVALID', sentence, { details: problems.details })
}
