import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { BlockCache, type BlockFile } from '../../../src/graph/index/block-cache.js'
import { blockBytes, pieceBytes } from '../../../src/graph/index/layout.js'
import { PartFile } from '../../../src/graph/index/part-file.js'
import { withBlocks } from '../../../src/graph/miss.js'

const keyOf = (block: number) => Uint8Array.of(block)
const perBlock = blockBytes / pieceBytes
/** Whole blocks are read only where there is room for twice as much. */
const little = 2 * blockBytes - 1

/** Blocks whose pieces begin with their numbers, the last one short, and what is read of them. */
async function opened(blocks: number, maxBytes: number) {
  const storage = await new MemoryBackend().open('slices')
  for (let block = 0; block < blocks; block++) {
    const words = new Uint32Array(blockBytes / 4)
    for (let n = 0; n < perBlock; n++) words[(n * pieceBytes) / 4] = block * perBlock + n
    const value = new Uint8Array(words.buffer, 0, blockBytes - (block === blocks - 1 ? 4 : 0))
    await storage.write([{ type: 'put', key: keyOf(block), value }])
  }
  const reads: [block: number, from: number, to: number][] = []
  const source = {
    fails: false,
    get: (key: Uint8Array) => storage.get(key),
    getBytes: async (key: Uint8Array, from: number, to: number) => {
      reads.push([key[0] as number, from / pieceBytes, to / pieceBytes])
      if (source.fails) throw new Error('on purpose')
      return storage.getBytes(key, from, to)
    },
  }
  const cache = new BlockCache(source, maxBytes)
  const file = cache.file(keyOf, blocks * blockBytes)
  return { cache, file, source, taken: () => reads.splice(0) }
}

const numberOf = async (file: BlockFile, n: number) => withBlocks(() => file.words(n)[0])

t.test('with much room all of a block is read, else the piece that is asked for', async (t) => {
  const { cache, file, taken } = await opened(2, 4 * blockBytes)
  const other = cache.file(keyOf, blockBytes)
  for (const n of [20, 3, 20, 5]) t.equal(await numberOf(file, n), n)
  t.strictSame(taken(), [
    [1, 0, 16],
    [0, 0, 16],
  ])
  for (const n of [4, 2]) t.equal(await numberOf(other, n), n)
  t.strictSame(taken(), [
    [0, 4, 5],
    [0, 2, 3],
  ])
})

t.test('of a file that does not fit, pieces are read from the first one on', async (t) => {
  const { file, taken } = await opened(5, 5 * blockBytes - 5)
  for (const n of [20, 37, 20]) t.equal(await numberOf(file, n), n)
  t.strictSame(taken(), [
    [1, 4, 5],
    [2, 5, 6],
  ])
})

t.test('of a block the piece that is asked for is read, and kept', async (t) => {
  const { file, taken } = await opened(3, little)
  for (const n of [20, 37, 3, 20, 3]) t.equal(await numberOf(file, n), n)
  t.strictSame(taken(), [
    [1, 4, 5],
    [2, 5, 6],
    [0, 3, 4],
  ])
  t.equal(file.peek(37)?.[0], 37)
  t.equal(file.peek(38), undefined)
})

t.test('who reads one piece after the other reads more at once, up to a block', async (t) => {
  const { file, taken } = await opened(3, little)
  for (let n = 0; n < 3 * perBlock; n++) t.equal(await numberOf(file, n), n)
  t.strictSame(taken(), [
    [0, 0, 1],
    [0, 1, 3],
    [0, 3, 7],
    [0, 7, 15],
    [0, 15, 16],
    [1, 0, 16],
    [2, 0, 16],
  ])
  t.equal(file.bytes(3 * perBlock - 1).length, pieceBytes - 4)
})

t.test('who reads several pieces behind those before reads more at once as well', async (t) => {
  const { file, taken } = await opened(3, little)
  for (const n of [1, 5, 9, 13, 17]) await withBlocks(() => file.need(n, n + 4))
  t.strictSame(taken(), [
    [0, 1, 5],
    [0, 5, 10],
    [0, 10, 16],
    [1, 0, 16],
  ])
})

t.test('what lies in several pieces is read at once, but for what is there', async (t) => {
  const { file, taken } = await opened(3, little)
  await numberOf(file, 18)
  taken()
  await withBlocks(() => file.need(14, 35))
  t.strictSame(taken(), [
    [0, 14, 16],
    [1, 0, 2],
    [1, 3, 16],
    [2, 0, 3],
  ])
})

