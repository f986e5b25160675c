// Values in files of their own: what lies on disk, and when it goes.

import { execFileSync } from 'node:child_process'
import { open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import type { LevelOptions } from '../../adapters/level/index.js'
import type { Entry, Storage } from '../../src/storage.js'
import { collect, hex, keysOf, numbered, put, text } from '../suite/bytes.js'
import { withSeed } from '../suite/random.js'
import { startChild } from './level-process.js'

const KiB = 1024
const least = 64 * KiB

const options = process.platform === 'linux' ? {} : { skip: 'needs prlimit' }

async function withSlices<Result>(
  directory: string,
  run: (storage: Storage) => Promise<Result>,
  profiles: NonNullable<LevelOptions['profiles']> = {},
): Promise<Result> {
  const backend = new LevelBackend(directory, { profiles })
  try {
    return await run(await backend.open('slices'))
  } finally {
    await backend.close()
  }
}

const valuesOf = (directory: string) => join(directory, 'slices', 'values')
const filesOf = async (directory: string) => (await readdir(valuesOf(directory))).sort()

const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte)

function isWhole(value: Uint8Array | undefined, expected: Uint8Array): boolean {
  return value !== undefined && Buffer.compare(value, expected) === 0
}

const fill = (storage: Storage, count: number, length = least) =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      put(storage, numbered(index), filled(length, index)),
    ),
  )

const remove = (storage: Storage, count: number) =>
  storage.write(
    Array.from({ length: count }, (_, index) => ({ type: 'del', key: numbered(index) }) as const),
  )

void t.test('a value gets a file from 64 KiB on', async (t) => {
  const directory = t.testdir()
  const lengths = [0, least - 1, least, least + 1, 1024 * KiB]
  await withSlices(directory, async (storage) => {
    for (const [index, length] of lengths.entries()) {
      await put(storage, numbered(index), filled(length, index))
    }
  })
  t.equal((await filesOf(directory)).length, 3)
  await withSlices(directory, async (storage) => {
    const entries = await collect(storage.scan({}))
    t.equal(entries.length, lengths.length)
    for (const [index, length] of lengths.entries()) {
      t.ok(isWhole(await storage.get(numbered(index)), filled(length, index)))
      t.ok(isWhole(entries[index]?.value, filled(length, index)))
    }
  })
})

void t.test('the files of replaced and deleted values are gone after close()', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, async (storage) => {
    await fill(storage, 20)
    await put(storage, numbered(0), filled(least + 5, 100))
    await put(storage, numbered(1), text('short'))
    await storage.write([{ type: 'del', key: numbered(2) }])
    // Within one write and one group: only the last one stays.
    const key = numbered(3)
    await Promise.all([
      storage.write([
        { type: 'put', key, value: filled(least, 1) },
        { type: 'put', key, value: filled(least, 2) },
      ]),
      put(storage, key, filled(least, 3)),
      put(storage, numbered(4), filled(least, 3)),
      storage.write([{ type: 'del', key: numbered(4) }]),
    ])
    t.ok(isWhole(await storage.get(key), filled(least, 3)))
  })
  t.equal((await filesOf(directory)).length, 17)
  await withSlices(directory, (storage) => remove(storage, 20))
  t.strictSame(await filesOf(directory), [])
})

void t.test('the space of deleted values is free while the partition is open', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, async (storage) => {
    await fill(storage, 50)
    await remove(storage, 50)
    // No fixed time: the test ends when the files are gone, or in tap's timeout.
    while ((await filesOf(directory)).length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })
})

void t.test('a write refused by a precondition leaves no file', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, async (storage) => {
    const key = text('a')
    const value = filled(least, 1)
    await put(storage, key, value)
    const operations = [{ type: 'put', key, value: filled(least, 2) }] as const
    const conflict = { code: 'LK_STORAGE_CONFLICT' }
    await t.rejects(storage.write(operations, { require: [{ type: 'absent', key }] }), conflict)
    for (const other of [filled(least, 2), filled(least + 1, 1)]) {
      const require = [{ type: 'equals', key, value: other } as const]
      await t.rejects(storage.write(operations, { require }), conflict)
    }
    t.ok(isWhole(await storage.get(key), value))
    await storage.write([], { require: [{ type: 'equals', key, value }] })
  })
  t.equal((await filesOf(directory)).length, 1)
})

void t.test('large and small writes of a key keep their order', async (t) => {
  await withSlices(t.testdir(), async (storage) => {
    const key = text('a')
    for (let round = 0; round < 10; round++) {
      await Promise.all([put(storage, key, filled(1024 * KiB, 1)), put(storage, key, text('last'))])
      t.same(await storage.get(key), text('last'))
    }
  })
})

