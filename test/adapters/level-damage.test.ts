// Bytes that change on disk: a read gives the right value or an error.

import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import type { PartitionName, Storage } from '../../src/storage.js'
import { LorekeepError } from '../../src/errors.js'
import { collect, hex, keysOf, numbered, put, text } from '../suite/bytes.js'
import { withSeed } from '../suite/random.js'
import type { Random } from '../suite/random.js'

async function withPartition(
  directory: string,
  name: PartitionName,
  run: (storage: Storage) => Promise<void>,
): Promise<void> {
  const backend = new LevelBackend(directory)
  try {
    await run(await backend.open(name))
  } finally {
    await backend.close()
  }
}

async function filesOf(directory: string, extension: string): Promise<string[]> {
  const names = await readdir(directory)
  return names.filter((name) => name.endsWith(extension)).map((name) => join(directory, name))
}

void t.test('a damaged value is LK_STORAGE_CORRUPT by every way of reading it', async (t) => {
  for (const partition of ['slices', 'objects'] as const) {
    const directory = t.testdir()
    const key = text('key')
    await withSeed(async (random) => {
      const value = random.bytes(20_000)
      await withPartition(directory, partition, (storage) => put(storage, key, value))
      // Opening again moves the log into a table.
      await withPartition(directory, partition, () => Promise.resolve())
      const [file] = await filesOf(join(directory, partition), '.ldb')
      const stored = await readFile(file!)
      const at = stored.indexOf(value.subarray(5000, 5032))
      t.ok(at > 0)
      stored[at]! ^= 1
      await writeFile(file!, stored)
    })
    const corrupt = { code: 'LK_STORAGE_CORRUPT', details: { partition, key: hex(key) } }
    await withPartition(directory, partition, async (storage) => {
      await t.rejects(storage.get(key), corrupt)
      await t.rejects(storage.getMany([text('other'), key]), corrupt)
      await t.rejects(collect(storage.scan({})), corrupt)
      await t.rejects(storage.write([], { require: [{ type: 'absent', key }] }), corrupt)
      // Refused alone: the partition goes on.
      await put(storage, text('other'), text('1'))
    })
  }
})

void t.test('a value under the wrong key, or cut short, is LK_STORAGE_CORRUPT', async (t) => {
  const directory = t.testdir()
  await withPartition(directory, 'objects', (storage) => put(storage, text('a'), text('1')))
  const { Level } = await import('level')
  const raw = new Level<Buffer, Buffer>(join(directory, 'objects'), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  })
  const stored = await raw.get(Buffer.from('a'))
  t.equal(stored?.length, 5, 'one byte and four of checksum')
  await raw.put(Buffer.from('b'), stored!)
  await raw.put(Buffer.from('c'), Buffer.from([1, 2, 3]))
  await raw.close()
  await withPartition(directory, 'objects', async (storage) => {
    t.same(await storage.get(text('a')), text('1'))
    await t.rejects(storage.get(text('b')), { code: 'LK_STORAGE_CORRUPT' })
    await t.rejects(storage.get(text('c')), { code: 'LK_STORAGE_CORRUPT' })
  })
})

void t.test('a flipped bit anywhere in the files never gives a wrong value', async (t) => {
  const directory = t.testdir({ whole: {} })
  const whole = join(directory, 'whole')
  const count = 60
  await withSeed(async (random: Random) => {
    const expected = new Map<string, string>()
    await withPartition(whole, 'objects', async (storage) => {
      for (let index = 0; index < count; index++) {
        const value = random.bytes(500)
        expected.set(hex(numbered(index)), hex(value))
        await put(storage, numbered(index), value)
      }
    })
    // The data is in the log now; half of the rounds look at it as a table instead.
    for (const kind of ['.log', '.ldb']) {
      if (kind === '.ldb') await withPartition(whole, 'objects', () => Promise.resolve())
      for (let round = 0; round < 20; round++) {
        const damaged = join(directory, 'damaged')
        await cp(whole, damaged, { recursive: true })
        const files = await filesOf(join(damaged, 'objects'), kind)
        const file = random.pick(files)
        const content = await readFile(file)
        if (content.length > 0) {
          const at = random.integer(content.length)
          content[at]! ^= 1 << random.integer(8)
        }
        await writeFile(file, content)
        await assertNothingWrong(damaged, expected)
        await rm(damaged, { recursive: true })
      }
    }
  })

  async function assertNothingWrong(at: string, expected: Map<string, string>): Promise<void> {
    const failed = (error: unknown) => {
      if (!(error instanceof LorekeepError) || !error.code.startsWith('LK_STORAGE_')) throw error
    }
    // Absence is allowed: see "Damage" in docs/adapters.md.
    const check = (key: Uint8Array, value: Uint8Array | undefined) => {
      if (value && hex(value) !== expected.get(hex(key))) t.fail(`wrong value under ${hex(key)}`)
    }
    try {
      await withPartition(at, 'objects', async (storage) => {
        for (let index = 0; index < count; index++) {
          const key = numbered(index)
          await storage.get(key).then((value) => check(key, value), failed)
        }
        await collect(storage.scan({})).then(
          (entries) => entries.forEach(({ key, value }) => check(key, value)),
          failed,
        )
      })
    } catch (error) {
      failed(error)
    }
  }
})

void t.test('a scan does not skip a block that cannot be read', async (t) => {
  const directory = t.testdir()
  const count = 5000
  await withPartition(directory, 'objects', async (storage) => {
    // Compressible, so that damage makes the block unreadable instead of only different.
    const value = new Uint8Array(200).fill(7)
    await storage.write(
      Array.from({ length: count }, (_, index) => ({ type: 'put', key: numbered(index), value })),
    )
  })
  await withPartition(directory, 'objects', () => Promise.resolve())
  const [file] = await filesOf(join(directory, 'objects'), '.ldb')
  const content = await readFile(file!)
  // In the first tenth: inside the first page.
  content.fill(0xff, content.length >>> 4, (content.length >>> 4) + 200)
  await writeFile(file!, content)
  await withPartition(directory, 'objects', async (storage) => {
    for (const reverse of [false, true]) {
      await t.rejects(keysOf(storage, { reverse }), { code: 'LK_STORAGE_CORRUPT' })
      await t.rejects(keysOf(storage, { reverse, keysOnly: true }), { code: 'LK_STORAGE_CORRUPT' })
    }
  })
})
