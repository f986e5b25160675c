import fc from 'fast-check'
import t from 'tap'
import { PieceChecksums, pieceBytes } from '../../adapters/level/piece-checksums.js'

const text = (content: string) => new TextEncoder().encode(content)

void t.test('they are the low 32 bits of XXH64', async (t) => {
  const checksums = await PieceChecksums.load()
  // The CRC-32 of no bytes is 0, so the seed is. XXH64 of `abc` is 44BC2CF5AD770999, with that seed.
  t.same([...checksums.of(text(''), text('abc'))], [0xad770999])
  t.same([...checksums.of(text(''), text(''))], [])
})

void t.test('another bit, key or place is seen', async (t) => {
  const checksums = await PieceChecksums.load()
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 3 * pieceBytes, size: 'max' })
  const key = fc.uint8Array({ minLength: 1, maxLength: 40 })
  const property = fc.property(bytes, key, fc.nat(), (value, key, at) => {
    const found = checksums.of(key, value)
    if (!checksums.areWhole(key, value, found)) return false
    const place = at % value.length
    const flipped = value.with(place, value[place]! ^ (1 << (at % 8)))
    const other = key.with(0, key[0]! ^ 1)
    return ![
      checksums.areWhole(key, flipped, found),
      checksums.areWhole(other, value, found),
      checksums.areWhole(key, value, checksums.of(key, value, 1)),
    ].includes(true)
  })
  fc.assert(property, { numRuns: 200 })
  t.pass()
})

void t.test('some pieces of a value have the checksums that they have in the whole', async (t) => {
  const checksums = await PieceChecksums.load()
  const value = new Uint8Array(4 * pieceBytes + 100).map((_, at) => (at * at) % 251)
  const whole = checksums.of(text('key'), value)
  t.equal(whole.length, 5)
  for (let n = 0; n < 5; n++) {
    t.ok(checksums.areWhole(text('key'), value.subarray(n * pieceBytes), whole, n))
    t.notOk(checksums.areWhole(text('key'), value.subarray(n * pieceBytes), whole, n ^ 1))
  }
})
