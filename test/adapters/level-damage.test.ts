// Bytes that change on disk: a read gives the right value or an error.

import { appendFile, cp, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { crc32c, mask, wordsOf } from '../../adapters/level/crc32c.js'
import { damageIn } from '../../adapters/level/damage.js'
import { LevelFiles } from '../../adapters/level/files.js'
import { LevelBackend } from '../../adapters/level/index.js'
import { readLog } from '../../adapters/level/log-records.js'
import type { LogRecord } from '../../adapters/level/log-records.js'
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

/** In place: LevelDB has mapped the tables that it reads. */
async function overwrite(file: string, at: number, bytes: Uint8Array): Promise<void> {
  await using handle = await open(file, 'r+')
  await handle.write(bytes, 0, bytes.length, at)
}

/** Opens a partition, and says what is wrong with it, if that is LK_STORAGE_CORRUPT. */
async function refusal(directory: string, name: PartitionName = 'objects'): Promise<unknown> {
  try {
    await withPartition(directory, name, () => Promise.resolve())
    return undefined
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'LK_STORAGE_CORRUPT') throw error
    return error.details
  }
}

/** What a kill -9 leaves: a copy of what an open partition has written. */
async function killedCopy(
  directory: string,
  values: readonly Uint8Array[],
): Promise<{ readonly place: string; readonly log: string }> {
  const [from, to] = [join(directory, 'open'), join(directory, 'killed')]
  await withPartition(from, 'objects', async (storage) => {
    for (const [index, value] of values.entries()) await put(storage, numbered(index), value)
    await cp(from, to, { recursive: true })
  })
  const [log] = await filesOf(join(to, 'objects'), '.log')
  return { place: to, log: log! }
}

async function filesOf(directory: string, extension: string): Promise<string[]> {
  const names = await readdir(directory)
  return names.filter((name) => name.endsWith(extension)).map((name) => join(directory, name))
}

