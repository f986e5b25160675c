import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { unpack } from '../../adapters/level/snappy.js'
import { tableDamage } from '../../adapters/level/table-blocks.js'
import { VarintReader } from '../../adapters/level/varints.js'
import { numbered, text } from '../suite/bytes.js'
import { withSeed } from '../suite/random.js'
import type { Random } from '../suite/random.js'

const footerBytes = 48

/** Tables that LevelDB made of some entries, in a partition with compression or without. */
async function tablesOf(
  directory: string,
  partition: 'objects' | 'slices',
  random: Random,
  prefix: string,
): Promise<Buffer[]> {
  for (const isFilled of [false, true]) {
    const backend = new LevelBackend(directory)
    const storage = await backend.open(partition)
    for (let from = 0; !isFilled && from < 600; from += 100) {
      const operations = Array.from({ length: 100 }, (_, index) => ({
        type: 'put' as const,
        key: Buffer.concat([text(prefix), numbered(from + index)]),
        value: random.bytes(500),
      }))
      await storage.write(operations)
    }
    await backend.close()
  }
  const place = join(directory, partition)
  const names = (await readdir(place)).filter((name) => name.endsWith('.ldb'))
  return Promise.all(names.map((name) => readFile(join(place, name))))
}

/** How the index of a table is stored: 0 as it is, 1 with Snappy. */
function compressionOf(table: Buffer): number {
  const reader = new VarintReader(table, table.length - footerBytes)
  for (let handle = 0; handle < 2; handle++) reader.number()
  return table[reader.number() + reader.number()]!
}

void t.test('every flipped bit of a table is seen', async (t) => {
  const compressions = new Set<number>()
  await withSeed(async (random) => {
    for (const partition of ['objects', 'slices'] as const) {
      for (const prefix of ['', 'the same in all of the keys, and not short']) {
        const tables = await tablesOf(t.testdir(), partition, random, prefix)
        t.equal(tables.length, 1)
        const [table] = tables as [Buffer]
        compressions.add(compressionOf(table))
        t.equal(tableDamage(table), undefined)
        for (let round = 0; round < 400; round++) {
          // A half of them near the end, where the indexes are.
          const span = round % 2 === 0 ? table.length : 3000
          const at = table.length - 1 - random.integer(span)
          const bit = 1 << random.integer(8)
          table[at]! ^= bit
          t.ok(tableDamage(table), `bit ${bit} of byte ${at}`)
          table[at]! ^= bit
        }
        for (const length of [0, 47, 48, table.length - 1]) {
          t.ok(tableDamage(table.subarray(0, length)), `${length} bytes`)
        }
      }
    }
  })
  t.same([...compressions].sort(), [0, 1], 'indexes of both kinds')
})

void t.test('a place in the end of a table may not be written at length', async (t) => {
  await withSeed(async (random) => {
    const [table] = (await tablesOf(t.testdir(), 'objects', random, 'k')) as [Buffer]
    const handles = new VarintReader(table, table.length - footerBytes)
    for (let number = 0; number < 4; number++) handles.number()
    // The last number goes on into the filling, where its rest is nothing.
    table[handles.at - 1]! |= 128
    t.match(tableDamage(table), { reason: /longer than it need be/ })
  })
})

void t.test('Snappy is unpacked, and what is not Snappy is refused', (t) => {
  const long = Buffer.alloc(70, 'x')
  const packed: readonly (readonly [readonly number[], string])[] = [
    [[0], ''],
    [[3, 8, ...text('abc')], 'abc'],
    [[70, 240, 69, ...long], long.toString()],
    [[70, 244, 69, 0, ...long], long.toString()],
    // A copy of what it makes, with an offset of one, two and four bytes.
    [[8, 4, ...text('ab'), 9, 2], 'abababab'.slice(0, 8)],
    [[7, 4, ...text('ab'), 18, 2, 0], 'abababa'],
    [[7, 4, ...text('ab'), 19, 2, 0, 0, 0], 'abababa'],
  ]
  for (const [bytes, expected] of packed) {
    t.equal(Buffer.from(unpack(Uint8Array.from(bytes))).toString(), expected)
  }
  for (const bytes of [
    [],
    [3, 8, 97],
    [2, 8, 97, 98, 99],
    [4, 8, 97, 98, 99],
    [8, 4, 97, 98, 9, 3],
    [8, 4, 97, 98, 9, 0],
    [5, 4, 97, 98, 9, 2],
  ]) {
    t.throws(() => unpack(Uint8Array.from(bytes)), RangeError, bytes.join())
  }
  t.end()
})
