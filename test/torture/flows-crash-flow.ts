// The flow that is killed: its steps are slow, fail now and then, and write a core in two messages.

import { setTimeout as delay } from 'node:timers/promises'
import { systemClock, type Clock } from '../../src/clock.js'
import type { FlowDefinition, StepContext } from '../../src/flow/types.js'
import type { CoreMessage } from '../../src/types.js'
import type { Random } from '../fixtures/random.js'

export const users = ['alice', 'bob', 'carol'] as const
/** Longer than the whole run: what a kill leaves is not waited for. */
export const leaseMs = 3_600_000
export const maxAttempts = 30

/** `say` gets a line for each step that begins. */
export function definitionOf(random: Random, say: (line: string) => void): FlowDefinition {
  const begin = async (name: string, { job }: StepContext) => {
    say(`step ${name} ${job}`)
    await delay(random.below(15))
    if (random.chance(0.05)) throw new Error('on purpose')
  }
  return {
    id: 'f',
    concurrency: 6,
    maxAttempts,
    minDelayMs: 5,
    maxDelayMs: 50,
    steps: [
      {
        name: 'read',
        run: async (_, context) => {
          await begin('read', context)
          return context.document.text
        },
      },
      {
        name: 'think',
        run: async (text, context) => {
          await begin('think', context)
          return { text, job: context.job }
        },
      },
      {
        name: 'store',
        run: async (thought, context) => {
          await begin('store', context)
          const { text, job } = thought as { readonly text: string; readonly job: string }
          const { user, id } = context.document
          context.signal.throwIfAborted()
          const messages = [0, 1].map((part) => messageOf(id, user, text, job, part))
          await context.knowledge.write({ user, id }, messages, { mode: 'replace' })
        },
      },
    ],
  }
}

/** A clock that somebody has set: right, or a day off. */
export function clockOf(random: Random): Clock {
  const shiftMs = random.pick([0, -86_400_000, 86_400_000])
  return { ...systemClock, now: () => Date.now() + shiftMs }
}

/** Says what it is made of in each of its triples. */
function messageOf(id: string, u: string, text: string, job: string, part: number): CoreMessage {
  const s = { v: `urn:${id}:${part}`, e: true }
  const triple = (p: string, v: string) => ({
    s,
    p: { v: `urn:${p}`, e: true },
    o: { v, e: false },
  })
  const m = { i: id, m: [], u, c: 'default' }
  return ['t', { m, t: [triple('text', text), triple('job', job)] }]
}
