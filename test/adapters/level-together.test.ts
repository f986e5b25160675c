// Values that are deleted together, in one file: what lies on disk, and when it goes.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import t from 'tap'
import { LevelFiles } from '../../adapters/level/files.js'
import { LevelBackend } from '../../adapters/level/index.js'
import { before, behind } from '../../adapters/level/value-files.js'
import { hasCode } from '../../src/errors.js'
import type { Operation, Storage } from '../../src/storage.js'
import { assertBytes, collect, hex, numbered, text } from '../suite/bytes.js'
import { withSeed, type Random } from '../suite/random.js'
import { startChild } from './level-process.js'

const KiB = 1024
const least = 64 * KiB

const options = process.platform === 'linux' ? {} : { skip: 'needs prlimit' }

async function withSlices<Result>(
  directory: string,
  run: (storage: Storage) => Promise<Result>,
  separateBytes = least,
): Promise<Result> {
  const backend = new LevelBackend(directory, { profiles: { slices: { separateBytes } } })
  try {
    return await run(await backend.open('slices'))
  } finally {
    await backend.close()
  }
}

const filesOf = async (directory: string) =>
  (await readdir(join(directory, 'slices', 'values'))).sort()

/** No two pieces of it are the same. */
function valued(length: number, number: number): Uint8Array {
  const value = Buffer.alloc(length)
  for (let at = 0; at + 4 <= length; at += 4) value.writeUInt32BE(number + at, at)
  return new Uint8Array(value)
}

const puts = (numbers: readonly number[], length = least): Operation[] =>
  numbers.map((number) => ({ type: 'put', key: numbered(number), value: valued(length, number) }))

const dels = (numbers: readonly number[]): Operation[] =>
  numbers.map((number) => ({ type: 'del', key: numbered(number) }))

const write = (storage: Storage, operations: readonly Operation[]) =>
  storage.write(operations, { together: true })

void t.test('values are cut wherever a call ends', async () => {
  await withSeed((random) => {
    for (let round = 0; round < 500; round++) {
      const values = Array.from({ length: 1 + random.integer(5) }, () =>
        random.bytes(1 + random.integer(40)),
      )
      const whole = Buffer.concat(values)
      const bytes = 1 + random.integer(whole.length)
      assertBytes(Buffer.concat(before(values, bytes)), whole.subarray(0, bytes))
      assertBytes(Buffer.concat(before(values, whole.length + 1)), whole)
      assertBytes(Buffer.concat(behind(values, bytes)), whole.subarray(bytes))
    }
    return Promise.resolve()
  })
})

void t.test('values are written whole, however they lie to what one call writes', async (t) => {
  const MiB = 1024 * KiB
  const lengths = [600_000, 600_000, MiB, MiB + 1, 6 * MiB - 1, least, MiB - least, least]
  await withSlices(t.testdir(), async (storage) => {
    await write(
      storage,
      lengths.flatMap((length, number) => puts([number], length)),
    )
    for (const [number, length] of lengths.entries()) {
      assertBytes(await storage.get(numbered(number)), valued(length, number))
    }
  })
})

void t.test('values of one write share a file, and each is read by itself', async (t) => {
  const directory = t.testdir()
  const lengths = [least, least + 1, 200_000, 5, 16 * KiB, 3 * least]
  await withSlices(directory, (storage) =>
    write(
      storage,
      lengths.flatMap((length, number) => puts([number], length)),
    ),
  )
  t.equal((await filesOf(directory)).length, 1)
  await withSlices(directory, async (storage) => {
    const entries = await collect(storage.scan({}))
    const keys = lengths.map((_, number) => numbered(number))
    const values = await storage.getMany(keys)
    for (const [number, length] of lengths.entries()) {
      const expected = valued(length, number)
      assertBytes(await storage.get(numbered(number)), expected)
      assertBytes(values[number], expected)
      assertBytes(entries[number]?.value, expected)
      for (const [from, to] of [
        [0, 1],
        [16_383, 16_385],
        [length - 1, length + 9],
        [0, length],
      ] as const) {
        assertBytes(await storage.getBytes(numbered(number), from, to), expected.slice(from, to))
      }
      const equals = { type: 'equals', key: numbered(number), value: expected } as const
      await storage.write([], { require: [equals] })
    }
  })
  const files = await LevelFiles.open(directory)
  t.teardown(() => files.close())
  for (const [number, length] of lengths.entries()) {
    assertBytes(await files.partitions.slices.get(numbered(number)), valued(length, number))
  }
  for await (const damage of files.valueDamage()) t.fail(damage.message)
})