void t.test('a read that began before a delete gets its values', async (t) => {
  const count = 60
  const keys = Array.from({ length: count }, (_, index) => numbered(index))
  const reads: Record<string, (storage: Storage) => Promise<(Uint8Array | undefined)[]>> = {
    get: (storage) => Promise.all(keys.map((key) => storage.get(key))),
    getMany: (storage) => storage.getMany(keys),
    scan: async (storage) => {
      // Called at once; the page is read while the values are deleted.
      const pages = storage.scan({})[Symbol.asyncIterator]()
      const page = (await pages.next()).value as readonly Entry[]
      return page.map(({ value }) => value)
    },
  }
  for (const [name, read] of Object.entries(reads)) {
    for (const change of ['delete', 'overwrite']) {
      const directory = t.testdir()
      // A page that takes all of them.
      const profiles = { slices: { pageBytes: 64 * 1024 * KiB } }
      await withSlices(
        directory,
        async (storage) => {
          await fill(storage, count, 512 * KiB)
          const reading = read(storage)
          const changed = change === 'delete' ? remove(storage, count) : fill(storage, count, 1)
          const values = await reading
          await changed
          t.equal(values.length, count, `${name}, ${change}`)
          const whole = values.every(
            (value, index) => value?.length === 1 || isWhole(value, filled(512 * KiB, index)),
          )
          t.ok(whole, `${name}, ${change}`)
          t.ok(values[0]!.length > 1)
        },
        profiles,
      )
      t.strictSame(await filesOf(directory), [])
    }
  }
})

void t.test('a page loads no more than it may hold', async (t) => {
  await withSlices(t.testdir(), async (storage) => {
    await fill(storage, 12, 1024 * KiB)
    await put(storage, numbered(12), text('short'))
    for (const reverse of [false, true]) {
      const pages: number[] = []
      for await (const page of storage.scan({ reverse })) pages.push(page.length)
      t.strictSame(
        pages,
        reverse ? [2, ...Array<number>(11).fill(1)] : [...Array<number>(12).fill(1), 1],
      )
    }
    for await (const page of storage.scan({ keysOnly: true })) t.equal(page.length, 13)
  })
})

void t.test('a missing, short or damaged file is LK_STORAGE_CORRUPT', async (t) => {
  const damages: ((file: string) => Promise<void>)[] = [
    (file) => rm(file),
    (file) => truncate(file, 0),
    (file) => truncate(file, least + 99),
    async (file) => {
      const content = await readFile(file)
      content[40_000]! ^= 1
      await writeFile(file, content)
    },
  ]
  for (const damage of damages) {
    const directory = t.testdir()
    const key = text('key')
    await withSlices(directory, (storage) => put(storage, key, filled(least + 100, 7)))
    const [file] = await filesOf(directory)
    await damage(join(valuesOf(directory), file!))
    const corrupt = {
      code: 'LK_STORAGE_CORRUPT',
      details: { partition: 'slices', key: hex(key) },
    }
    await withSlices(directory, async (storage) => {
      await t.rejects(storage.get(key), corrupt)
      await t.rejects(storage.getMany([text('other'), key]), corrupt)
      await t.rejects(collect(storage.scan({})), corrupt)
      const require = [{ type: 'equals', key, value: filled(least + 100, 7) } as const]
      await t.rejects(storage.write([], { require }), corrupt)
      t.equal((await keysOf(storage, { keysOnly: true })).length, 1)
      // Refused alone; and it can be replaced.
      await put(storage, key, filled(least, 8))
      t.ok(isWhole(await storage.get(key), filled(least, 8)))
    })
    t.equal((await filesOf(directory)).length, 1)
  }
})

void t.test(
  'some bytes of a value are read where it is damaged elsewhere, and no others',
  async (t) => {
    const directory = t.testdir()
    const key = text('key')
    const pieceBytes = 16 * KiB
    const value = new Uint8Array(least + 100)
    for (let at = 0; at < value.length; at++) value[at] = at % 251
    await withSlices(directory, (storage) => put(storage, key, value))
    const [name] = await filesOf(directory)
    const file = join(valuesOf(directory), name!)
    const corrupt = { code: 'LK_STORAGE_CORRUPT' }
    const piece = (n: number) => [n * pieceBytes, (n + 1) * pieceBytes] as const
    const damages: readonly [bad: readonly number[], content: Uint8Array][] = [
      [[2], value.with(40_000, 1 ^ value[40_000]!)],
      [[4], value.subarray(0, least + 99)],
      // Two that change places.
      [
        [1, 2],
        Buffer.concat([
          value.subarray(...piece(0)),
          value.subarray(...piece(2)),
          value.subarray(...piece(1)),
          value.subarray(3 * pieceBytes),
        ]),
      ],
    ]
    for (const [bad, content] of damages) {
      await writeFile(file, content)
      await withSlices(directory, async (storage) => {
        for (let n = 0; n < 5; n++) {
          const [from, to] = piece(n)
          if (bad.includes(n)) await t.rejects(storage.getBytes(key, from, from + 1), corrupt)
          else t.ok(isWhole(await storage.getBytes(key, from, to), value.slice(from, to)))
        }
        await t.rejects(storage.getBytes(key, 0, value.length), corrupt)
      })
    }
  },
)