t.test('all that work is in need of is held until it is done, whatever the room', async (t) => {
  const { file } = await opened(3, 1)
  const numbers = await withBlocks(() => {
    const first = file.words(40)[0]
    file.need(14, 35)
    return [first, ...Array.from({ length: 21 }, (_, n) => file.words(14 + n)[0])]
  })
  t.strictSame(numbers, [40, ...Array.from({ length: 21 }, (_, n) => 14 + n)])
  await numberOf(file, 0)
  const left = Array.from({ length: 48 }, (_, n) => n).filter((n) => file.peek(n) !== undefined)
  t.ok(left.length <= 2, `in memory: ${left.join()}`)
})

t.test('what is brought is there later, up to the end of its block', async (t) => {
  const { file, source, taken } = await opened(2, Infinity)
  file.bring(5, 18)
  file.bring(7, 9)
  t.equal(await numberOf(file, 31), 31)
  t.strictSame(taken(), [
    [0, 5, 16],
    [1, 0, 16],
  ])
  source.fails = true
  file.bring(0, 1)
  await t.rejects(numberOf(file, 1), { message: 'on purpose' })
  source.fails = false
  t.equal(await numberOf(file, 1), 1)
})

t.test('of what was read at once only what is used stays, in memory of its own', async (t) => {
  const { file, taken } = await opened(8, 4 * blockBytes)
  // The first one goes when the clock's hand has been round, and until then all are as good as used.
  for (const block of [7, 0, 1]) {
    await withBlocks(() => file.need(block * perBlock, (block + 1) * perBlock))
  }
  const memory = (n: number) => file.bytes(n).buffer
  t.equal(memory(1), memory(2))
  t.equal(memory(1).byteLength, blockBytes)
  for (let n = 2 * perBlock; n < 7 * perBlock; n++) {
    await numberOf(file, n)
    for (const used of [5, 20]) file.words(used)
  }
  t.equal(memory(5).byteLength, pieceBytes)
  t.equal(file.words(5)[0], 5)
  t.equal(memory(20).byteLength, pieceBytes)
  t.equal(file.words(20)[0], 20)
  t.equal(file.peek(6), undefined)
  const left = Array.from({ length: 8 * perBlock }, (_, n) => n).filter((n) => file.peek(n))
  t.ok(left.length <= 4 * perBlock, `${left.length} pieces in memory`)
  taken()
  t.equal(await numberOf(file, 6), 6)
  t.equal(taken().length, 1)
})

t.test('bytes that are part of something larger do not keep that', async (t) => {
  const { source } = await opened(1, Infinity)
  // What is not aligned is copied as well.
  for (const [offset, bytes] of [
    [4, 2 * blockBytes],
    [2, blockBytes],
  ] as const) {
    const getBytes = async (key: Uint8Array, from: number, to: number) => {
      const value = (await source.getBytes(key, from, to)) as Uint8Array
      const larger = new Uint8Array(bytes)
      larger.set(value, offset)
      return larger.subarray(offset, offset + value.length)
    }
    const file = new BlockCache({ ...source, getBytes }, Infinity).file(keyOf, 3 * blockBytes)
    t.equal(await numberOf(file, 3), 3)
    t.equal(file.bytes(3).buffer.byteLength, blockBytes - 4)
  }
})

t.test('a block that is missing is damage', async (t) => {
  const { file } = await opened(1, Infinity)
  await t.rejects(numberOf(file, perBlock), { code: 'LK_STORAGE_CORRUPT' })
})

t.test('what lies behind 4 GiB of a part is read from there', async (t) => {
  // Each word is the number of its block.
  const getBytes = async (key: Uint8Array, from: number, to: number) => {
    const [block = NaN] = new Uint32Array(Uint8Array.from(key).buffer)
    return new Uint8Array(new Uint32Array((to - from) / 4).fill(block).buffer)
  }
  const cache = new BlockCache({ getBytes, get: (key) => getBytes(key, 0, blockBytes) }, blockBytes)
  const gib = 2 ** 30
  const blocks = cache.file((block) => new Uint8Array(Uint32Array.of(block).buffer), 5 * gib)
  const file = new PartFile(blocks)
  for (const offset of [gib, 4 * gib - 4, 4 * gib, 5 * gib - 4]) {
    const block = Math.floor(offset / blockBytes)
    t.equal(await withBlocks(() => file.word(offset)), block)
    t.equal(file.peek(offset), block)
    t.equal(await withBlocks(() => file.piece(offset)[0]), block)
    t.equal(await withBlocks(() => file.words(offset, offset, offset + 4).at(0)), block)
    const { source, from } = await withBlocks(() => file.bytes(offset, offset + 4))
    t.equal(source.readUInt32LE(from), block)
  }
  file.bring(5 * gib - 8, 5 * gib - 4)
  const { source, from, to } = await withBlocks(() => file.bytes(4 * gib - 4, 4 * gib + 4))
  t.strictSame([source.readUInt32LE(from), to - from], [(4 * gib) / blockBytes - 1, 8])
})