void t.test(
  'a file takes 4 MiB, a value that is alone has its own, and so have all others',
  async (t) => {
    const directory = t.testdir()
    await withSlices(directory, async (storage) => {
      await write(storage, puts([0, 1, 2, 3, 4, 5, 6, 7, 8], 1024 * KiB))
      t.equal((await filesOf(directory)).length, 3)
      await write(storage, puts([10]))
      await storage.write(puts([20, 21]))
      t.equal((await filesOf(directory)).length, 6)
    })
  },
)

void t.test('a file goes with the last of its values, whoever opened it', async (t) => {
  const directory = t.testdir()
  const numbers = [0, 1, 2, 3, 4]
  await withSlices(directory, async (storage) => {
    await write(storage, puts(numbers))
    await storage.write(dels([0]))
  })
  t.equal((await filesOf(directory)).length, 1)
  await withSlices(directory, async (storage) => {
    await storage.write([...dels([1]), { type: 'put', key: numbered(2), value: text('short') }])
    assertBytes(await storage.get(numbered(3)), valued(least, 3))
  })
  t.equal((await filesOf(directory)).length, 1)
  await withSlices(directory, async (storage) => {
    await storage.write(puts([3], least + 1))
    assertBytes(await storage.get(numbered(4)), valued(least, 4))
    // Once is enough.
    await storage.write(dels([0, 1, 2]))
    assertBytes(await storage.get(numbered(4)), valued(least, 4))
    await storage.write(dels([4]))
  })
  t.equal((await filesOf(directory)).length, 1)
  await withSlices(directory, (storage) => storage.write(dels(numbers)))
  t.strictSame(await filesOf(directory), [])
})

/** More than are looked through at once when a partition is opened. */
const between = Array.from({ length: 2000 }, (_, n) => 100 + n)
const last = 10_000

void t.test('values of a file are found however far they lie apart', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, async (storage) => {
    await write(storage, puts([0, last]))
    await storage.write(puts(between, 4))
  })
  await withSlices(directory, async (storage) => {
    await storage.write(dels([0]))
    assertBytes(await storage.get(numbered(last)), valued(least, last))
  })
  t.equal((await filesOf(directory)).length, 1)
})

void t.test('a file that is gone makes no others go', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, (storage) => write(storage, puts([0, 1, 2])))
  const [lost] = await filesOf(directory)
  await withSlices(directory, async (storage) => {
    await write(storage, puts([3, 4, 5]))
    await write(storage, puts([last, last + 1]))
    await storage.write(puts(between, 4))
  })
  await rm(join(directory, 'slices', 'values', lost!))
  await withSlices(directory, async (storage) => {
    t.equal((await filesOf(directory)).length, 2)
    await storage.write(dels([3, 5, 6]))
    await t.rejects(storage.get(numbered(0)), { code: 'LK_STORAGE_CORRUPT' })
  })
  await withSlices(directory, async (storage) => {
    assertBytes(await storage.get(numbered(4)), valued(least, 4))
    assertBytes(await storage.get(numbered(last)), valued(least, last))
    await storage.write(dels([0, 1, 2, 4]))
  })
  t.equal((await filesOf(directory)).length, 1)
})

void t.test('where a pointer cannot be read no file goes that others may name', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, async (storage) => {
    await write(storage, puts([0, 1]))
    await write(storage, puts([2, 3]))
  })
  const place = join(directory, 'slices')
  const raw = new Level<Buffer, Buffer>(place, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  const key = Buffer.from(numbered(1))
  const pointer = await raw.get(key)
  pointer![5]! ^= 1
  await raw.put(key, pointer!)
  await raw.close()
  await rm(join(place, 'CLOSED'))
  await withSlices(directory, async (storage) => {
    await storage.write(dels([0, 2, 3]))
    // Of what is written from now on it is known.
    await write(storage, puts([4, 5]))
    t.equal((await filesOf(directory)).length, 3)
    await storage.write(dels([4, 5]))
  })
  t.equal((await filesOf(directory)).length, 2)
  await withSlices(directory, (storage) => storage.write(dels([1])))
  await withSlices(directory, async () => t.strictSame(await filesOf(directory), []))
})

/** What lies under a key, and in which file. */
interface Stored {
  readonly value: Uint8Array
  readonly file: string | undefined
}

type State = ReadonlyMap<string, Stored>