void t.test('value files of two keys do not pass for each other', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, (storage) => fill(storage, 2))
  const [one, two] = (await filesOf(directory)).map((name) => join(valuesOf(directory), name))
  const content = await readFile(one!)
  await writeFile(one!, await readFile(two!))
  await writeFile(two!, content)
  await withSlices(directory, async (storage) => {
    await t.rejects(storage.get(numbered(0)), { code: 'LK_STORAGE_CORRUPT' })
    await t.rejects(storage.get(numbered(1)), { code: 'LK_STORAGE_CORRUPT' })
  })
})

void t.test('data with pointers is not read as data without, nor the other way', async (t) => {
  const corrupt = { code: 'LK_STORAGE_CORRUPT' }
  const plain = { slices: { separateBytes: undefined } }
  for (const [before, after] of [
    [{}, plain],
    [plain, {}],
  ]) {
    const directory = t.testdir()
    await withSlices(directory, (storage) => fill(storage, 3), before)
    await withSlices(directory, (storage) => put(storage, numbered(9), new Uint8Array(9)), before)
    await withSlices(
      directory,
      async (storage) => {
        for (const number of [0, 9]) await t.rejects(storage.get(numbered(number)), corrupt)
      },
      after,
    )
    await withSlices(
      directory,
      async (storage) => t.ok(isWhole(await storage.get(numbered(2)), filled(least, 2))),
      before,
    )
  }
})

void t.test('opening removes the files that no pointer names, and no others', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, (storage) => fill(storage, 3))
  const kept = await filesOf(directory)
  await writeFile(join(valuesOf(directory), '0'.repeat(24)), 'left by a crash')
  await writeFile(join(valuesOf(directory), 'notes.txt'), 'not ours')
  await withSlices(directory, async () => {
    t.strictSame(await filesOf(directory), [...kept, 'notes.txt'].sort())
  })
})

void t.test('opening removes nothing where a pointer cannot be read', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, (storage) => fill(storage, 3))
  const kept = await filesOf(directory)
  const { Level } = await import('level')
  const place = join(directory, 'slices')
  const raw = new Level<Buffer, Buffer>(place, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  const key = Buffer.from(numbered(1))
  const pointer = await raw.get(key)
  pointer![5]! ^= 1
  await raw.put(key, pointer!)
  await raw.close()
  await rm(join(place, 'CLOSED'))
  await withSlices(directory, async () => t.strictSame(await filesOf(directory), kept))
})

void t.test('a value whose file cannot be written is refused alone', options, async (t) => {
  const directory = t.testdir()
  const child = startChild(directory, 'slices')
  t.teardown(() => child.kill())
  const write = (from: number, to: number, bytes: number) =>
    child.ask({ do: 'write', from, to, bytes })
  t.strictSame(await write(0, 5, 200 * KiB), Array(5).fill('ok'))
  execFileSync('prlimit', ['--fsize=102400:unlimited', '--pid', String(child.pid)])
  t.strictSame(await write(100, 105, 200 * KiB), Array(5).fill('LK_STORAGE_FAILED'))
  t.strictSame(await write(5, 10, least), Array(5).fill('ok'), 'the partition goes on')
  execFileSync('prlimit', ['--fsize=unlimited:unlimited', '--pid', String(child.pid)])
  t.strictSame(await write(10, 15, 200 * KiB), Array(5).fill('ok'))
  t.equal(await child.ask({ do: 'close' }), 'ok')
  t.equal((await filesOf(directory)).length, 15)
  await withSlices(directory, async (storage) => {
    for (let number = 0; number < 15; number++) {
      const length = number >= 5 && number < 10 ? least : 200 * KiB
      t.ok(isWhole(await storage.get(numbered(number)), filled(length, number)), `${number}`)
    }
    t.equal((await keysOf(storage, { keysOnly: true })).length, 15)
  })
})

