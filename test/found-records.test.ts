import t from 'tap'
import { MemoryBackend } from '../adapters/memory.js'
import { LorekeepError } from '../src/errors.js'
import { foundRecords } from '../src/found-records.js'
import { encodeRecord } from '../src/record.js'
import type { Range } from '../src/storage.js'
import { altered } from './fixtures/altered-storage.js'
import { pickSeed, Random } from './fixtures/random.js'
import { UnreadableBackend } from './fixtures/unreadable-backend.js'

const seed = pickSeed()
const count = 600
const keyOf = (n: number) => Uint8Array.of(1 + (n >>> 8), n & 255)

/** Numbers, and in place of each that is damaged undefined. */
async function found(backend: UnreadableBackend, range: Range) {
  const all: (number | undefined)[] = []
  for await (const page of foundRecords<{ n: number }>(await backend.open('cores'), range)) {
    for (const { key, record, damage } of page) {
      const n = (((key[0] as number) - 1) << 8) + (key[1] as number)
      if (record === undefined) t.match(damage, { code: 'LK_STORAGE_CORRUPT' })
      else t.equal(record.n, n)
      all.push(record === undefined ? undefined : n)
      key.fill(0)
    }
  }
  return all
}

t.test(
  `each record of a range is given once, and each damaged one told (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    for (let run = 0; run < 20; run++) {
      const backend = new UnreadableBackend(new MemoryBackend())
      const cores = await backend.open('cores')
      const expected: (number | undefined)[] = []
      const damaged = [0, 0.01, 0.5, 1][run % 4] as number
      for (let n = 0; n < count; n++) {
        const isDamaged = random.chance(damaged)
        const isRead = random.chance(0.5)
        const value = isDamaged && isRead ? Buffer.from('{"n') : encodeRecord({ n })
        await cores.write([{ type: 'put', key: keyOf(n), value }])
        if (isDamaged && !isRead) backend.lose('cores', keyOf(n))
        expected.push(isDamaged ? undefined : n)
      }
      t.strictSame(await found(backend, {}), expected)
      t.strictSame(await found(backend, { reverse: true }), [...expected].reverse())
      const [from, to] = [random.below(count), random.below(count)]
      const bounds = { gte: keyOf(from), lt: keyOf(to) }
      t.strictSame(await found(backend, bounds), expected.slice(from, to))
      for (const limit of [1, 255, 256, 257, random.below(count) + 1]) {
        const asked = { gt: keyOf(from), limit }
        t.strictSame(await found(backend, asked), expected.slice(from + 1, from + 1 + limit))
        const before = { lte: keyOf(from), gte: keyOf(to), reverse: true, limit }
        const backward = expected.slice(to, from + 1).reverse()
        t.strictSame(await found(backend, before), backward.slice(0, limit))
      }
    }
  },
)

t.test('what is deleted meanwhile is passed over', async (t) => {
  const backend = new UnreadableBackend(new MemoryBackend())
  const cores = await backend.open('cores')
  for (let n = 0; n < count; n++) {
    await cores.write([{ type: 'put', key: keyOf(n), value: encodeRecord({ n }) }])
  }
  backend.lose('cores', keyOf(300))
  const get = async () => undefined
  const all: (number | undefined)[] = []
  for await (const page of foundRecords<{ n: number }>(altered(cores, { get }), {})) {
    all.push(...page.map(({ record }) => record?.n))
  }
  t.notOk(all.includes(300))
  t.equal(all.at(-1), count - 1)
})

t.test('an outage is no damage', async (t) => {
  const cores = await new MemoryBackend().open('cores')
  await cores.write([{ type: 'put', key: keyOf(1), value: encodeRecord({}) }])
  const scan = async function* () {
    yield await Promise.reject(new LorekeepError('LK_STORAGE_UNAVAILABLE'))
  }
  await t.rejects(foundRecords(altered(cores, { scan }), {}).next(), {
    code: 'LK_STORAGE_UNAVAILABLE',
  })
})
