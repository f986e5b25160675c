// What uniqueness, leases and pointer flips are built on: preconditions under contention.

import assert from 'node:assert/strict'
import type { Storage } from '../../src/storage.js'
import { hasCode } from '../../src/errors.js'
import { assertBytes, numbered, put, text } from './bytes.js'
import type { Context } from './types.js'

export function concurrency({ withStorage, withPlace }: Context): void {
  withStorage('of 100 racers for an absent key exactly one wins', async (storage) => {
    const key = text('lease')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, racer) =>
        storage.write([{ type: 'put', key, value: numbered(racer) }], {
          durable: racer % 2 === 0,
          require: [{ type: 'absent', key }],
        }),
      ),
    )
    const winners = outcomes.flatMap(({ status }, racer) => (status === 'fulfilled' ? [racer] : []))
    assert.equal(winners.length, 1)
    assertBytes(await storage.get(key), numbered(winners[0]!))
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert(hasCode(outcome.reason, 'LK_STORAGE_CONFLICT'))
    }
  })

  withStorage('a counter raised by compare and swap ends exact', async (storage) => {
    const key = text('counter')
    await put(storage, key, numbered(0))
    await Promise.all(Array.from({ length: 20 }, () => raise(storage, key, 20)))
    assertBytes(await storage.get(key), numbered(400))
  })

  withPlace('racers through two handles of a partition are still one race', async (place) => {
    const backend = place.backend()
    const handles = await Promise.all([backend.open('objects'), backend.open('objects')])
    const key = text('lease')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, racer) =>
        handles[racer % 2]!.write([{ type: 'put', key, value: numbered(racer) }], {
          require: [{ type: 'absent', key }],
        }),
      ),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  })
}

/** Raises a counter by compare and swap. */
export async function raise(storage: Storage, key: Uint8Array, times: number): Promise<void> {
  for (let done = 0; done < times;) {
    const value = (await storage.get(key))!
    const next = numbered(Buffer.from(value).readUInt32BE() + 1)
    try {
      await storage.write([{ type: 'put', key, value: next }], {
        require: [{ type: 'equals', key, value }],
      })
      done++
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
    }
  }
}
