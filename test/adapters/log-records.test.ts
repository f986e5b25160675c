import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { crc32c, mask, unmask, wordsOf } from '../../adapters/level/crc32c.js'
import { blockBytes, readLog } from '../../adapters/level/log-records.js'
import { numbered, put, text } from '../suite/bytes.js'
import { withSeed } from '../suite/random.js'

/** The log that LevelDB made of these values, each a batch of its own. */
async function logOf(directory: string, values: readonly Uint8Array[]): Promise<Uint8Array> {
  const backend = new LevelBackend(directory)
  const storage = await backend.open('objects')
  for (const [index, value] of values.entries()) await put(storage, numbered(index), value)
  const place = join(directory, 'objects')
  const [name] = (await readdir(place)).filter((name) => name.endsWith('.log'))
  // Closing may make a table of it.
  const log = await readFile(join(place, name!))
  await backend.close()
  return log
}

const piecesOf = (log: Uint8Array) => [...readLog(log)]

/** Whether a log says of itself that something is missing that had been written whole. */
function speaks(log: Uint8Array): boolean {
  const pieces = piecesOf(log)
  const at = pieces.findIndex(({ type }) => type === 'damage')
  if (at < 0) return false
  return at < pieces.length - 1 || pieces.some((piece) => piece.type === 'damage' && piece.flipped)
}

void t.test('the checksum is Castagnoli’s, wherever it begins', (t) => {
  const words = wordsOf(text('...123456789'))
  t.equal(crc32c(words, 3, 12), 0xe3069283)
  t.equal(crc32c(wordsOf(new Uint8Array(32)), 0, 32), 0x8a9136aa)
  const odd = text('.123456789').subarray(1)
  t.equal(crc32c(wordsOf(odd), 0, 9), 0xe3069283)
  t.equal(unmask(mask(0xe3069283)), 0xe3069283)
  t.end()
})

void t.test('a log is read as LevelDB wrote it, over blocks and their ends', async (t) => {
  await withSeed(async (random) => {
    const values = Array.from({ length: 60 }, (_, index) =>
      random.bytes(index % 10 === 0 ? 40_000 : random.integer(3000)),
    )
    const log = await logOf(t.testdir(), values)
    t.ok(log.length > 5 * blockBytes)
    const pieces = piecesOf(log)
    t.equal(pieces.length, values.length)
    let end = 0
    for (const [index, piece] of pieces.entries()) {
      if (piece.type === 'damage') throw new Error(piece.reason)
      t.ok(piece.at - end < 7, 'nothing but the filling of a block lies between')
      end = piece.end
      // Sequence and count, a put, the key, the length of value and checksum.
      const record = Buffer.concat(piece.fragments)
      t.equal(record.readBigUInt64LE(0), BigInt(index + 1))
      t.same(record.subarray(14, 18), numbered(index))
      t.ok(record.includes(Buffer.from(values[index]!)))
    }
    t.equal(end, log.length)
  })
})

void t.test('every flipped bit of a record is seen, the last one too', async (t) => {
  await withSeed(async (random) => {
    const log = await logOf(
      t.testdir(),
      [20, 0, 200, 300].map((length) => random.bytes(length)),
    )
    for (let bit = 0; bit < log.length * 8; bit++) {
      log[bit >>> 3]! ^= 1 << (bit & 7)
      if (!speaks(log)) t.fail(`bit ${bit} of ${log.length * 8}`)
      log[bit >>> 3]! ^= 1 << (bit & 7)
    }
    t.ok(piecesOf(log).every(({ type }) => type === 'record'))
  })
})

