// write: atomicity, order, preconditions.

import assert from 'node:assert/strict'
import type { Operation, Precondition } from '../../src/storage.js'
import { assertBytes, bytes, collect, keysOf, numbered, put, text } from './bytes.js'
import type { Context } from './types.js'

const conflict = (index: number) => (error: unknown) => {
  const { code, details } = error as { code?: string; details?: { index?: number } }
  assert.equal(code, 'LK_STORAGE_CONFLICT')
  assert.equal(details?.index, index)
  return true
}

export function writes({ withStorage }: Context): void {
  withStorage('the last operation on a key wins', async (storage) => {
    const key = text('a')
    await storage.write([
      { type: 'put', key, value: text('1') },
      { type: 'del', key },
      { type: 'put', key, value: text('2') },
      { type: 'put', key, value: text('3') },
    ])
    assertBytes(await storage.get(key), text('3'))
    await storage.write([
      { type: 'put', key, value: text('4') },
      { type: 'del', key },
    ])
    assert.equal(await storage.get(key), undefined)
  })

  withStorage('writes not waited for keep their order', async (storage) => {
    await Promise.all(
      Array.from({ length: 500 }, (_, number) => put(storage, text('a'), numbered(number))),
    )
    assertBytes(await storage.get(text('a')), numbered(499))
  })

  withStorage('a durable write is there when its promise resolves', async (storage) => {
    await storage.write([{ type: 'put', key: text('a'), value: text('1') }], { durable: true })
    assertBytes(await storage.get(text('a')), text('1'))
  })

  withStorage('a write of nothing resolves', async (storage) => {
    await storage.write([])
    await storage.write([], { durable: true, require: [] })
    assert.deepEqual(await collect(storage.scan({})), [])
  })

  withStorage('deleting what is not there is no error', async (storage) => {
    await storage.write([{ type: 'del', key: text('a') }])
  })

  withStorage('readers see all of a write or nothing', async (storage) => {
    const keys = Array.from({ length: 20 }, (_, index) => numbered(index))
    const versions = (number: number): Operation[] =>
      keys.map((key) => ({ type: 'put', key, value: numbered(number) }))
    await storage.write(versions(0))
    let writing = true
    const writer = (async () => {
      for (let number = 1; number <= 200; number++) await storage.write(versions(number))
      writing = false
    })()
    while (writing) {
      const found = await storage.getMany(keys)
      for (const value of found) assertBytes(value, found[0])
    }
    await writer
  })

  withStorage('a malformed operation leaves nothing of its write', async (storage) => {
    const good: Operation = { type: 'put', key: text('good'), value: text('1') }
    const bad = { type: 'put', key: bytes(), value: text('2') } as const
    const unknown = { type: 'merge', key: text('b') } as unknown as Operation
    await assert.rejects(storage.write([good, bad]), TypeError)
    await assert.rejects(storage.write([good, unknown]), TypeError)
    await assert.rejects(
      storage.write([
        good,
        { type: 'put', key: text('b'), value: 'text' as unknown as Uint8Array },
      ]),
      TypeError,
    )
    assert.deepEqual(await keysOf(storage), [])
  })

  withStorage(
    'a malformed precondition is a TypeError, and nothing is written',
    async (storage) => {
      const key = text('a')
      const wrong: unknown[] = [
        { type: 'greater', key, value: text('1') },
        { key, value: text('1') },
        { type: 'equals', key },
        { type: 'equals', key, value: '1' },
        { type: 'equals', key, value: null },
        { type: 'absent', key: 'a' },
      ]
      for (const one of wrong) {
        const require = [one as Precondition]
        await assert.rejects(
          storage.write([{ type: 'put', key, value: key }], { require }),
          TypeError,
        )
      }
      assert.deepEqual(await keysOf(storage), [])
    },
  )

  withStorage('absent holds where there is no value', async (storage) => {
    const require: Precondition[] = [{ type: 'absent', key: text('a') }]
    const operations: Operation[] = [{ type: 'put', key: text('a'), value: text('1') }]
    await storage.write(operations, { require })
    await assert.rejects(storage.write(operations, { require }), conflict(0))
    await storage.write([{ type: 'del', key: text('a') }])
    await storage.write(operations, { require })
  })

  withStorage('equals holds where the bytes are exactly these', async (storage) => {
    await put(storage, text('a'), text('value'))
    const attempt = (value: Uint8Array, key = text('a')) =>
      storage.write([{ type: 'put', key: text('b'), value }], {
        require: [{ type: 'equals', key, value }],
      })
    for (const other of ['', 'valu', 'values', 'Value']) {
      await assert.rejects(attempt(text(other)), conflict(0))
    }
    await assert.rejects(attempt(text('value'), text('missing')), conflict(0))
    await assert.rejects(attempt(bytes(), text('missing')), conflict(0))
    assert.equal(await storage.get(text('b')), undefined)
    await attempt(text('value'))
    assertBytes(await storage.get(text('b')), text('value'))
  })

  withStorage('a conflict names the first precondition that failed', async (storage) => {
    await put(storage, text('there'), text('1'))
    const holds: Precondition = { type: 'equals', key: text('there'), value: text('1') }
    const fails: Precondition = { type: 'absent', key: text('there') }
    for (const index of [0, 1, 4]) {
      const require = [...Array.from({ length: index }, () => holds), fails, fails, holds]
      await assert.rejects(
        storage.write([{ type: 'put', key: text('new'), value: text('2') }], { require }),
        conflict(index),
      )
    }
    assert.equal(await storage.get(text('new')), undefined)
  })

  withStorage('preconditions are of the state before their own write', async (storage) => {
    await storage.write([{ type: 'put', key: text('a'), value: text('1') }], {
      require: [{ type: 'absent', key: text('a') }],
    })
    await storage.write([{ type: 'del', key: text('a') }], {
      require: [{ type: 'equals', key: text('a'), value: text('1') }],
    })
    assert.equal(await storage.get(text('a')), undefined)
  })

  withStorage('preconditions see writes made before and not yet settled', async (storage) => {
    const key = text('a')
    const outcomes = await Promise.allSettled([
      put(storage, key, text('1')),
      storage.write([{ type: 'del', key }], { require: [{ type: 'absent', key }] }),
      storage.write([{ type: 'put', key, value: text('2') }], {
        require: [{ type: 'equals', key, value: text('1') }],
      }),
      storage.write([{ type: 'del', key }], {
        require: [{ type: 'equals', key, value: text('2') }],
      }),
      storage.write([{ type: 'put', key, value: text('3') }], {
        require: [{ type: 'absent', key }],
      }),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    )
    assertBytes(await storage.get(key), text('3'))
  })

  withStorage('a conflict does not touch the writes around it', async (storage) => {
    await put(storage, text('taken'), text('1'))
    const outcomes = await Promise.allSettled([
      put(storage, text('before'), text('1')),
      storage.write([{ type: 'put', key: text('never'), value: text('1') }], {
        require: [{ type: 'absent', key: text('taken') }],
      }),
      put(storage, text('after'), text('1')),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assertBytes(await storage.get(text('before')), text('1'))
    assertBytes(await storage.get(text('after')), text('1'))
    assert.equal(await storage.get(text('never')), undefined)
  })

  withStorage('a write may be of 10,000 operations', async (storage) => {
    await storage.write(
      Array.from({ length: 10_000 }, (_, index) => ({
        type: 'put',
        key: numbered(index),
        value: numbered(index),
      })),
    )
    assert.equal((await keysOf(storage, { keysOnly: true })).length, 10_000)
  })
}
