// Of those who all change the same each has its share: nobody stays ahead because he is.

import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { createLorekeep, type Lorekeep } from '../src/lorekeep.js'
import type { Backend, PartitionName, Storage } from '../src/storage.js'
import { altered } from './fixtures/altered-storage.js'
import { overSharedPlaces } from './fixtures/shared-places.js'

const members = 3
const turnsInAll = 9
/** Whoever has made so many without so many turns keeps others waiting. */
const mostChanges = 30_000

const kinds = {
  objects: ({ objects }: Lorekeep, id: string) =>
    objects.import({
      metadata: { id: 'batch', user: 'alice', collection: 'c' },
      schema_name: 's',
      values: [{ id }],
    }),
  flows: ({ flows }: Lorekeep, id: string) => flows.load('f', { id, user: 'alice', content: id }),
}

/** Counts the turns that were given in one partition, where a write takes its time, as it does in no memory. */
class CountedTurns implements Backend {
  readonly shared = true
  turns = 0
  readonly #real: Backend
  readonly #counted: string

  constructor(real: Backend, counted: string) {
    this.#real = real
    this.#counted = counted
  }

  async open(partition: PartitionName): Promise<Storage> {
    const storage = await this.#real.open(partition)
    if (partition !== this.#counted) return storage
    const sharing = storage.sharing!
    const turn: typeof sharing.turn = async (name, signal) => {
      const release = await sharing.turn(name, signal)
      this.turns++
      return release
    }
    const write: typeof storage.write = async (operations, options) => {
      await wait(1)
      return storage.write(operations, options)
    }
    return altered(storage, { sharing: { ...sharing, turn }, write })
  }

  close(): Promise<void> {
    return this.#real.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

const over = await overSharedPlaces(t)

for (const [partition, change] of Object.entries(kinds)) {
  over(`${partition}: each has its turn as often as the others`, async (t, place) => {
    const all: { keep: Lorekeep; seen: CountedTurns; made: number; before: number }[] = []
    for (let n = 0; n < members; n++) {
      const seen = new CountedTurns(place.backend(), partition)
      const keep = await createLorekeep({ backend: seen, indexThreads: 0 })
      t.teardown(() => keep.close())
      all.push({ keep, seen, made: 0, before: 0 })
    }
    const [{ keep: first }] = all as [(typeof all)[0]]
    await first.objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
    await first.flows.define({ id: 'f', steps: [{ name: 'a', run: () => 'done' }] })
    // All of them make something before it counts, and have more to do all the time.
    let isCounted = false
    let isOver = false
    const work = all.flatMap((one, n) =>
      Array.from({ length: 8 }, async (_, worker) => {
        for (let made = 0; !isOver; made++) {
          await change(one.keep, `${n} ${worker} ${made}`)
          one.made++
          if (!isCounted && all.every(({ made }) => made > 0)) {
            isCounted = true
            for (const one of all) {
              one.seen.turns = 0
              one.before = one.made
            }
          }
          const turns = all.reduce((sum, { seen }) => sum + seen.turns, 0)
          if (turns >= turnsInAll && isCounted) isOver = true
          if (all.reduce((sum, { made }) => sum + made, 0) >= mostChanges) isOver = true
        }
      }),
    )
    await Promise.all(work)
    const turns = all.map(({ seen }) => seen.turns)
    const changes = all.map(({ made, before }) => made - before)
    t.comment(`turns ${String(turns)}, changes ${String(changes)}`)
    // Loads are posted beside the head, by nobody's turn.
    t.ok(isFair(partition === 'flows' ? changes : turns), `${String(turns)}, ${String(changes)}`)
    t.equal(
      await storedIn(first, partition),
      all.reduce((sum, { made }) => sum + made, 0),
    )
  })
}

/** Each has half at least of what all would have if they had the same. */
function isFair(shares: readonly number[]): boolean {
  const sum = shares.reduce((sum, share) => sum + share, 0)
  return Math.min(...shares) >= sum / shares.length / 2
}

async function storedIn({ objects, flows }: Lorekeep, partition: string): Promise<number> {
  if (partition === 'flows') return (await flows.stats('f')).queued
  return (await objects.query({ schema_name: 's', limit: 0 })).total
}
