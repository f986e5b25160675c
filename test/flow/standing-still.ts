// Two processes over one backend, of which one stands still at a call of its storage until others took it for dead and
// it is somebody else. Each has its own time.

import t, { type Test } from 'tap'
import type { FaultyBackend } from '../fixtures/faulty-backend.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import type { KeptBackend } from '../objects/kept-backend.js'
import type { LorekeepOptions } from '../../src/lorekeep.js'
import type { Backend } from '../../src/storage.js'
import { running, type Running } from './running.js'

/** One behind a backend of the test's, and another. */
export async function openTwo(
  t: Test,
  wrap: (backend: Backend) => Backend,
  options: Partial<LorekeepOptions> = {},
) {
  const memory = new SharedMemory()
  const open = (backend: Backend) => running(t, { ...options, backend: backend as KeptBackend })
  return {
    one: await open(withoutTurns(wrap(memory.backend()))),
    two: await open(memory.backend()),
    memory,
  }
}

/** Turns are for order alone: who is held up in his would hold up others for two seconds each time. */
function withoutTurns(backend: Backend): Backend {
  return {
    ...{ shared: true, close: () => backend.close() },
    open: async (partition) => {
      const storage = await backend.open(partition)
      const sharing = storage.sharing && { ...storage.sharing, turn: async () => () => undefined }
      return { ...storage, ...(sharing && { sharing }) }
    },
    [Symbol.asyncDispose]: () => backend.close(),
  }
}

/** Until what was asked of others has happened. */
export async function pass({ clock }: Running, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 500) await clock.advance(500)
}

type When = 'beforeCall' | 'afterCall'

/** A test of each storage call, held up before it happens, and before it answers. */
export function anywhere(name: string, body: (t: Test, when: When) => Promise<void>): void {
  for (const when of ['beforeCall', 'afterCall'] as const) {
    void t.test(`${name}, ${when}`, (t) => body(t, when))
  }
}

/** The n-th call from here on waits until what it gives is called. */
export function hold(faulty: FaultyBackend, n: number, when: When = 'beforeCall'): () => void {
  let goOn = (): void => undefined
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const call = faulty.calls + n
  faulty[when] = async (made) => {
    if (made === call) await held
  }
  return goOn
}

/** One is taken for dead by the other; its beat is refused, and it joins anew. */
export async function becomesAnother(one: Running, two: Running): Promise<void> {
  await two.clock.advance(70_000)
  for (let at = 0; at < 40_000; at += 2500) {
    await one.clock.advance(2500)
    await two.clock.advance(2500)
  }
}