const smallest = 40

function applied(
  state: State,
  operations: readonly Operation[],
  name: number,
  together: boolean,
): State {
  const next = new Map(state)
  for (const [index, operation] of operations.entries()) {
    if (operation.type === 'del') next.delete(hex(operation.key))
    else {
      const { key, value } = operation
      const file = together ? `${name}` : `${name}, ${index}`
      next.set(hex(key), { value, file: value.length >= smallest ? file : undefined })
    }
  }
  return next
}

const keys = Array.from({ length: 12 }, (_, number) => numbered(number))

/** In one of these states: tells in which. */
async function found(storage: Storage, states: readonly State[]): Promise<State> {
  for (;;) {
    let values: (Uint8Array | undefined)[]
    try {
      values = await storage.getMany(keys)
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_UNAVAILABLE')) throw error
      await new Promise((resolve) => setTimeout(resolve, 5))
      continue
    }
    const isIt = (state: State) =>
      keys.every((key, n) => {
        const expected = state.get(hex(key))?.value
        const value = values[n]
        return value === undefined || expected === undefined
          ? value === expected
          : Buffer.compare(value, expected) === 0
      })
    const state = states.find(isIt)
    assert(state, 'neither the state before nor that after')
    return state
  }
}

let stamp = 0

function randomOperations(random: Random): Operation[] {
  return Array.from({ length: 1 + random.integer(6) }, (): Operation => {
    const key = random.pick(keys)
    if (random.integer(3) === 0) return { type: 'del', key }
    const length = random.pick([20, smallest - 1, smallest, 100, 20_000, 40_000])
    return { type: 'put', key, value: valued(length, 1000 * stamp++) }
  })
}

type Fault = 'none' | 'names' | 'batch before' | 'batch after'

/** Makes one call of the storage fail. `restore` takes that back. */
async function faults(directory: string) {
  const raw = new Level(join(directory, 'other'))
  await raw.open()
  const chained = Object.getPrototypeOf(raw.batch()) as { _write: (options: unknown) => unknown }
  const level = Object.getPrototypeOf(raw) as { _batch: (...parameters: unknown[]) => unknown }
  await raw.close()
  await using file = await open(directory, 'r')
  const handle = Object.getPrototypeOf(file) as { sync: () => Promise<void> }
  const { _write } = chained
  const { _batch } = level
  const { sync } = handle
  let next: Fault = 'none'
  const error = () => Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
  const failing = async (call: () => unknown) => {
    const fault = next
    next = 'none'
    if (fault === 'batch before') throw error()
    await call()
    if (fault === 'batch after') throw error()
  }
  const isOfBatch = () => next === 'batch before' || next === 'batch after'
  chained._write = function (this: unknown, options) {
    return isOfBatch() ? failing(() => _write.call(this, options)) : _write.call(this, options)
  }
  level._batch = function (this: unknown, ...parameters) {
    return isOfBatch()
      ? failing(() => _batch.apply(this, parameters))
      : _batch.apply(this, parameters)
  }
  handle.sync = function (this: unknown) {
    if (next !== 'names') return sync.call(this)
    next = 'none'
    return Promise.reject(error())
  }
  return {
    next: (fault: Fault) => (next = fault),
    restore: () => {
      Object.assign(chained, { _write })
      Object.assign(level, { _batch })
      Object.assign(handle, { sync })
    },
  }
}

