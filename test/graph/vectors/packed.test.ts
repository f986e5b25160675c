import t from 'tap'
import { pack, unpack } from '../../../src/graph/vectors/packed.js'
import { pickSeed, Random } from '../../fixtures/random.js'

const seed = pickSeed()

/** So many words, of which this part is not zero. */
function words(random: Random, count: number, part: number): Uint8Array {
  const block = Uint32Array.from({ length: count }, () =>
    random.chance(part) ? 1 + random.below(2 ** 32 - 1) : 0,
  )
  return new Uint8Array(block.buffer)
}

t.test(`a packed block is what it was, and no longer (SEED=${seed})`, (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 300; round++) {
    const block = words(random, random.below(200), random.next())
    const stored = pack(block)
    t.ok(stored.length <= block.length)
    t.strictSame(Buffer.from(unpack(stored, block.length, 'b')), Buffer.from(block))
  }
  t.end()
})

t.test('zeros take a thirty-second of their room, and numbers all of it', (t) => {
  const random = new Random(1)
  t.equal(pack(new Uint8Array(64 * 1024)).length, 2 * 1024)
  t.equal(pack(words(random, 16_384, 0.05)).length < 64 * 128, true)
  const full = words(random, 1000, 1)
  t.equal(pack(full), full)
  t.end()
})

t.test('a block at an odd byte is packed as any', (t) => {
  const bytes = new Uint8Array(401)
  bytes.fill(7, 101, 105)
  const stored = pack(Buffer.from(bytes.buffer, 1))
  t.equal(stored.length, 4 * 5)
  // A database may give parts of its own memory.
  const odd = Buffer.concat([Buffer.alloc(1), stored]).subarray(1)
  t.strictSame(unpack(odd, 400, 'b'), bytes.slice(1))
  t.end()
})

t.test('a stored block that was damaged is refused', (t) => {
  const block = words(new Random(2), 100, 0.3)
  const stored = pack(block)
  const refused = (bytes: Uint8Array, length = block.length) => {
    t.throws(() => unpack(bytes, length, 'b'), { code: 'LK_STORAGE_CORRUPT' })
  }
  refused(stored.subarray(0, stored.length - 4))
  refused(stored.subarray(0, stored.length - 1))
  refused(Buffer.concat([stored, Buffer.alloc(4)]))
  refused(new Uint8Array(0))
  refused(new Uint8Array(block.length + 4))
  // A bit behind the last word.
  const more = Uint8Array.from(stored)
  more[15] = 0x80
  refused(more)
  t.end()
})
