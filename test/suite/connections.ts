// Connections to the engine that are cut, where the place can do that: what is acknowledged is there, and nothing is
// there twice or in part.

import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { hasCode } from '../../src/errors.js'
import type { Storage } from '../../src/storage.js'
import { collect, hex, numbered, put, text } from './bytes.js'
import type { Context } from './types.js'

const cuts = 5
/** An engine may take so long to see that somebody is gone. */
const goneMs = 20_000

export function connections({ withPlace }: Context): void {
  withPlace('writes go on, or are refused as a whole, where connections are cut', async (place) => {
    const { cut } = place
    if (cut === undefined) return
    const first = place.backend()
    const backends = first.shared ? [first, place.backend()] : [first]
    const storages = await Promise.all(backends.map((backend) => backend.open('objects')))
    const told = new Map<string, 'stored' | 'refused' | 'in doubt'>()
    let isOver = false
    const writing = storages.flatMap((storage, at) =>
      [0, 1].map(async (lane) => {
        for (let n = 0; !isOver; n++) {
          const name = `${at}.${lane}.${n}`
          told.set(name, await outcomeOf(storage, name))
        }
      }),
    )
    for (let n = 0; n < cuts; n++) {
      await wait(50)
      cut()
    }
    await wait(50)
    isOver = true
    await Promise.all(writing)
    const found = new Set<string>()
    for (const { key } of await collect(await settled(storages[0]!))) found.add(hex(key))
    for (const [name, outcome] of told) {
      const halves = ['a', 'b'].map((half) => found.delete(hex(text(`${name} ${half}`))))
      assert.equal(halves[0], halves[1], `${name} was written in part`)
      if (outcome !== 'in doubt')
        assert.equal(halves[0], outcome === 'stored', `${name}: ${outcome}`)
    }
    assert.equal(found.size, 0)
    assert([...told.values()].includes('stored'))
  })

  withPlace('a turn ends with the connection of who has it', async (place) => {
    const { cut } = place
    if (cut === undefined) return
    const [one, two] = [place.backend(), place.backend()]
    if (!one.shared) return
    const { sharing: had } = await one.open('objects')
    const { sharing: wanted } = await two.open('objects')
    await had!.turn('name')
    cut()
    const end = performance.now() + goneMs
    for (;;) {
      assert(performance.now() < end, 'nobody else gets the turn')
      try {
        const release = await wanted!.turn('name', AbortSignal.timeout(1000))
        release()
        return
      } catch (error) {
        if ((error as Error).name !== 'TimeoutError') await wait(20)
      }
    }
  })
}

/** Two keys in one write, which was made once if at all. */
async function outcomeOf(storage: Storage, name: string) {
  const keys = ['a', 'b'].map((half) => text(`${name} ${half}`))
  try {
    await storage.write(
      keys.map((key) => ({ type: 'put', key, value: numbered(1) })),
      { require: keys.map((key) => ({ type: 'absent', key })) },
    )
    return 'stored'
  } catch (error) {
    // Made twice, the second time would find the first.
    assert(!hasCode(error, 'LK_STORAGE_CONFLICT'), 'a write was made twice')
    return 'in doubt'
  }
}

/** When it answers again, and takes writes. */
async function settled(storage: Storage) {
  for (const end = performance.now() + goneMs; ; await wait(50)) {
    try {
      await put(storage, text('settled'), numbered(1))
      await storage.write([{ type: 'del', key: text('settled') }])
      return storage.scan({})
    } catch (error) {
      if (performance.now() > end) throw error
    }
  }
}