void t.test('whatever fails, what is stored is right and no file is left', async (t) => {
  const directory = t.testdir()
  const injected = await faults(directory)
  t.teardown(() => injected.restore())
  await withSeed(async (random) => {
    for (let round = 0; round < 4; round++) {
      const place = join(directory, String(round))
      let state: State = new Map()
      let name = 0
      for (let opening = 0; opening < 5; opening++) {
        await withSlices(
          place,
          async (storage) => {
            state = await found(storage, [state])
            for (let left = 1 + random.integer(25); left > 0; left--) {
              const together = random.integer(3) > 0
              if (random.integer(5) === 0) {
                // In one group, some of which may be refused.
                const all = Array.from({ length: 4 }, () => randomOperations(random))
                const outcomes = await Promise.all(
                  all.map((operations) => {
                    const isRefused = random.integer(4) === 0
                    const equals = { type: 'equals', key: keys[0]!, value: text('other') } as const
                    const require = isRefused ? [equals] : []
                    return storage.write(operations, { together, require }).then(
                      () => true,
                      (error: unknown) => {
                        assert(isRefused && hasCode(error, 'LK_STORAGE_CONFLICT'))
                        return false
                      },
                    )
                  }),
                )
                for (const [n, happened] of outcomes.entries()) {
                  if (happened) state = applied(state, all[n]!, name++, together)
                }
              } else {
                const operations = randomOperations(random)
                const after = applied(state, operations, name++, together)
                const fault = random.pick<Fault>([
                  'none',
                  'none',
                  'none',
                  'names',
                  'batch before',
                  'batch after',
                ])
                injected.next(fault)
                try {
                  await storage.write(operations, { together })
                  state = after
                } catch (error) {
                  assert(fault !== 'none', String(error))
                  state = await found(storage, [after, state])
                }
                injected.next('none')
              }
              if (random.integer(4) === 0) state = await found(storage, [state])
            }
            state = await found(storage, [state])
          },
          smallest,
        )
        const files = new Set([...state.values()].flatMap(({ file }) => file ?? []))
        assert.equal((await filesOf(place)).length, files.size)
      }
    }
  })
})

void t.test(
  'values whose file cannot be written are refused, and leave nothing',
  options,
  async (t) => {
    const directory = t.testdir()
    const child = startChild(directory, 'slices')
    t.teardown(() => child.kill())
    t.equal(await child.ask({ do: 'together', from: 0, to: 3, bytes: least }), 'ok')
    execFileSync('prlimit', [`--fsize=${2 * least + 5}:unlimited`, '--pid', String(child.pid)])
    t.equal(await child.ask({ do: 'together', from: 0, to: 3, bytes: least }), 'LK_STORAGE_FAILED')
    t.equal(await child.ask({ do: 'together', from: 3, to: 5, bytes: least }), 'ok')
    execFileSync('prlimit', ['--fsize=unlimited:unlimited', '--pid', String(child.pid)])
    t.equal(await child.ask({ do: 'close' }), 'ok')
    t.equal((await filesOf(directory)).length, 2)
    await withSlices(directory, async (storage) => {
      t.equal((await collect(storage.scan({}))).length, 5)
    })
  },
)

void t.test('a killed process leaves acknowledged values whole and no orphans', async (t) => {
  const directory = t.testdir()
  await withSeed(async (random) => {
    for (let round = 0; round < 6; round++) {
      const child = startChild(directory, 'slices')
      t.teardown(() => child.kill())
      const acknowledged = new Map<number, number>()
      const note = (answer: unknown) => {
        const [lane, number] = answer as [number, number]
        acknowledged.set(lane, number)
      }
      note(await child.ask({ do: 'pairs together' }))
      for (let left = 20 + random.integer(120); left > 0; left--) {
        note(JSON.parse((await child.answers.next()).value as string))
      }
      await child.kill()
      for (;;) {
        const { done, value } = await child.answers.next()
        // The last line may be cut.
        if (done || !value.endsWith(']')) break
        note(JSON.parse(value))
      }
      await withSlices(directory, async (storage) => {
        const entries = await collect(storage.scan({}))
        // A pair has its number in front of each value, and one file.
        const files = new Set<string>()
        for (const [lane, last] of acknowledged) {
          const there = entries.flatMap(({ key, value }) => {
            const slot = Buffer.from(key).readUInt32BE()
            if (Math.floor(slot / 10) !== lane) return []
            const number = Buffer.from(value).readUInt32BE()
            assertBytes(value, valued(value.length, number))
            files.add(`${lane}, ${number}`)
            return [`${slot % 10}: ${number}`]
          })
          const allowed = [last, last + 1].map((number) => pairsAfter(number).join(', '))
          assert(
            allowed.includes(there.join(', ')),
            `${there.join(', ')}, not ${allowed.join(' or ')}`,
          )
        }
        assert.equal((await filesOf(directory)).length, files.size)
        await storage.write(entries.map(({ key }) => ({ type: 'del', key }) as const))
      })
    }
  })
})

/** What a lane of `pairs together` has after its n-th step. */
function pairsAfter(last: number): string[] {
  const slots = new Map<number, number>()
  for (let number = 0; number <= last; number++) {
    const one = number % 5
    if (number % 7 === 2) slots.delete(one)
    else if (number % 7 === 5) slots.delete(one + 5)
    else slots.set(one, number).set(one + 5, number)
  }
  return [...slots].sort(([a], [b]) => a - b).map(([slot, number]) => `${slot}: ${number}`)
}
