// Queues that share a storage, and wait for each other.

import { setImmediate as turn } from 'node:timers/promises'
import type { Test } from 'tap'
import type { JobQueue } from '../../../src/flow/queue/queue.js'
import { encodeKey, keyPrefix } from '../../../src/keys.js'
import type { Storage } from '../../../src/storage.js'
import { Presence } from '../../../src/presence.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { VirtualClock } from '../virtual-clock.js'
import { documentOf, openQueue } from './queues.js'

export interface Crowd {
  readonly memory: SharedMemory
  readonly clock: VirtualClock
  readonly storages: readonly Storage[]
  readonly queues: readonly JobQueue[]
}

/** Queues that post: one of them has waited long for its turn, to load the document `first`. */
export async function crowd(t: Test, count = 2): Promise<Crowd> {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const clock = new VirtualClock()
  const storages: Storage[] = []
  for (let n = 0; n < count; n++) storages.push(await memory.backend().open('flows'))
  const queues = await Promise.all(storages.map((storage) => openQueue(storage, { clock })))
  const release = await storages[0]!.sharing!.turn('head')
  const loading = queues[1]!.load('f', documentOf('first'))
  await turns()
  await clock.advance(100)
  await turns()
  release()
  await loading
  await clock.advance(100)
  await turns()
  for (const queue of queues) await queue.refresh()
  t.equal(await countOf(storages[0]!, 'gate'), 1)
  return { memory, clock, storages, queues }
}

/** Two processes that are there for each other. */
export async function members(
  t: Test,
  { memory, clock }: Pick<Crowd, 'memory' | 'clock'>,
): Promise<[Presence, Presence]> {
  const backend = memory.backend()
  const partitions = {
    cores: await backend.open('cores'),
    objects: await backend.open('objects'),
    flows: await backend.open('flows'),
  }
  const join = async () => {
    const presence = await Presence.join({ partitions, leaseMs: 30_000, clock, onError: () => {} })
    t.teardown(() => presence.close())
    return presence
  }
  return [await join(), await join()]
}

async function turns(): Promise<void> {
  for (let n = 0; n < 20; n++) await turn()
}

/** Records of a kind. */
export async function countOf(storage: Storage, kind: string): Promise<number> {
  let count = 0
  for await (const page of storage.scan({ ...keyPrefix(kind), keysOnly: true }))
    count += page.length
  // Of some there is one, and its key has nothing more.
  return count + ((await storage.get(encodeKey(kind))) === undefined ? 0 : 1)
}

/** What a post writes that is no larger than a block: that, the post, and the inbox. */
export const postSize = 3