void t.test('a batch that failed leaves no files once it works again', options, async (t) => {
  const directory = t.testdir()
  const child = startChild(directory, 'slices')
  t.teardown(() => child.kill())
  // The log is beyond the limit by then; the files of the values are not.
  await child.ask({ do: 'write', from: 50, to: 54, bytes: 50_000 })
  await child.ask({ do: 'write', from: 0, to: 6, bytes: least })
  execFileSync('prlimit', ['--fsize=100000:unlimited', '--pid', String(child.pid)])
  const outcomes = (await child.ask({ do: 'write', from: 3, to: 9, bytes: least })) as string[]
  t.ok(outcomes.includes('LK_STORAGE_FAILED'))
  t.notOk(outcomes.includes('ok'))
  execFileSync('prlimit', ['--fsize=unlimited:unlimited', '--pid', String(child.pid)])
  await child.ask({ do: 'retry', number: 20, bytes: least })
  t.equal(await child.ask({ do: 'close' }), 'ok')
  const files = await filesOf(directory)
  await withSlices(directory, async (storage) => {
    const entries = await collect(storage.scan({}))
    for (const { key, value } of entries) t.ok(value.every((byte) => byte === key[3]))
    for (const number of [0, 1, 2, 3, 4, 5, 20]) t.ok(await storage.get(numbered(number)))
    t.equal(files.length, entries.filter(({ value }) => value.length >= least).length)
  })
})

void t.test('a killed process leaves acknowledged values whole and no orphans', async (t) => {
  const directory = t.testdir()
  await withSeed(async (random) => {
    let orphaned = 0
    for (let round = 0; round < 12; round++) {
      const child = startChild(directory, 'slices')
      t.teardown(() => child.kill())
      const bySlot = new Map<number, number>()
      const byLane = new Map<number, number>()
      const note = (answer: unknown) => {
        const [slot, number] = answer as [number, number]
        bySlot.set(slot, number)
        byLane.set(Math.floor(slot / 10), number)
      }
      note(await child.ask({ do: 'overwrite' }))
      for (let left = 20 + random.integer(200); left > 0; left--) {
        note(JSON.parse((await child.answers.next()).value as string))
      }
      await child.kill()
      for (;;) {
        const { done, value } = await child.answers.next()
        // The last line may be cut.
        if (done || !value.endsWith(']')) break
        note(JSON.parse(value))
      }
      const before = (await filesOf(directory)).length
      await withSlices(directory, async (storage) => {
        for (const [slot, number] of bySlot) {
          const value = await storage.get(numbered(slot))
          // What was acknowledged last, or the one write of the lane that was under way.
          const next = byLane.get(Math.floor(slot / 10))! + 1
          const allowed = next % 5 === slot % 10 ? [number, next] : [number]
          const fits = allowed.some((one) => {
            if (one % 7 === 0) return value === undefined
            const expected = filled(least - 50 + ((one * 37) % 100), one)
            expected.set(numbered(one))
            return isWhole(value, expected)
          })
          if (!fits) t.fail(`${slot}: not as of ${allowed.join(' or ')}`)
        }
        const entries = await collect(storage.scan({}))
        const large = entries.filter(({ value }) => value.length >= least).length
        const after = (await filesOf(directory)).length
        if (after !== large) t.fail(`${after} files for ${large} values`)
        orphaned += before - after
        await storage.write(entries.map(({ key }) => ({ type: 'del', key }) as const))
      })
    }
    t.comment(`${orphaned} files were left by the kills`)
    t.ok(orphaned > 0)
  })
})

void t.test('names that could not be synced take the partition out of service', async (t) => {
  const directory = t.testdir()
  await withSlices(directory, async (storage) => {
    await fill(storage, 2)
    // The kernel says so once: the next sync would work, and promise names that it did not write.
    await using file = await open(directory, 'r')
    const prototype = Object.getPrototypeOf(file) as { sync: () => Promise<void> }
    const { sync } = prototype
    t.teardown(() => (prototype.sync = sync))
    prototype.sync = () => {
      prototype.sync = sync
      return Promise.reject(Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' }))
    }
    const outcomes = await Promise.allSettled(
      [2 * least, 3 * least]
        .map((length) => put(storage, numbered(7), filled(length, 7)))
        .concat(
          Array.from({ length: 40 }, (_, n) =>
            put(storage, numbered(100 + n), filled(1024 * KiB, n)),
          ),
        ),
    )
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : 'ok',
    )
    t.equal(codes[0], 'LK_STORAGE_FAILED')
    t.notOk(codes.includes('ok'))
    t.equal(codes.at(-1), 'LK_STORAGE_UNAVAILABLE')
    for (;;) {
      try {
        await put(storage, numbered(8), filled(least, 8))
        break
      } catch (error) {
        t.match(error, { code: 'LK_STORAGE_UNAVAILABLE' })
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    t.same((await keysOf(storage)).length, 3)
  })
  t.equal((await filesOf(directory)).length, 3)
})
