import { setImmediate as turn } from 'node:timers/promises'
import v8 from 'node:v8'
import t from 'tap'
import { Arenas, arenaBytes } from '../../../src/graph/vectors/arenas.js'
import { VectorMemory, type Blocks } from '../../../src/graph/vectors/memory.js'
import { pickSeed, Random } from '../../fixtures/random.js'

const seed = pickSeed()

/** Blocks of these sizes, each filled with its number. */
function makeBlocks(file: string, sizes: readonly number[]) {
  const reads: number[] = []
  const blocks: Blocks = {
    file,
    name: 'test ',
    count: sizes.length,
    bytes: (n) => sizes[n] ?? NaN,
    read: async (n) => {
      reads.push(n)
      await turn()
      return new Uint8Array(sizes[n] ?? NaN).fill(n + 1)
    },
  }
  return { blocks, reads }
}

const bytesAt = (memory: VectorMemory, address: number, length: number) =>
  new Uint8Array(memory.kernel.memory.buffer, address, length)

t.test(`arenas give room that nobody else has, and get all of it back (SEED=${seed})`, (t) => {
  const random = new Random(seed)
  const from = 3 * arenaBytes
  const arenas = new Arenas(from, 4, () => true)
  const held: { address: number; bytes: number }[] = []
  for (let round = 0; round < 3000; round++) {
    if (held.length > 0 && random.chance(0.48)) {
      const [freed] = held.splice(random.below(held.length), 1)
      if (freed !== undefined) arenas.free(freed.address, freed.bytes)
      continue
    }
    const bytes = 1 + random.below(random.pick([10, 5000, 70_000, arenaBytes]))
    const address = arenas.allocate(bytes)
    if (address === undefined) continue
    const isApart = held.every(
      (other) => address >= other.address + other.bytes || other.address >= address + bytes,
    )
    if (!isApart || address < from || address + bytes > from + 4 * arenaBytes) t.fail('overlaps')
    held.push({ address, bytes })
  }
  for (const { address, bytes } of held) arenas.free(address, bytes)
  const whole = Array.from({ length: 5 }, () => arenas.allocate(arenaBytes))
  t.equal(new Set(whole.slice(0, 4)).size, 4)
  t.equal(whole.indexOf(undefined), 4)
  t.end()
})

t.test('arenas join what is given back above 2 GiB, too', (t) => {
  const arenas = new Arenas(2 ** 31, 1, () => true)
  const address = arenas.allocate(4096)
  t.equal(address, 2 ** 31)
  arenas.free(2 ** 31, 4096)
  t.equal(arenas.allocate(arenaBytes), 2 ** 31)
  t.end()
})

t.test('a block is read once for all who use it, and again when it was pushed out', async (t) => {
  const memory = new VectorMemory(0)
  const most = memory.capacity / arenaBytes
  const { blocks, reads } = makeBlocks('f', Array<number>(most + 1).fill(arenaBytes))
  const firstByte = (n: number) =>
    memory.use(blocks, n, (address) => bytesAt(memory, address, arenaBytes)[arenaBytes - 1])
  t.strictSame(await Promise.all([firstByte(0), firstByte(0), firstByte(1)]), [1, 1, 2])
  t.strictSame(reads, [0, 1])
  for (let n = 2; n < most; n++) await firstByte(n)
  await firstByte(0)
  t.equal(memory.has(blocks, 1), true)
  t.equal(await firstByte(most), most + 1)
  t.equal(memory.has(blocks, 1), false, 'the longest unused made room')
  t.equal(memory.has(blocks, 0), true)
  t.equal(await firstByte(1), 2)
  t.equal(reads.filter((n) => n === 1).length, 2)
})

class Asker {
  readonly bytes = 4096
}

t.test(
  'a block that stays does not keep the question that read it first',
  { skip: typeof v8.queryObjects !== 'function' && 'v8.queryObjects() came with Node 20.13' },
  async (t) => {
    const memory = new VectorMemory(0)
    const ask = async () => {
      const asker = new Asker()
      const bytes = () => asker.bytes
      const read = async () => new Uint8Array(asker.bytes)
      await memory.use({ file: 'f', name: 'test ', count: 1, bytes, read }, 0, () => {})
    }
    await ask()
    const { blocks } = makeBlocks('f', [4096])
    t.equal(memory.isLoaded(blocks, 0), true)
    const left = v8.queryObjects(Asker as never, { format: 'count' }) as unknown as number
    t.equal(left, 0)
  },
)

t.test('a block that is used stays until it is not, and others wait for room', async (t) => {
  const memory = new VectorMemory(0)
  const most = memory.capacity / arenaBytes
  const { blocks } = makeBlocks('f', Array<number>(most + 3).fill(arenaBytes))
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const order: number[] = []
  const held = Array.from({ length: most }, (_, n) =>
    memory.use(blocks, n, async (address) => {
      await released
      return bytesAt(memory, address, 1)[0]
    }),
  )
  const waiting = [most, most + 1, most + 2].map((n) =>
    memory.use(blocks, n, () => void order.push(n)),
  )
  for (let turns = 0; turns < 20; turns++) await turn()
  t.strictSame(order, [])
  release()
  t.strictSame(
    await Promise.all(held),
    held.map((_, n) => n + 1),
  )
  await Promise.all(waiting)
  t.strictSame(order, [most, most + 1, most + 2])
})

t.test('what is forgotten is read anew, and its room is for others', async (t) => {
  const memory = new VectorMemory(0)
  const most = memory.capacity / arenaBytes
  const { blocks, reads } = makeBlocks('f', Array<number>(most).fill(arenaBytes))
  const other = makeBlocks('g', Array<number>(most).fill(arenaBytes))
  const useAll = async (all: Blocks) => {
    for (let n = 0; n < all.count; n++) await memory.use(all, n, () => {})
  }
  await useAll(blocks)
  await memory.use(blocks, 0, async (address) => {
    memory.forget('f')
    t.equal(memory.has(blocks, 0), false)
    await memory.use(other.blocks, 0, () => {})
    t.equal(bytesAt(memory, address, 1)[0], 1, 'but not while it is used')
  })
  await useAll(other.blocks)
  t.equal(other.reads.length, most)
  await memory.use(blocks, 0, () => {})
  t.equal(reads.length, most + 1)
  memory.forget('nothing')
})

t.test('blocks of which a read failed leave their room', async (t) => {
  const memory = new VectorMemory(0)
  const size = memory.capacity / arenaBytes
  const { blocks } = makeBlocks('f', Array<number>(size).fill(arenaBytes))
  const failing: Blocks = { ...blocks, read: () => Promise.reject(new Error('disk')) }
  for (let n = 0; n < size; n++) {
    memory.prefetch(failing, n)
    await t.rejects(
      memory.use(failing, n, () => {}),
      { message: 'disk' },
    )
  }
  await Promise.all(
    Array.from({ length: size }, (_, n) => memory.use(blocks, n, async () => turn())),
  )
  t.equal(memory.isLoaded(blocks, size - 1), true)
})

t.test('many small files share a little memory', async (t) => {
  const memory = new VectorMemory(0)
  const files = Array.from({ length: 1000 }, (_, n) => makeBlocks(`small ${n}`, [6000]))
  for (const { blocks } of files) await memory.use(blocks, 0, () => {})
  t.ok(files.every(({ blocks }) => memory.isLoaded(blocks, 0)))
})
