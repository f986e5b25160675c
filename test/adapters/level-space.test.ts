// What a partition takes on disk: what was overwritten and deleted is given back.

import { randomBytes } from 'node:crypto'
import { cpSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import type { Operation, Storage } from '../../src/storage.js'
import { numbered } from '../suite/bytes.js'

const KiB = 1024

function bytesIn(directory: string): number {
  const files = readdirSync(directory).filter((name) => /\.(ldb|log)$/.test(name))
  const sizeOf = (name: string) => statSync(join(directory, name), { throwIfNoEntry: false })?.size
  return files.reduce((sum, name) => sum + (sizeOf(name) ?? 0), 0)
}

/** Writes the same keys again and again: `rounds` times `keys` KiB. */
async function overwrite(storage: Storage, keys: number, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const operations = Array.from({ length: keys }, (_, key): Operation => {
      return { type: 'put', key: numbered(key), value: randomBytes(KiB) }
    })
    await storage.write(operations, { durable: true })
  }
}

async function contentOf(storage: Storage): Promise<string[]> {
  const content: string[] = []
  for await (const page of storage.scan({})) {
    for (const { key, value } of page) {
      content.push(`${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`)
    }
  }
  return content
}

/** Waits for what happens by itself. */
async function until(holds: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 400 && !holds(); tries++) await sleep(50)
  return holds()
}

for (const name of ['cores', 'slices', 'objects', 'flows'] as const) {
  void t.test(`${name}: what was overwritten is given back when nothing is written`, async (t) => {
    const directory = t.testdir()
    await using backend = new LevelBackend(directory)
    const storage = await backend.open(name)
    await overwrite(storage, 20, 30)
    t.ok(bytesIn(join(directory, name)) > 600 * KiB)
    const content = await contentOf(storage)
    t.ok(await until(() => bytesIn(join(directory, name)) < 30 * KiB))
    t.strictSame(await contentOf(storage), content)
    t.equal(content.length, 20)
    // Once more, where there are tables.
    await overwrite(storage, 20, 30)
    t.ok(bytesIn(join(directory, name)) > 600 * KiB)
    await storage.write([{ type: 'del', key: numbered(7) }], { durable: true })
    t.ok(await until(() => bytesIn(join(directory, name)) < 30 * KiB))
    t.equal((await contentOf(storage)).length, 19)
  })
}

void t.test('a table that nothing uses does not count, and is given back, too', async (t) => {
  const directory = t.testdir()
  const path = join(directory, 'objects')
  await using backend = new LevelBackend(directory)
  const storage = await backend.open('objects')
  await overwrite(storage, 20, 30)
  // More than what LevelDB is left to.
  writeFileSync(join(path, '999999.ldb'), '')
  truncateSync(join(path, '999999.ldb'), 65 * KiB * KiB)
  t.ok(await until(() => bytesIn(path) < 30 * KiB))
})

void t.test('what was deleted is given back by close()', async (t) => {
  const directory = t.testdir()
  const backend = new LevelBackend(directory, {
    profiles: { objects: { writeBufferBytes: 64 * KiB } },
  })
  const storage = await backend.open('objects')
  await overwrite(storage, 600, 1)
  const operations = Array.from({ length: 590 }, (_, key): Operation => {
    return { type: 'del', key: numbered(key) }
  })
  await storage.write(operations, { durable: true })
  const content = await contentOf(storage)
  await backend.close()
  t.ok(bytesIn(join(directory, 'objects')) < 20 * KiB, `${bytesIn(join(directory, 'objects'))}`)
  await using again = new LevelBackend(directory)
  t.strictSame(await contentOf(await again.open('objects')), content)
  t.equal(content.length, 10)
})

void t.test('what a crash left is given back once the partition is open again', async (t) => {
  const directory = t.testdir({ before: {}, left: {} })
  const left = join(directory, 'left')
  await using backend = new LevelBackend(join(directory, 'before'))
  await overwrite(await backend.open('objects'), 20, 30)
  cpSync(join(directory, 'before', 'objects'), join(left, 'objects'), { recursive: true })
  await using again = new LevelBackend(left)
  const storage = await again.open('objects')
  t.ok(bytesIn(join(left, 'objects')) > 600 * KiB)
  t.ok(await until(() => bytesIn(join(left, 'objects')) < 30 * KiB))
  t.equal((await contentOf(storage)).length, 20)
})

void t.test('little is left to lie, and much that is mostly new', async (t) => {
  const directory = t.testdir()
  const path = join(directory, 'objects')
  const backend = new LevelBackend(directory)
  const storage = await backend.open('objects')
  await overwrite(storage, 20, 10)
  await backend.close()
  t.ok(bytesIn(path) > 200 * KiB)
  t.equal(readdirSync(path).filter((name) => name.endsWith('.ldb')).length, 0)

  const second = new LevelBackend(directory)
  const again = await second.open('objects')
  await overwrite(again, 1000, 1)
  await second.close()
  const size = bytesIn(path)
  t.ok(size > 1000 * KiB && size < 1100 * KiB, `${size}`)
  // Less than half of it.
  const third = new LevelBackend(directory)
  await overwrite(await third.open('objects'), 400, 1)
  await third.close()
  t.ok(bytesIn(path) > size + 400 * KiB)
})

void t.test('what is written while space is given back is there', async (t) => {
  const directory = t.testdir()
  const backend = new LevelBackend(directory)
  const storage = await backend.open('objects')
  const expected = new Map<number, number>()
  for (let round = 0; round < 6; round++) {
    await overwrite(storage, 300, 2)
    // About then it begins.
    await sleep(245 + round)
    for (let burst = 0; burst < 20; burst++) {
      await Promise.all(
        Array.from({ length: 10 }, (_, n) => {
          const key = 1000 + ((burst * 7 + n) % 50)
          const number = round * 1000 + burst
          expected.set(key, number)
          return storage.write([{ type: 'put', key: numbered(key), value: numbered(number) }])
        }),
      )
    }
  }
  const check = async (storage: Storage) => {
    for (const [key, number] of expected) {
      t.strictSame(
        await storage.get(numbered(key)).then(Buffer.from),
        Buffer.from(numbered(number)),
      )
    }
    t.equal((await contentOf(storage)).length, 300 + expected.size)
  }
  await check(storage)
  await backend.close()
  await using again = new LevelBackend(directory)
  await check(await again.open('objects'))
})
