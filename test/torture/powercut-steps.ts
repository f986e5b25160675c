// What the process whose power is cut does in all three stores, and what has to be there afterwards.

import { type Step as CoreStep } from './crash-content.js'
import { chooseStep as chooseObjectStep, type Step as ObjectStep } from './objects-crash-steps.js'
import type { FlowDefinition, StepContext } from '../../src/flow/types.js'
import type { CoreMessage } from '../../src/types.js'
import type { Random } from '../fixtures/random.js'

export const coreLanes = ['one', 'two'] as const
export const objectLanes = ['one', 'two'] as const

export interface LoadStep {
  readonly version: number
  readonly user: string
}

export type Step =
  | { readonly store: 'cores'; readonly step: CoreStep }
  | { readonly store: 'objects'; readonly step: ObjectStep }
  | { readonly store: 'flows'; readonly step: LoadStep }

/** What happens one after the other; different lanes do at the same time. */
export function laneOf({ store, step }: Step): string {
  if (store === 'cores') return `core ${step.core}`
  return store === 'objects' ? `objects ${step.lane}` : `load ${step.version}`
}

export function chooseCoreStep(random: Random, core: string, version: number): CoreStep {
  const type = random.pick(['append', 'append', 'replace', 'replace', 'delete'] as const)
  const name = `step ${version}`
  if (type === 'delete') return { type, core, name, size: 0 }
  // A slice that LevelDB keeps, one in a file of its own, and several.
  return { type, core, name, size: random.chance(0.04) ? 50 : 1 + random.below(8) }
}

/** Few objects, so that they meet again, and batches that fill the log now and then. */
export function chooseStepOfObjects(random: Random, lane: string, version: number): ObjectStep {
  const step = chooseObjectStep(random, lane, 300, version)
  return 'size' in step ? { ...step, size: Math.min(step.size, 150) } : step
}

const users = ['alice', 'bob'] as const

export function chooseLoad(random: Random, version: number): LoadStep {
  return { version, user: random.pick(users) }
}

/** One document a load, so that it tells which. */
export const documentOf = ({ version, user }: LoadStep) => ({ id: `d${version}`, user })

/** Every fifth is too long for LevelDB and gets a file. */
export function textOf(version: number): string {
  return `version ${version} `.repeat(version % 5 === 0 ? 8000 : 1 + (version % 40))
}

export const leaseMs = 300

/** Makes of each document a core of two messages, with its length. `delay`: before each step. */
export function definitionOf(delay: () => Promise<unknown>): FlowDefinition {
  return {
    id: 'f',
    concurrency: 4,
    maxAttempts: 30,
    minDelayMs: 5,
    maxDelayMs: 50,
    steps: [
      {
        name: 'measure',
        run: async (_, { document }) => {
          await delay()
          return document.text.length
        },
      },
      {
        name: 'store',
        run: async (length, { document, knowledge, signal }: StepContext) => {
          await delay()
          signal.throwIfAborted()
          const { user, id } = document
          const messages = [0, 1].map((part) => messageOf(id, user, length as number, part))
          await knowledge.write({ user, id }, messages, { mode: 'replace' })
        },
      },
    ],
  }
}

function messageOf(id: string, u: string, length: number, part: number): CoreMessage {
  const s = { v: `urn:${id}:${part}`, e: true }
  const triple = { s, p: { v: 'urn:length', e: true }, o: { v: String(length), e: false } }
  return ['t', { m: { i: id, m: [], u, c: 'default' }, t: [triple] }]
}
