import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Term, Triple } from '../../../src/types.js'
import { passagePredicates } from '../../../src/vocabulary.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { Blocks, readPart } from './part-file.js'
import {
  anEmbeddingSaying,
  aSaying,
  buildParts,
  rowsOf,
  vectorsOf,
  type Saying,
} from './sayings.js'

const seed = pickSeed()

t.test(
  `a part has its terms and rows in order, and where each is said (seed ${seed})`,
  async (t) => {
    const property = fc.asyncProperty(fc.array(aSaying, { maxLength: 8 }), async (sayings) => {
      const storage = new Blocks()
      const parts = await buildParts(storage, 'id', sayings)
      const wanted = rowsOf(sayings)
      assert.equal(parts.length, wanted.length === 0 ? 0 : 1)
      const [part] = parts
      if (part === undefined) return
      const { said } = await readPart(storage, part)
      assert.deepEqual([...said].sort(), wanted)
    })
    await fc.assert(property, { numRuns: 120, seed })
    t.pass()
  },
)

t.test(`it is the same bytes whichever order things are said in (seed ${seed})`, async (t) => {
  const property = fc.asyncProperty(
    fc.array(aSaying, { maxLength: 6 }),
    fc.nat(),
    async (sayings, order) => {
      const random = new Random(order)
      const shuffled = random
        .shuffle(sayings)
        .map((saying) => ({ ...saying, triples: random.shuffle(saying.triples) }))
      const storage = new Blocks()
      const [one] = await buildParts(storage, 'one', sayings)
      const [other] = await buildParts(storage, 'other', shuffled)
      if (one === undefined || other === undefined) return
      assert.deepEqual({ ...other, id: 'one' }, one)
      const { bytes } = await readPart(storage, one)
      assert.ok(bytes.equals((await readPart(storage, other)).bytes))
    },
  )
  await fc.assert(property, { numRuns: 60, seed })
  t.pass()
})

t.test(`vectors of each length are a part of their own (seed ${seed})`, async (t) => {
  const sayings = fc.tuple(
    fc.array(aSaying, { maxLength: 2 }),
    fc.array(anEmbeddingSaying(2), { maxLength: 4 }),
    fc.array(anEmbeddingSaying(3), { maxLength: 4 }),
  )
  const property = fc.asyncProperty(sayings, fc.nat(), async ([triples, twos, threes], order) => {
    const storage = new Blocks()
    const all: Saying[] = new Random(order).shuffle([...triples, ...twos, ...threes])
    const parts = await buildParts(storage, 'id', all)
    for (const [n, part] of parts.entries()) assert.equal(part.number, n)
    const found = new Map<number, readonly string[]>()
    for (const part of parts) {
      const read = await readPart(storage, part)
      assert.equal(part.triples > 0, part.vectors === undefined)
      if (part.triples > 0) assert.deepEqual([...read.said].sort(), rowsOf(triples))
      found.set(part.vectors?.dimensions ?? 0, read.vectors)
    }
    assert.equal(found.size, parts.length)
    assert.equal(found.has(0), rowsOf(triples).length > 0)
    for (const dimensions of [2, 3]) {
      const those = all.filter(({ embeddings }) =>
        embeddings.some(({ v }) => v[0]?.length === dimensions),
      )
      assert.deepEqual(
        found.get(dimensions) ?? [],
        vectorsOf(those).filter(
          (text) => text.length - text.lastIndexOf(' ') - 1 === 8 * dimensions,
        ),
      )
    }
  })
  await fc.assert(property, { numRuns: 60, seed })
  t.pass()
})

t.test(`subjects with many rows, in many places (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const uri = (n: number) => ({ v: `urn:${n}`, e: true })
  for (const collections of [1, 5]) {
    const sayings = Array.from({ length: 12 }, (): Saying => ({
      source: random.below(collections === 1 ? 1 : 4),
      collection: `c${random.below(collections)}`,
      triples: Array.from({ length: 300 }, () => ({
        s: uri(random.below(3)),
        p: uri(random.below(3)),
        o: uri(random.below(120)),
      })),
      embeddings: [],
    }))
    const storage = new Blocks()
    const [part] = await buildParts(storage, 'id', sayings)
    assert.ok(part)
    const { said } = await readPart(storage, part)
    assert.deepEqual([...said].sort(), rowsOf(sayings))
  }
  t.pass()
})

t.test('names of a document, which all of its passages have, may fill several parts', async (t) => {
  const { text, partOf, mainEntity, label } = passagePredicates
  const uri = (v: string) => ({ v, e: true })
  const sayingOf = (source: number, passages: number): Saying => {
    const triples: Triple[] = []
    const say = (s: string, [p = '']: readonly string[], o: Term) =>
      triples.push({ s: uri(s), p: uri(p), o })
    for (let n = 0; n < 50; n++) {
      say('urn:document', mainEntity, uri(`urn:${n}`))
      for (let m = 0; m < 20; m++) say(`urn:${n}`, label, { v: `name ${n} ${m}`, e: false })
    }
    for (let n = 0; n < passages; n++) {
      say(`urn:passage ${n}`, partOf, uri('urn:document'))
      say(`urn:passage ${n}`, text, { v: 'text', e: false })
    }
    return { source, collection: 'c', triples, embeddings: [] }
  }
  const parts = await buildParts(new Blocks(), 'id', [sayingOf(0, 1500), sayingOf(1, 1000)])
  // 1,001 words each, and a part ends with the passage that reaches 1,048,576.
  t.strictSame(
    parts.flatMap(({ passages, sources }) => (passages ? [[passages.count, sources]] : [])),
    [
      [1048, 1],
      [452 + 596, 2],
      [404, 1],
    ],
  )
})
