// Random operations on a storage and on a sorted map: both must agree at every step.

import assert from 'node:assert/strict'
import { hasCode } from '../../src/errors.js'
import type { Operation, Precondition, Range } from '../../src/storage.js'
import { assertBytes, collect, hex } from './bytes.js'
import type { Context } from './types.js'
import { withSeed } from './random.js'
import type { Random } from './random.js'

const rounds = 400

export function model({ withStorage }: Context): void {
  withStorage('random operations leave what they leave in a sorted map', async (storage) => {
    await withSeed(async (random) => {
      const expected = new Map<string, Uint8Array>()
      const key = () => random.bytes(1 + random.integer(3)).map((byte) => byte % 7)
      const value = () => random.bytes(random.pick([0, 1, 10, 300]))

      for (let round = 0; round < rounds; round++) {
        switch (random.integer(4)) {
          case 0: {
            const asked = key()
            assertBytes(await storage.get(asked), expected.get(hex(asked)))
            break
          }
          case 1: {
            const asked = Array.from({ length: random.integer(6) }, key)
            const found = await storage.getMany(asked)
            for (const [index, one] of asked.entries()) {
              assertBytes(found[index], expected.get(hex(one)))
            }
            break
          }
          case 2: {
            const range = randomRange(random, key)
            const entries = await collect(storage.scan(range))
            assert.deepEqual(
              entries.map((entry) => hex(entry.key)),
              expectedKeys([...expected.keys()].sort(), range),
            )
            if (range.keysOnly) break
            for (const entry of entries) assertBytes(entry.value, expected.get(hex(entry.key)))
            break
          }
          default: {
            const operations = Array.from({ length: random.integer(8) }, (): Operation =>
              random.integer(3) === 0
                ? { type: 'del', key: key() }
                : { type: 'put', key: key(), value: value() },
            )
            const require = Array.from({ length: random.integer(3) }, (): Precondition => {
              const named = key()
              const current = expected.get(hex(named))
              if (random.integer(4) === 0) return { type: 'equals', key: named, value: value() }
              return current === undefined
                ? { type: 'absent', key: named }
                : { type: 'equals', key: named, value: current }
            })
            const failing = require.findIndex((one) => {
              const current = expected.get(hex(one.key))
              if (one.type === 'absent') return current !== undefined
              return current === undefined || hex(current) !== hex(one.value)
            })
            const options = {
              require,
              durable: random.integer(10) === 0,
              together: random.integer(3) === 0,
            }
            if (failing !== -1) {
              await assert.rejects(storage.write(operations, options), (error: unknown) => {
                assert(hasCode(error, 'LK_STORAGE_CONFLICT'))
                assert.equal(error.details.index, failing)
                return true
              })
              break
            }
            await storage.write(operations, options)
            for (const operation of operations) {
              if (operation.type === 'put') expected.set(hex(operation.key), operation.value)
              else expected.delete(hex(operation.key))
            }
          }
        }
      }
    })
  })
}

/** Hexadecimal keeps the order of bytes, so plain strings can stand for keys. */
export function expectedKeys(sorted: readonly string[], range: Range): string[] {
  const { gte, gt, lte, lt, reverse = false, limit = Infinity } = range
  const found = sorted.filter(
    (key) =>
      (gte === undefined || key >= hex(gte)) &&
      (gt === undefined || key > hex(gt)) &&
      (lte === undefined || key <= hex(lte)) &&
      (lt === undefined || key < hex(lt)),
  )
  return (reverse ? found.reverse() : found).slice(0, limit)
}

export function randomRange(random: Random, key: () => Uint8Array): Range {
  const maybe = () => random.integer(3) === 0
  return {
    ...(maybe() && { gte: key() }),
    ...(maybe() && { gt: key() }),
    ...(maybe() && { lte: key() }),
    ...(maybe() && { lt: key() }),
    ...(maybe() && { limit: random.integer(20) }),
    reverse: random.integer(2) === 0,
    keysOnly: random.integer(2) === 0,
  }
}