void t.test('a hole is followed by what was written later, whatever it looks like', async (t) => {
  await withSeed(async (random) => {
    const values = [100, 70_000, 1000, 1000, 50_000, 10].map((length) => random.bytes(length))
    const log = await logOf(t.testdir(), values)
    const whole = piecesOf(log)
    for (let round = 0; round < 200; round++) {
      const damaged = Uint8Array.from(log)
      const { at, end } = whole[random.integer(values.length - 1)]!
      const from = at + random.integer(end - at)
      const to = Math.min(from + 8 + random.integer(5000), whole.at(-1)!.at)
      if (random.integer(2) === 0) damaged.fill(0, from, to)
      else damaged.set(random.bytes(to - from), from)
      if (!speaks(damaged)) t.fail(`from ${from} to ${to}`)
      const first = piecesOf(damaged).find(({ type }) => type === 'damage')!
      t.ok(first.at <= from && first.end >= Math.min(to, from + 1))
    }
  })
})

void t.test(
  'what a crash leaves of the last record says nothing, nor do its fragments',
  async (t) => {
    await withSeed(async (random) => {
      const values = [100, 3000, 200_000].map((length) => random.bytes(length))
      const log = await logOf(t.testdir(), values)
      const { at } = piecesOf(log)[2]!
      for (let round = 0; round < 300; round++) {
        // Pages come to the disk in any order, and the length of the file apart from them.
        const torn = Uint8Array.from(log).subarray(0, at + random.integer(log.length - at + 1))
        const [page, shift] = [4096, at % 4096]
        let changed = false
        for (let from = at - shift; from < torn.length; from += page) {
          if (random.integer(4) !== 0) continue
          torn.fill(0, Math.max(from, at), from + page)
          changed = true
        }
        if (torn.length === log.length && !changed) continue
        t.notOk(speaks(torn), `round ${round}`)
        const [one, two, damage, ...more] = piecesOf(torn)
        t.match([one, two], [{ type: 'record' }, { type: 'record' }])
        t.same(more, [])
        if (torn.length > at) t.match(damage, { type: 'damage', at, end: torn.length })
      }
      const zeros = new Uint8Array(log.length + 100_000)
      zeros.set(log)
      t.notOk(speaks(zeros))
      t.equal(piecesOf(zeros).length, 4)
      t.same(piecesOf(new Uint8Array(0)), [])
      t.notOk(speaks(new Uint8Array(5000)))
    })
  },
)

void t.test('a later record that began and did not end is evidence as well', async (t) => {
  await withSeed(async (random) => {
    const log = await logOf(
      t.testdir(),
      [100, 40_000, 90_000].map((length) => random.bytes(length)),
    )
    const [, second, third] = piecesOf(log)
    const cut = log.subarray(0, third!.end - 5000)
    t.notOk(speaks(cut))
    cut.fill(0, second!.at + 100, second!.at + 1000)
    t.ok(speaks(cut))
    t.same(
      piecesOf(cut).map(({ type, at }) => [type, at]),
      [
        ['record', 0],
        ['damage', second!.at],
        ['damage', third!.at],
      ],
    )
  })
})

void t.test('a flipped bit is evidence where all else of its record is there', async (t) => {
  await withSeed(async (random) => {
    const log = await logOf(
      t.testdir(),
      [100, 100_000].map((length) => random.bytes(length)),
    )
    const piece = piecesOf(log)[1]!
    if (piece.type === 'damage') throw new Error(piece.reason)
    const { at, fragments } = piece
    const places = fragments.map(({ byteOffset, length }) => ({
      from: at + 7 + byteOffset - fragments[0]!.byteOffset,
      length,
    }))
    t.equal(places.length, 4)
    for (const [index, { from, length }] of places.entries()) {
      const flipped = Uint8Array.from(log)
      flipped[from + random.integer(length)]! ^= 1 << random.integer(8)
      t.ok(speaks(flipped), `bit in ${index}`)
      for (const [other, { from, length }] of places.entries()) {
        if (other === index) continue
        const torn = Uint8Array.from(flipped)
        torn.fill(0, from, from + Math.min(100, length))
        t.notOk(speaks(torn), `bit in ${index}, hole in ${other}`)
        // Behind the header, or before it: the end of the record is not there.
        if (other < index) continue
        t.notOk(speaks(flipped.subarray(0, from + 10)), `bit in ${index}, cut in ${other}`)
        t.notOk(speaks(flipped.subarray(0, from - 7)), `bit in ${index}, cut before ${other}`)
      }
    }
  })
})
