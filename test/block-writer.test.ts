import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { BlockWriter, bytesTogether } from '../src/block-writer.js'
import type { BlockStorage } from '../src/block-writer.js'
import { pickSeed, Random } from './fixtures/random.js'

const blockBytes = 256 * 1024

/** Keeps copies, made when a write ends: until then the bytes are the storage's to read. */
class SlowStorage implements BlockStorage {
  readonly blocks: Buffer[] = []
  readonly buffers = new Set<ArrayBufferLike>()
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  get(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  async write([operation]: Parameters<BlockStorage['write']>[0]): Promise<void> {
    if (operation?.type !== 'put') throw new Error('blocks are put')
    this.buffers.add(operation.value.buffer)
    await sleep(this.#random.below(5))
    this.blocks[Buffer.from(operation.key).readUInt32BE()] = Buffer.from(operation.value)
  }
}

function keyOf(block: number): Uint8Array {
  const key = Buffer.alloc(4)
  key.writeUInt32BE(block)
  return key
}

t.test('many writers at once share buffers, and none writes what is of another', async (t) => {
  const seed = pickSeed()
  t.comment(`seed ${seed}`)
  const random = new Random(seed)
  const buffers = new Set<ArrayBufferLike>()
  let blocks = 0
  const one = async (byte: number) => {
    for (let n = 0; n < 10; n++) {
      const storage = new SlowStorage(random)
      const writer = new BlockWriter({ storage, keyOf, blockBytes })
      const size = 1 + random.below(4 * blockBytes)
      for (let at = 0; at < size;) {
        const bytes = Buffer.alloc(Math.min(size - at, 1 + random.below(100_000)), byte)
        writer.copy(bytes, 0, bytes.length)
        at += bytes.length
        await writer.writeFull()
      }
      await writer.finish()
      const found = Buffer.concat(storage.blocks)
      t.ok(found.equals(Buffer.alloc(size, byte)), `${size} bytes of ${byte}`)
      for (const buffer of storage.buffers) buffers.add(buffer)
      blocks += storage.blocks.length
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, byte) => one(byte + 1)))
  t.ok(buffers.size < blocks / 2, `${buffers.size} buffers for ${blocks} blocks`)
})

t.test('small blocks are written together, each under its key', async (t) => {
  const writes: number[][] = []
  const stored: Buffer[] = []
  const storage: BlockStorage = {
    get: () => Promise.resolve(undefined),
    write: (operations, options) => {
      t.strictSame(options, { durable: true, together: true })
      const keys: number[] = []
      for (const { key, ...operation } of operations) {
        if (operation.type !== 'put') throw new Error('blocks are put')
        keys.push(Buffer.from(key).readUInt32BE())
        stored[keys.at(-1) ?? -1] = Buffer.from(operation.value)
      }
      writes.push(keys)
      return Promise.resolve()
    },
  }
  const writer = new BlockWriter({ storage, keyOf, blockBytes: 100, writeBytes: 300 })
  for (let n = 0; n < 8; n++) {
    // The fourth and the last are ended before they are full.
    writer.copy(Buffer.alloc(n % 4 === 3 ? 50 : 100, n), 0, n % 4 === 3 ? 50 : 100)
    if (n % 4 === 3) writer.end()
    await writer.writeFull()
  }
  t.strictSame(writes, [
    [0, 1, 2],
    [3, 4, 5, 6],
  ])
  await writer.finish()
  t.strictSame(writes.at(-1), [7])
  t.strictSame(
    stored.map((block) => [block.length, block[0]]),
    [0, 1, 2, 3, 4, 5, 6, 7].map((n) => [n % 4 === 3 ? 50 : 100, n]),
  )
})

t.test('blocks of many writers do not wait for others of theirs', async (t) => {
  const MiB = 1024 * 1024
  let writes = 0
  const storage: BlockStorage = {
    get: () => Promise.resolve(undefined),
    write: () => {
      writes++
      return Promise.resolve()
    },
  }
  const begin = async () => {
    const writeBytes = bytesTogether
    const writer = new BlockWriter({ storage, keyOf, blockBytes: MiB, writeBytes })
    writer.copy(Buffer.alloc(MiB), 0, MiB)
    await writer.writeFull()
    return writer
  }
  const writers = await Promise.all(Array.from({ length: 23 }, begin))
  t.equal(writes, 0)
  const one = await begin()
  t.equal(writes, 1)
  await one.finish()
  // Those that are given up are not held any more, and neither are those that were written.
  for (const writer of writers) await writer.settle()
  const others = await Promise.all(Array.from({ length: 23 }, begin))
  t.equal(writes, 1)
  for (const writer of others) await writer.finish()
  t.equal(writes, 24)
  await Promise.all(Array.from({ length: 23 }, begin)).then((all) =>
    Promise.all(all.map((writer) => writer.settle())),
  )
  t.equal(writes, 24)
})

t.test('one block that ended is held until it is written or dropped', async (t) => {
  const storage = new SlowStorage(new Random(1))
  const begin = (bytes: number) => {
    const writer = new BlockWriter({ storage, keyOf, blockBytes })
    writer.copy(Buffer.alloc(bytes, 7), 0, bytes)
    return writer
  }
  const small = begin(1000)
  t.equal(small.held, undefined, 'it has not ended')
  small.end()
  t.ok(Buffer.alloc(1000, 7).equals(small.held!))
  small.drop()
  t.equal(small.held, undefined)
  await small.finish()
  t.equal(storage.blocks.length, 0, 'what was dropped is not written')
  const full = begin(blockBytes)
  t.equal(full.held?.length, blockBytes)
  const writing = full.writeFull()
  t.equal(full.held, undefined, 'it is being written')
  full.drop()
  await writing
  await full.finish()
  t.equal(storage.blocks.length, 1)
  const more = begin(blockBytes + 1)
  t.equal(more.held, undefined, 'another one has begun')
  more.end()
  t.equal(more.held, undefined, 'two are more than one')
  await more.finish()
})
