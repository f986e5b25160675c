// What the processes of sharers-child.ts work on, and what they are told.

import { setTimeout as delay } from 'node:timers/promises'
import type { FlowDefinition } from '../../src/flow/types.js'
import { triplesMessage } from '../fixtures/stores.js'
import type { Random } from '../fixtures/random.js'

export interface Order {
  readonly data: string
  readonly seed: number
  /** Another one for each process that there ever is. */
  readonly place: number
  readonly leaseMs: number
  readonly retryMs: number
}

export const user = 'user'
export const flow = 'work'
/** That all of them append to. */
export const commonCore = 'common'

export const schema = {
  name: 's',
  fields: { id: { type: 'string', required: true }, place: { type: 'integer' } },
  indexes: ['place'],
}

/** Of each document a core, which says which job made it. */
export function definitionOf(random: Random): FlowDefinition {
  return {
    id: flow,
    concurrency: 8,
    maxAttempts: 100,
    minDelayMs: 5,
    maxDelayMs: 100,
    keepDone: 1_000_000,
    steps: [
      { name: 'think', run: () => delay(random.below(20)) },
      {
        name: 'store',
        run: async (_, { document, job, knowledge, signal }) => {
          signal.throwIfAborted()
          const ref = { user: document.user, id: document.id }
          await knowledge.write(ref, [triplesMessage(job, 2)], { mode: 'replace' })
        },
      },
    ],
  }
}
