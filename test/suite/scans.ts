// scan: order, bounds, limits, pages, and what a page sees.

import assert from 'node:assert/strict'
import type { Range } from '../../src/storage.js'
import { assertBytes, bytes, collect, fill, hex, keysOf, numbered, put, text } from './bytes.js'
import type { Context } from './types.js'
import { expectedKeys, randomRange } from './model.js'
import { withSeed } from './random.js'

/** More than any adapter's page should hold. */
const many = 10_000

const awkward = [
  bytes(0),
  bytes(0, 0),
  bytes(0, 0xff),
  bytes(1),
  bytes(0x61),
  bytes(0x61, 0),
  bytes(0x61, 0x62),
  bytes(0x7f),
  bytes(0x80),
  bytes(0xed, 0xa0, 0x80),
  text('\uFFFD'),
  text('\u{1F600}'),
  bytes(0xfe, 0xff),
  bytes(0xff),
  bytes(0xff, 0),
  bytes(0xff, 0xff),
]

export function scans({ withStorage }: Context): void {
  withStorage('a scan of nothing has no pages', async (storage) => {
    for await (const page of storage.scan({})) assert.fail(`a page of ${page.length}`)
  })

  withStorage('entries come in the order of unsigned bytes, shorter first', async (storage) => {
    for (const key of [...awkward].reverse()) await put(storage, key, key)
    const expected = awkward.map(hex)
    assert.deepEqual(await keysOf(storage), expected)
    assert.deepEqual(await keysOf(storage, { reverse: true }), [...expected].reverse())
    for (const { key, value } of await collect(storage.scan({}))) assertBytes(value, key)
  })

  withStorage('bounds hold in every combination, in both directions', async (storage) => {
    const keys = awkward.map(hex)
    for (const key of awkward) await put(storage, key, key)
    const bounds = [
      undefined,
      bytes(),
      bytes(0),
      bytes(0x61, 0),
      bytes(0x61, 1),
      bytes(0xff, 0xff, 0),
    ]
    for (const lower of ['gte', 'gt'] as const) {
      for (const upper of ['lte', 'lt'] as const) {
        for (const from of bounds) {
          for (const to of bounds) {
            for (const reverse of [false, true]) {
              const range: Range = {
                ...(from && { [lower]: from }),
                ...(to && { [upper]: to }),
                reverse,
              }
              assert.deepEqual(
                await keysOf(storage, range),
                expectedKeys(keys, range),
                describe(range),
              )
            }
          }
        }
      }
    }
  })

  withStorage('random ranges give what a sorted list gives', async (storage) => {
    await withSeed(async (random) => {
      const known = new Set<string>()
      const key = () => random.bytes(1 + random.integer(3)).map((byte) => byte % 5)
      for (let count = 0; count < 60; count++) {
        const made = key()
        known.add(hex(made))
        await put(storage, made, made)
      }
      const keys = [...known].sort()
      for (let round = 0; round < 300; round++) {
        const range = randomRange(random, key)
        assert.deepEqual(await keysOf(storage, range), expectedKeys(keys, range), describe(range))
      }
    })
  })

  withStorage('a range whose bounds cross is empty', async (storage) => {
    await fill(storage, 10)
    for (const reverse of [false, true]) {
      assert.deepEqual(await keysOf(storage, { gte: numbered(5), lt: numbered(5), reverse }), [])
      assert.deepEqual(await keysOf(storage, { gt: numbered(5), lte: numbered(5), reverse }), [])
      assert.deepEqual(await keysOf(storage, { gte: numbered(8), lte: numbered(2), reverse }), [])
    }
  })

  withStorage('bounds of a scan may be reused once it was called', async (storage) => {
    await fill(storage, many)
    const gte = numbered(10)
    const lt = numbered(many - 10)
    const scan = storage.scan({ gte, lt })
    gte.fill(0xff)
    lt.fill(0)
    assert.equal((await collect(scan)).length, many - 20)
  })

  withStorage('limit counts entries over all pages', async (storage) => {
    await fill(storage, many)
    for (const limit of [0, 1, 2, 999, 1000, 1001, 2500, many - 1, many, many + 1]) {
      for (const reverse of [false, true]) {
        const keys = await keysOf(storage, { limit, reverse, keysOnly: true })
        assert.equal(keys.length, Math.min(limit, many))
        if (limit > 0) assert.equal(keys[0], hex(numbered(reverse ? many - 1 : 0)))
      }
    }
  })

  withStorage('a bound that is not bytes is a TypeError', async (storage) => {
    for (const name of ['gte', 'gt', 'lte', 'lt']) {
      for (const bound of [null, 'a', 1, [1], new ArrayBuffer(1)]) {
        assert.throws(() => storage.scan({ [name]: bound }), TypeError)
      }
    }
    assert.deepEqual(await keysOf(storage), [])
  })

  withStorage('a limit that is not a whole number is a TypeError', async (storage) => {
    for (const limit of [-1, 1.5, NaN]) assert.throws(() => storage.scan({ limit }), TypeError)
  })

  withStorage('keysOnly leaves values empty', async (storage) => {
    await fill(storage, 3)
    const entries = await collect(storage.scan({ keysOnly: true }))
    assert.deepEqual(
      entries.map(({ key }) => hex(key)),
      [0, 1, 2].map((number) => hex(numbered(number))),
    )
    for (const { value } of entries) assertBytes(value, bytes())
  })

  withStorage('10,000 entries come in several pages, each once', async (storage) => {
    await fill(storage, many)
    for (const reverse of [false, true]) {
      let pages = 0
      let next = reverse ? many - 1 : 0
      for await (const page of storage.scan({ reverse })) {
        pages++
        for (const { key, value } of page) {
          assertBytes(key, numbered(next))
          assertBytes(value, numbered(next))
          next += reverse ? -1 : 1
        }
      }
      assert.equal(next, reverse ? -1 : many)
      assert(pages > 1, 'pages are bounded')
    }
  })

  withStorage('the first page is of the time of the call', async (storage) => {
    await put(storage, text('a'), text('old'))
    await put(storage, text('b'), text('old'))
    const scan = storage.scan({})
    await storage.write([
      { type: 'put', key: text('a'), value: text('new') },
      { type: 'del', key: text('b') },
      { type: 'put', key: text('c'), value: text('new') },
    ])
    const first = await scan[Symbol.asyncIterator]().next()
    assert(!first.done)
    assert.deepEqual(
      first.value.map(({ key, value }) => `${Buffer.from(key)}=${Buffer.from(value)}`),
      ['a=old', 'b=old'],
    )
  })

  for (const reverse of [false, true]) {
    withStorage(
      `later pages see writes made between, no key comes twice (${reverse ? 'reverse' : 'forward'})`,
      async (storage) => {
        await fill(storage, many)
        const seen: string[] = []
        const final = numbered(reverse ? 0 : many - 1)
        const beyond = reverse ? bytes(0) : bytes(0xff)
        let first = true
        for await (const page of storage.scan({ reverse })) {
          seen.push(...page.map(({ key }) => hex(key)))
          if (!first) continue
          first = false
          const last = page.at(-1)!.key
          await storage.write([
            { type: 'put', key: final, value: text('changed') },
            { type: 'put', key: beyond, value: text('added') },
            // What lies behind the scan does not bring it back.
            { type: 'del', key: last },
            { type: 'put', key: last, value: text('again') },
            { type: 'put', key: reverse ? bytes(0xff, 0xff) : bytes(0), value: text('behind') },
          ])
        }
        assert.equal(new Set(seen).size, seen.length)
        const sorted = [...seen].sort()
        assert.deepEqual(seen, reverse ? sorted.reverse() : sorted)
        assert.equal(seen.length, many + 1)
        assert.equal(seen.at(-1), hex(beyond))
      },
    )
  }

  withStorage('the caller may change a page without leading the scan astray', async (storage) => {
    await fill(storage, many)
    let entries = 0
    for await (const page of storage.scan({})) {
      entries += page.length
      for (const { key } of page) key.fill(0)
    }
    assert.equal(entries, many)
  })

  withStorage('a scan may be left at any point, or never begun', async (storage) => {
    await fill(storage, many)
    storage.scan({})
    for await (const page of storage.scan({})) {
      assert(page.length > 0)
      break
    }
    await put(storage, text('after'), text('write'))
    assertBytes(await storage.get(text('after')), text('write'))
  })

  withStorage('a page is one state of the data', async (storage) => {
    // Two keys always written together are equal in every page.
    const pair = (number: number) => [
      { type: 'put', key: text('a'), value: numbered(number) } as const,
      { type: 'put', key: text('z'), value: numbered(number) } as const,
    ]
    await storage.write(pair(0))
    const writing = (async () => {
      for (let number = 1; number <= 200; number++) await storage.write(pair(number))
    })()
    for (let round = 0; round < 200; round++) {
      const [a, z] = await collect(storage.scan({}))
      assertBytes(a?.value, z?.value)
    }
    await writing
  })
}

function describe(range: Range): string {
  return JSON.stringify(range, (_, value: unknown) =>
    value instanceof Uint8Array ? `0x${hex(value)}` : value,
  )
}
