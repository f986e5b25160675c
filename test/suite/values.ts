// get and getMany: keys, values, and whose bytes they are.

import assert from 'node:assert/strict'
import { longestKey } from '../../src/storage.js'
import { assertBytes, bytes, collect, hex, numbered, put, text } from './bytes.js'
import { withSeed } from './random.js'
import type { Context } from './types.js'

export function values({ withStorage }: Context): void {
  withStorage('get gives undefined for a key that was never written', async (storage) => {
    assert.equal(await storage.get(text('missing')), undefined)
  })

  withStorage('get gives the value last written', async (storage) => {
    await put(storage, text('a'), text('one'))
    await put(storage, text('a'), text('two'))
    assertBytes(await storage.get(text('a')), text('two'))
  })

  withStorage('get gives undefined after a delete', async (storage) => {
    await put(storage, text('a'), text('one'))
    await storage.write([{ type: 'del', key: text('a') }])
    assert.equal(await storage.get(text('a')), undefined)
    assert.deepEqual(await collect(storage.scan({})), [])
  })

  withStorage('an empty value is not absent', async (storage) => {
    await put(storage, text('a'), bytes())
    assertBytes(await storage.get(text('a')), bytes())
    const [value] = await storage.getMany([text('a')])
    assertBytes(value, bytes())
    const [entry] = await collect(storage.scan({}))
    assertBytes(entry?.value, bytes())
    await assert.rejects(storage.write([], { require: [{ type: 'absent', key: text('a') }] }), {
      code: 'LK_STORAGE_CONFLICT',
    })
    await storage.write([], { require: [{ type: 'equals', key: text('a'), value: bytes() }] })
  })

  withStorage('an empty value is one, whatever its bytes lie in', async (storage) => {
    // Of some the memory has no address, which zlib's crc32 takes for the beginning of a checksum.
    const values = [
      bytes(),
      new Uint8Array(new ArrayBuffer(0)),
      text('').subarray(),
      Buffer.alloc(0),
    ]
    for (const [n, value] of values.entries()) {
      await put(storage, numbered(n), value)
      assertBytes(await storage.get(numbered(n)), bytes())
    }
    assert.equal((await collect(storage.scan({}))).length, values.length)
  })

  withStorage('keys are as long as the longest of the stores', async (storage) => {
    await withSeed(async (random) => {
      // Such as no compression makes shorter, and such as differ in the last byte alone.
      const key = Uint8Array.from(random.bytes(longestKey))
      const keys = [
        key,
        key.with(-1, key.at(-1)! ^ 1),
        new Uint8Array(longestKey),
        key.slice(0, -1),
      ]
      for (const [n, each] of keys.entries()) {
        const require = [{ type: 'absent', key: each } as const]
        await storage.write([{ type: 'put', key: each, value: numbered(n) }], { require })
      }
      for (const [n, value] of (await storage.getMany(keys)).entries()) {
        assertBytes(value, numbered(n))
      }
      const sorted = keys.toSorted((a, b) => Buffer.compare(a, b))
      const found = await collect(storage.scan({ gte: sorted[0]!, lte: sorted[3]! }))
      assert.deepEqual(
        found.map((entry) => hex(entry.key)),
        sorted.map((each) => hex(each)),
      )
      await storage.write([{ type: 'del', key }], {
        require: [{ type: 'equals', key, value: numbered(0) }],
      })
      assert.equal(
        (await collect(storage.scan({ gt: key }))).length +
          (await collect(storage.scan({ lt: key }))).length,
        3,
      )
    })
  })

  withStorage('an empty key is a TypeError', async (storage) => {
    const key = bytes()
    await assert.rejects(storage.get(key), TypeError)
    await assert.rejects(storage.getBytes(key, 0, 1), TypeError)
    await assert.rejects(storage.getMany([text('a'), key]), TypeError)
    await assert.rejects(storage.write([{ type: 'put', key, value: key }]), TypeError)
    await assert.rejects(storage.write([{ type: 'del', key }]), TypeError)
    await assert.rejects(storage.write([], { require: [{ type: 'absent', key }] }), TypeError)
  })

  withStorage('keys are told apart by every byte', async (storage) => {
    const keys = [
      bytes(0),
      bytes(0, 0),
      bytes(1),
      bytes(0x7f),
      bytes(0x80),
      bytes(0xff),
      bytes(0xff, 0),
    ]
    for (const [index, key] of keys.entries()) await put(storage, key, bytes(index))
    for (const [index, key] of keys.entries()) assertBytes(await storage.get(key), bytes(index))
  })

  withStorage('getMany answers in the order asked for', async (storage) => {
    await put(storage, text('a'), text('1'))
    await put(storage, text('b'), text('2'))
    const found = await storage.getMany(['b', 'x', 'a', 'b'].map(text))
    assert.equal(found.length, 4)
    assertBytes(found[0], text('2'))
    assert.equal(found[1], undefined)
    assertBytes(found[2], text('1'))
    assertBytes(found[3], text('2'))
    assert.deepEqual(await storage.getMany([]), [])
  })

  withStorage('values of 1 MiB come back whole', async (storage) => {
    const large = (seed: number) =>
      Uint8Array.from(
        { length: 1024 * 1024 },
        (_, index) => (index * 31 + seed + (index >>> 8)) & 0xff,
      )
    for (let index = 0; index < 4; index++) await put(storage, numbered(index), large(index))
    for (let index = 0; index < 4; index++) {
      assert(Buffer.from(large(index)).equals((await storage.get(numbered(index)))!))
    }
    const entries = await collect(storage.scan({}))
    assert.equal(entries.length, 4)
    for (const [index, { value }] of entries.entries()) {
      assert(Buffer.from(large(index)).equals(value))
    }
  })

  withStorage('bytes passed in are the caller’s again after the write', async (storage) => {
    const key = text('key')
    const value = text('value')
    await put(storage, key, value)
    key.fill(0)
    value.fill(0)
    assertBytes(await storage.get(text('key')), text('value'))
    assert.equal((await collect(storage.scan({}))).length, 1)
    assertBytes((await collect(storage.scan({})))[0]?.key, text('key'))
  })

  withStorage('bytes passed in are not changed', async (storage) => {
    const key = text('key')
    const value = text('value')
    await put(storage, key, value)
    await storage.get(key)
    await collect(storage.scan({ gte: key, lte: key }))
    assertBytes(key, text('key'))
    assertBytes(value, text('value'))
  })

  withStorage('getBytes gives what a value has of the bytes asked for', async (storage) => {
    assert.equal(await storage.getBytes(text('missing'), 0, 1), undefined)
    await put(storage, text('a'), text('value'))
    assertBytes(await storage.getBytes(text('a'), 0, 5), text('value'))
    assertBytes(await storage.getBytes(text('a'), 1, 3), text('al'))
    assertBytes(await storage.getBytes(text('a'), 3, 2 ** 40), text('ue'))
    for (const at of [0, 2, 5, 6, 2 ** 40]) {
      assertBytes(await storage.getBytes(text('a'), at, at), bytes())
    }
    await put(storage, text('a'), bytes())
    assertBytes(await storage.getBytes(text('a'), 0, 9), bytes())
    await storage.write([{ type: 'del', key: text('a') }])
    assert.equal(await storage.getBytes(text('a'), 0, 1), undefined)
  })

  withStorage('getBytes gives any bytes of a large value', async (storage) => {
    const value = new Uint8Array(300_001)
    for (let at = 0; at < value.length; at++) value[at] = (at * 31 + (at >> 9)) & 0xff
    await put(storage, text('large'), value)
    const edges = [
      0, 1, 16_383, 16_384, 16_385, 65_536, 131_071, 294_912, 300_000, 300_001, 300_002,
    ]
    for (const from of edges) {
      for (const to of edges) {
        if (from > to) continue
        assertBytes(await storage.getBytes(text('large'), from, to), value.slice(from, to))
      }
    }
    const some = await storage.getBytes(text('large'), 5, 50_000)
    some?.fill(0)
    assertBytes(await storage.get(text('large')), value)
  })

  withStorage('bytes that are not there to be asked for are a TypeError', async (storage) => {
    await put(storage, text('a'), text('value'))
    for (const [from, to] of [
      [-1, 1],
      [2, 1],
      [0.5, 1],
      [0, 1.5],
      [0, Infinity],
      [NaN, 1],
    ]) {
      await assert.rejects(storage.getBytes(text('a'), from as number, to as number), TypeError)
    }
  })

  withStorage('bytes that are views of a larger buffer are taken as the view', async (storage) => {
    const whole = text('..key..value..')
    await put(storage, whole.subarray(2, 5), whole.subarray(7, 12))
    assertBytes(await storage.get(text('key')), text('value'))
    assertBytes(await storage.get(whole.subarray(2, 5)), text('value'))
  })

  withStorage('bytes handed out are the caller’s to change', async (storage) => {
    await put(storage, text('key'), text('value'))
    const got = await storage.get(text('key'))
    got?.fill(0)
    const [many] = await storage.getMany([text('key')])
    many?.fill(0)
    for (const { key, value } of await collect(storage.scan({}))) {
      key.fill(0)
      value.fill(0)
    }
    assertBytes(await storage.get(text('key')), text('value'))
    assertBytes((await collect(storage.scan({})))[0]?.key, text('key'))
  })
}