void t.test('a damaged value is LK_STORAGE_CORRUPT by every way of reading it', async (t) => {
  for (const partition of ['slices', 'objects'] as const) {
    const directory = t.testdir()
    const key = text('key')
    let content: Uint8Array = new Uint8Array()
    await withSeed(async (random) => {
      const value = random.bytes(20_000)
      await withPartition(directory, partition, (storage) => put(storage, key, value))
      // Opening again moves the log into a table.
      await withPartition(directory, partition, () => Promise.resolve())
      content = value.subarray(5000, 5032)
    })
    const corrupt = { code: 'LK_STORAGE_CORRUPT', details: { partition, key: hex(key) } }
    let place: unknown
    await withPartition(directory, partition, async (storage) => {
      const [path] = await filesOf(join(directory, partition), '.ldb')
      const at = (await readFile(path!)).indexOf(content)
      t.ok(at > 0)
      await overwrite(path!, at, Uint8Array.of(content[0]! ^ 1))
      place = { path }
      await t.rejects(storage.get(key), corrupt)
      await t.rejects(storage.getMany([text('other'), key]), corrupt)
      await t.rejects(collect(storage.scan({})), corrupt)
      await t.rejects(storage.write([], { require: [{ type: 'absent', key }] }), corrupt)
      // Refused alone: the partition goes on.
      await put(storage, text('other'), text('1'))
    })
    t.match(await refusal(directory, partition), place as object)
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
  // Closed by somebody else, the partition is not what CLOSED says.
  t.match(await refusal(directory), { path: join(directory, 'objects', 'CURRENT') })
  await rm(join(directory, 'objects', 'CLOSED'))
  await withPartition(directory, 'objects', async (storage) => {
    t.same(await storage.get(text('a')), text('1'))
    await t.rejects(storage.get(text('b')), { code: 'LK_STORAGE_CORRUPT' })
    await t.rejects(storage.get(text('c')), { code: 'LK_STORAGE_CORRUPT' })
  })
})

void t.test('after a flipped bit all is right, or the partition is refused', async (t) => {
  const directory = t.testdir({ whole: {} })
  const whole = join(directory, 'whole')
  const count = 60
  await withSeed(async (random: Random) => {
    const expected = new Map<string, string>()
    await withPartition(whole, 'objects', async (storage) => {
      for (let index = 0; index < count; index++) {
        for (const value of [random.bytes(50), random.bytes(500)]) {
          await put(storage, numbered(index), value)
          expected.set(hex(numbered(index)), hex(value))
        }
      }
    })
    const outcomes: Record<string, number> = {}
    // The data is in the log now; half of the rounds look at it as a table instead.
    for (const kind of ['log', 'ldb']) {
      if (kind === 'ldb') await withPartition(whole, 'objects', () => Promise.resolve())
      const names = (await readdir(join(whole, 'objects'))).filter((name) => name !== 'LOCK')
      for (const name of names) {
        for (let round = 0; round < (name.endsWith(kind) ? 20 : 4); round++) {
          const damaged = join(directory, 'damaged')
          await cp(whole, damaged, { recursive: true })
          const file = join(damaged, 'objects', name)
          const content = await readFile(file)
          if (content.length > 0) content[random.integer(content.length)]! ^= 1 << random.integer(8)
          await writeFile(file, content)
          const outcome = await outcomeOf(damaged, expected)
          const what = `${outcome}: ${name.replace(/[0-9]+/, '')}`
          outcomes[what] = (outcomes[what] ?? 0) + 1
          await rm(damaged, { recursive: true })
        }
      }
    }
    t.notOk(Object.keys(outcomes).some((what) => what.startsWith('wrong')))
    t.ok(outcomes['refused: .log']! >= 20, JSON.stringify(outcomes))
    t.ok(outcomes['refused: .ldb']! >= 18, JSON.stringify(outcomes))
    t.equal(outcomes['right: CLOSED'], 8)
  })

  async function outcomeOf(at: string, expected: ReadonlyMap<string, string>): Promise<string> {
    if ((await refusal(at)) !== undefined) return 'refused'
    let found = ''
    await withPartition(at, 'objects', async (storage) => {
      const entries = await collect(storage.scan({}))
      found = JSON.stringify(entries.map(({ key, value }) => [hex(key), hex(value)]))
    })
    return found === JSON.stringify([...expected]) ? 'right' : 'wrong'
  }
})

void t.test('a damaged log is refused with its place, and nothing is changed', async (t) => {
  await withSeed(async (random) => {
    const directory = t.testdir()
    const { place, log } = await killedCopy(
      directory,
      Array.from({ length: 100 }, () => random.bytes(1000)),
    )
    for (const whole of [place, join(directory, 'open')]) {
      for (const tenths of [3, 6, 9]) {
        const damaged = join(directory, `damaged`)
        await cp(whole, damaged, { recursive: true })
        const path = join(damaged, 'objects', basename(log))
        const content = await readFile(path)
        const at = Math.floor((content.length * tenths) / 10)
        await overwrite(path, at, Uint8Array.of(content[at]! ^ 0x10))
        const before = await digestsOf(damaged)
        const found = (await refusal(damaged)) as { path: string; at: number }
        t.equal(found.path, path)
        t.ok(found.at <= at && found.at > at - 2000, `${found.at} for ${at}`)
        t.same(await digestsOf(damaged), before)
        await rm(damaged, { recursive: true })
      }
    }
  })

  async function digestsOf(at: string): Promise<unknown> {
    // The owner's file that the copy brought along goes.
    const all = await readdir(join(at, 'objects'))
    const names = all.filter((name) => !name.startsWith('OWNER-'))
    const files = await Promise.all(names.map((name) => readFile(join(at, 'objects', name))))
    return names.map((name, place) => [
      name,
      createHash('sha256').update(files[place]!).digest('hex'),
    ])
  }
})

void t.test('what a crash cut short is left out without a word, and nothing else', async (t) => {
  await withSeed(async (random) => {
    const values = Array.from({ length: 20 }, () => random.bytes(2000))
    const directory = t.testdir()
    const { place, log } = await killedCopy(directory, values)
    const { length } = await readFile(log)
    // Inside the last record; with what the file system makes of its pages; nothing at all.
    const tails: ((path: string) => Promise<void>)[] = [
      (path) => truncate(path, length - 1),
      (path) => truncate(path, length - 2015),
      (path) => overwrite(path, length - 2000, new Uint8Array(70_000)),
      (path) => overwrite(path, length - 1500, new Uint8Array(900)),
      (path) => overwrite(path, length, new Uint8Array(100_000)),
      () => Promise.resolve(),
    ]
    for (const [index, tear] of tails.entries()) {
      const torn = join(directory, 'torn')
      await cp(place, torn, { recursive: true })
      await tear(join(torn, 'objects', basename(log)))
      await withPartition(torn, 'objects', async (storage) => {
        t.equal((await keysOf(storage)).length, index < 4 ? 19 : 20, `tail ${index}`)
      })
      await rm(torn, { recursive: true })
    }
  })
})

void t.test('where a partition was closed, no record was cut short', async (t) => {
  await withSeed(async (random) => {
    const directory = t.testdir()
    const values = Array.from({ length: 5 }, () => random.bytes(2000))
    const { place, log } = await killedCopy(directory, values)
    const closed = join(directory, 'open')
    const { length } = await readFile(log)
    // As a crash could leave it.
    const tear = (store: string) => {
      return overwrite(join(store, 'objects', basename(log)), length - 1000, new Uint8Array(500))
    }
    await tear(place)
    t.equal(await refusal(place), undefined)
    await tear(closed)
    t.match(await refusal(closed), { path: join(closed, 'objects', basename(log)) })
    // That the file is there says so, if it can be read or not.
    await overwrite(join(closed, 'objects', 'CLOSED'), 3, Uint8Array.of(0))
    t.match(await refusal(closed), { path: join(closed, 'objects', basename(log)) })
    await rm(join(closed, 'objects', 'CLOSED'))
    t.equal(await refusal(closed), undefined)
  })
})

void t.test('only the newest log that has records may end in a torn one', async (t) => {
  await withSeed(async (random) => {
    const values = Array.from({ length: 10 }, () => random.bytes(2000))
    const { place, log } = await killedCopy(t.testdir(), values)
    const whole = await readFile(log)
    const newer = join(place, 'objects', '000099.log')
    // What a reopening leaves that found no room for its MANIFEST.
    await writeFile(newer, '')
    await truncate(log, whole.length - 10)
    t.equal(await refusal(place), undefined)
    await rm(place, { recursive: true })

    const again = await killedCopy(t.testdir(), values)
    const next = join(again.place, 'objects', '000099.log')
    const [record] = readLog(whole)
    const batch = Buffer.concat((record as LogRecord).fragments)
    const write = async (sequence: number) => {
      batch.writeBigUInt64LE(BigInt(sequence), 0)
      const framed = Buffer.concat([Buffer.alloc(7), batch])
      framed.writeUInt16LE(batch.length, 4)
      framed[6] = 1
      framed.writeUInt32LE(mask(crc32c(wordsOf(framed), 6, framed.length)), 0)
      await writeFile(next, framed)
    }
    await write(12)
    t.match(await refusal(again.place), { path: next, at: 0 }, 'the eleventh is missing')
    await write(11)
    await truncate(again.log, whole.length - 10)
    t.match(await refusal(again.place), { path: again.log })
    await writeFile(again.log, whole)
    t.equal(await refusal(again.place), undefined)
  })
})

void t.test('a file that is missing or shorter is refused', async (t) => {
  const directory = t.testdir()
  const whole = join(directory, 'whole')
  await withPartition(whole, 'objects', (storage) => put(storage, text('a'), text('1')))
  await withPartition(whole, 'objects', (storage) => put(storage, text('b'), text('2')))
  const files = await readdir(join(whole, 'objects'))
  for (const closed of [true, false]) {
    for (const name of files.filter((name) => !/^(LO|CLOSED)/.test(name))) {
      const damaged = join(directory, 'damaged')
      await cp(whole, damaged, { recursive: true })
      if (!closed) await rm(join(damaged, 'objects', 'CLOSED'))
      const path = join(damaged, 'objects', name)
      await rm(path)
      // A crash may leave none, and the MANIFEST knows better.
      const expected = closed || name !== 'CURRENT' ? { path, at: 0 } : undefined
      t.match(await refusal(damaged), expected, `${name}, ${closed ? '' : 'not '}closed`)
      await rm(damaged, { recursive: true })
    }
  }
  const [log] = await filesOf(join(whole, 'objects'), '.log')
  await truncate(log!, 0)
  t.match(await refusal(whole), { path: log })
})

/** What verifying says, which reads the files without LevelDB. */
async function toldOf(directory: string): Promise<string[]> {
  const files = await LevelFiles.open(directory)
  const told: string[] = []
  for await (const { file } of files.damage()) told.push(join(directory, file))
  await files.close()
  return told
}

void t.test(
  'a store that lost all its logs and tables is not taken for an empty one',
  async (t) => {
    const directory = t.testdir()
    const whole = join(directory, 'whole')
    await withPartition(whole, 'objects', (storage) => put(storage, text('a'), text('1')))
    const losses = [(path: string) => rm(path), (path: string) => truncate(path, 0)]
    for (const kind of ['.log', '.ldb']) {
      // Opening again moves the log into a table.
      if (kind === '.ldb') await withPartition(whole, 'objects', () => Promise.resolve())
      for (const [index, lose] of losses.entries()) {
        for (const closed of kind === '.log' ? [true] : [true, false]) {
          const damaged = join(directory, 'damaged')
          await cp(whole, damaged, { recursive: true })
          if (!closed) await rm(join(damaged, 'objects', 'CLOSED'))
          const [path] = await filesOf(join(damaged, 'objects'), kind)
          await lose(path!)
          const what = `${kind}, loss ${index}, ${closed ? '' : 'not '}closed`
          t.ok((await toldOf(damaged)).includes(path!), what)
          t.match(await refusal(damaged), { path }, what)
          await rm(damaged, { recursive: true })
        }
      }
    }
    t.same(await toldOf(whole), [])
  },
)

void t.test('nor is one that its first MANIFEST knows tables of', async (t) => {
  const directory = t.testdir()
  const place = join(directory, 'objects')
  const backend = new LevelBackend(directory, {
    profiles: { objects: { writeBufferBytes: 64 * 1024 } },
  })
  const storage = await backend.open('objects')
  for (let n = 0; n < 40; n++) await put(storage, numbered(n), Buffer.alloc(8000, n))
  await backend.close()
  await rm(join(place, 'CLOSED'))
  const tables = await filesOf(place, '.ldb')
  t.ok(tables.length > 0)
  for (const table of tables) await rm(table)
  for (const log of await filesOf(place, '.log')) await truncate(log, 0)
  t.ok((await toldOf(directory)).includes(tables[0]!))
  t.ok(await refusal(directory))
})

void t.test('CLOSED is written over nothing that the next open would refuse', async (t) => {
  for (const pattern of [/^MANIFEST-/, /\.log$/]) {
    const directory = t.testdir()
    const place = join(directory, 'objects')
    await withPartition(directory, 'objects', async (storage) => {
      await put(storage, text('a'), text('1'))
      // What a full disk leaves of a write that nobody is told of.
      const name = (await readdir(place)).find((name) => pattern.test(name))
      await appendFile(join(place, name!), Buffer.alloc(33, 7))
    })
    t.notOk((await readdir(place)).includes('CLOSED'))
    t.equal(await refusal(directory), undefined)
    await withPartition(directory, 'objects', async (storage) => {
      t.same(await storage.get(text('a')), text('1'))
    })
    t.ok((await readdir(place)).includes('CLOSED'))
  }
})

void t.test('CLOSED is there while nobody has the partition open', async (t) => {
  const directory = t.testdir()
  const has = async () => (await readdir(join(directory, 'objects'))).includes('CLOSED')
  for (let round = 0; round < 2; round++) {
    await withPartition(directory, 'objects', async (storage) => {
      t.notOk(await has())
      await put(storage, text('a'), text('1'))
    })
    t.ok(await has())
  }
})

/** A closed partition whose table CLOSED knows, and that table. */
async function knownTable(directory: string): Promise<{ place: string; table: string }> {
  const place = join(directory, 'objects')
  await withPartition(directory, 'objects', async (storage) => {
    for (let n = 0; n < 40; n++) await put(storage, numbered(n), Buffer.alloc(500, n))
  })
  // The log becomes a table, which the one after this finds whole.
  for (let n = 0; n < 2; n++) await withPartition(directory, 'objects', () => Promise.resolve())
  const [table] = await filesOf(place, '.ldb')
  const closed = await readFile(join(place, 'CLOSED'), 'latin1')
  const sum = hexOf(crc32(await readFile(table!)))
  t.ok(closed.includes(`\n${basename(table!)} ${sum}\n`), closed)
  return { place, table: table! }
}

const hexOf = (sum: number) => sum.toString(16).padStart(8, '0')

void t.test('a table whose sum is in CLOSED is refused after each flipped bit', async (t) => {
  const { table } = await knownTable(t.testdir())
  const directory = dirname(dirname(table))
  const whole = await readFile(table)
  await withSeed(async (random: Random) => {
    for (let round = 0; round < 40; round++) {
      const damaged = Buffer.from(whole)
      damaged[random.integer(damaged.length)]! ^= 1 << random.integer(8)
      await writeFile(table, damaged)
      t.match(await refusal(directory), { path: table })
    }
  })
  await writeFile(table, whole)
  t.equal(await refusal(directory), undefined)
})

void t.test('bits that flip while a partition is open are told at its next opening', async (t) => {
  const { table } = await knownTable(t.testdir())
  const directory = dirname(dirname(table))
  const byte = (await readFile(table))[100]!
  await withPartition(directory, 'objects', () => overwrite(table, 100, Buffer.of(byte ^ 4)))
  t.match(await refusal(directory), { path: table })
})

void t.test('a table that is otherwise than CLOSED says is looked through', async (t) => {
  const { place, table } = await knownTable(t.testdir())
  const closed = await readFile(join(place, 'CLOSED'), 'latin1')
  const sealed = (content: string) =>
    writeFile(join(place, 'CLOSED'), `${hexOf(crc32(content))}\n${content}\n`)
  const damaged = async () => {
    const files: string[] = []
    for await (const { file } of damageIn(place)) files.push(file)
    return files
  }
  const line = new RegExp(`^${basename(table)} .*`, 'm')
  const content = closed.slice(9, -1)
  await sealed(content.replace(line, `${basename(table)} 00000001`))
  t.strictSame(await damaged(), [])
  // As it says, a table is not: that is what makes opening fast.
  const flipped = await readFile(table)
  flipped[100]! ^= 4
  await writeFile(table, flipped)
  await sealed(content.replace(line, `${basename(table)} ${hexOf(crc32(flipped))}`))
  t.strictSame(await damaged(), [])
  await rm(join(place, 'CLOSED'))
  t.strictSame(await damaged(), [basename(table)])
})

// Some are read ahead of the one that is looked at, into buffers that are used again.
void t.test('of many tables whichever is damaged is found at opening', async (t) => {
  const directory = t.testdir()
  await withSeed(async (random: Random) => {
    for (let n = 0; n < 10; n++) {
      // Longer than what is read on the calling thread, and of keys behind all others: LevelDB merges none of them.
      await withPartition(directory, 'objects', (storage) =>
        put(storage, numbered(n), random.bytes(20_000 + random.integer(20_000))),
      )
    }
    // Opening again moves the last log into a table.
    await withPartition(directory, 'objects', () => Promise.resolve())
    const tables = await filesOf(join(directory, 'objects'), '.ldb')
    t.equal(tables.length, 10)
    for (const table of tables) {
      const whole = await readFile(table)
      const at = random.integer(whole.length)
      await overwrite(table, at, Buffer.of(whole[at]! ^ (1 << random.integer(8))))
      t.match(await refusal(directory), { path: table })
      await writeFile(table, whole)
    }
  })
  t.equal(await refusal(directory), undefined)
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
  await withPartition(directory, 'objects', async (storage) => {
    const [file] = await filesOf(join(directory, 'objects'), '.ldb')
    const { length } = await readFile(file!)
    // In the first tenth: inside the first page.
    await overwrite(file!, length >>> 4, new Uint8Array(200).fill(0xff))
    for (const reverse of [false, true]) {
      await t.rejects(keysOf(storage, { reverse }), { code: 'LK_STORAGE_CORRUPT' })
      await t.rejects(keysOf(storage, { reverse, keysOnly: true }), { code: 'LK_STORAGE_CORRUPT' })
    }
  })
})

void t.test('a log of very many operations is read without LevelDB', async (t) => {
  const directory = t.testdir()
  const [from, to] = [join(directory, 'open'), join(directory, 'killed')]
  const count = 200_000
  await withPartition(from, 'objects', async (storage) => {
    await storage.write(
      Array.from({ length: count }, (_, index) => ({ type: 'del', key: numbered(index) })),
    )
    await put(storage, numbered(7), text('7'))
    await cp(from, to, { recursive: true })
  })
  const files = await LevelFiles.open(to)
  t.same(
    (await collect(files.partitions.objects.scan({}))).map(({ key }) => key),
    [numbered(7)],
  )
  await files.close()
})

void t.test(
  'values are read without LevelDB whatever profile they were written with',
  async (t) => {
    const directory = t.testdir()
    const profiles = { objects: { separateBytes: 100 }, slices: { separateBytes: undefined } }
    const values = [text('short'), new Uint8Array(1000).fill(3)]
    const names = ['objects', 'slices'] as const
    const backend = new LevelBackend(directory, { profiles })
    for (const name of names) {
      const storage = await backend.open(name)
      for (const [index, value] of values.entries()) await put(storage, numbered(index), value)
    }
    await backend.close()
    const told = async () => {
      const files = await LevelFiles.open(directory)
      const found: string[] = []
      for (const name of names) {
        const entries = await collect(files.partitions[name].scan({})).catch(String)
        found.push(typeof entries === 'string' ? entries : `${entries.length}`)
      }
      for await (const { partition, message } of files.valueDamage()) {
        found.push(`${partition} ${message}`)
      }
      await files.close()
      return found
    }
    t.strictSame(await told(), ['2', '2'])
    const [file] = await readdir(join(directory, 'objects', 'values'))
    await rm(join(directory, 'objects', 'values', file!))
    t.match(await told(), [/damaged/, '2', 'objects it is missing'])
  },
)
