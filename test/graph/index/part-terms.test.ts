import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { BlockCache } from '../../../src/graph/index/block-cache.js'
import { mainKey } from '../../../src/graph/index/keys.js'
import { blockBytes, layoutOf } from '../../../src/graph/index/layout.js'
import { Part } from '../../../src/graph/index/part.js'
import { withBlocks } from '../../../src/graph/miss.js'
import { entity, literal } from '../asked.js'
import { partViews } from './part-views.js'

t.test('what lies behind a term is read ahead, and nothing else', async (t) => {
  const storage = await new MemoryBackend().open('slices')
  const triples = Array.from({ length: 8000 }, (_, n) => ({
    s: entity(`s${n}`),
    p: entity('p'),
    o: literal(`${n}`.padEnd(400)),
  }))
  const [view] = await partViews(storage, [triples], Infinity)
  const { record } = (view as NonNullable<typeof view>).part
  const { termStarts, hashes } = layoutOf(record)
  const keys = Array.from({ length: 20 }, (_, n) => Buffer.from(mainKey(record, n)).toString('hex'))
  const read: number[] = []
  const getBytes = (key: Uint8Array, from: number, to: number) => {
    const block = keys.indexOf(Buffer.from(key).toString('hex'))
    read.push(block)
    return storage.getBytes(key, from, to)
  }
  const get = () => Promise.reject(new Error('all of a block is not asked for'))
  const { terms } = new Part(new BlockCache({ get, getBytes }, Infinity), record)
  const starts = Array.from(
    { length: Math.ceil(hashes / blockBytes) - Math.floor(termStarts / blockBytes) },
    (_, n) => Math.floor(termStarts / blockBytes) + n,
  )
  t.ok((starts[0] as number) > 10)
  const id = record.terms >>> 1
  terms.bringAfter(id)
  t.strictSame(read, starts, 'each block at once')
  await withBlocks(() => terms.term(id))
  const half = read.at(-1) as number
  // With so much room all of a block is read: what of the first one lies before, too.
  const first = [...starts, starts[0], half]
  t.strictSame(read, first)
  terms.bringAfter(id)
  t.strictSame(read, [...first, half + 1, half + 2, half + 3, half + 4])
})

t.test('terms are at hand, but for those of long texts', async (t) => {
  const storage = await new MemoryBackend().open('slices')
  const [short, long] = [literal('o'.repeat(1024)), literal('o'.repeat(1025))]
  const triples = [short, long].map((o) => ({ s: entity('s'), p: entity('p'), o }))
  const [view] = await partViews(storage, [triples], Infinity)
  const { terms } = (view as NonNullable<typeof view>).part
  for (const [term, isAtHand] of [
    [short, true],
    [long, false],
  ] as const) {
    const id = await withBlocks(() => (view as NonNullable<typeof view>).find(term))
    t.strictSame(terms.term(id), term)
    t.equal(terms.term(id) === terms.term(id), isAtHand)
  }
})
