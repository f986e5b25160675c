import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { blockBytes, layoutOf, type PartRecord } from '../../../src/graph/index/layout.js'
import { vectorFile } from '../../../src/graph/index/links-writer.js'
import { mainKey } from '../../../src/graph/index/keys.js'
import { mergeParts, type MergeInput } from '../../../src/graph/index/merging.js'
import { PartsBuilder } from '../../../src/graph/index/parts-builder.js'
import type { SourceName } from '../../../src/graph/index/places.js'
import { readHeader } from '../../../src/graph/vectors/links.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { Blocks, mainFile, readPart } from './part-file.js'
import {
  anEmbeddingSaying,
  aPassageSaying,
  aSaying,
  buildParts,
  rowsOf,
  sourceNames,
  vectorsOf,
  type Saying,
} from './sayings.js'

t.setTimeout(120_000)

const seed = pickSeed()
const options = { minLinked: Infinity, signal: undefined, onProgress: undefined }
const seeds = fc.integer()
const deadSources = fc.uniqueArray(fc.nat(3), { maxLength: 2 })

interface Run {
  readonly storage: Blocks
  readonly random: Random
  /** Generations that are left out, at the latest by the last merge. */
  readonly dead: readonly string[]
  ids: number
}

function runOf(order: number, dead: readonly number[]): Run {
  const generations = dead.map((n) => (sourceNames[n] as SourceName).generation)
  return { storage: new Blocks(), random: new Random(order), dead: generations, ids: 0 }
}

/** Parts of random groups of them, which come in any order. */
async function buildSplit(run: Run, sayings: readonly Saying[]): Promise<PartRecord[]> {
  const { random, storage } = run
  const groups = Array.from({ length: 1 + random.below(6) }, (): Saying[] => [])
  for (const saying of sayings) random.pick(groups).push(saying)
  const parts: PartRecord[] = []
  for (const group of groups) {
    parts.push(...(await buildParts(storage, `built ${run.ids++}`, random.shuffle(group))))
  }
  return parts
}

/** Merges random ones of them again and again, until there is one. */
async function mergeAll(run: Run, parts: readonly PartRecord[]): Promise<PartRecord | undefined> {
  const { random, storage } = run
  let left = [...parts]
  while (left.length > 0) {
    const isLast = random.chance(0.3)
    left = random.shuffle(left)
    const those = left.splice(0, isLast ? left.length : 1 + random.below(3))
    const inputs = those.map((part): MergeInput => {
      const dead = isLast ? run.dead : run.dead.filter(() => random.chance(0.3))
      return { part, dead: [...dead, 'f'.repeat(32)] }
    })
    const id = `merged ${run.ids++}`
    const merged = await mergeParts(storage, id, inputs, options)
    assert.equal(storage.writing, 0)
    assert.equal(storage.lent.size, 0)
    if (merged !== undefined) {
      assert.equal(merged.id, id)
      assert.equal(merged.number, 0)
    }
    if (isLast) return merged
    if (merged !== undefined) left.push(merged)
  }
  return undefined
}

function staying(sayings: readonly Saying[], dead: readonly number[]): Saying[] {
  return sayings.filter(({ source }) => !dead.includes(source))
}

/** What comes of merging what was built in pieces, and of building what is left of it at once. */
async function bothWays(sayings: readonly Saying[], dead: readonly number[], order: number) {
  const run = runOf(order, dead)
  const merged = await mergeAll(run, await buildSplit(run, sayings))
  const left = staying(sayings, dead)
  const [built] = await buildParts(run.storage, 'whole', left)
  assert.equal(merged === undefined, built === undefined)
  if (merged === undefined || built === undefined) return undefined
  assert.deepEqual({ ...merged, id: '' }, { ...built, id: '' })
  return {
    left,
    merged: await readPart(run.storage, merged),
    built: await readPart(run.storage, built),
  }
}

t.test(`parts that are merged are those that would have been built (seed ${seed})`, async (t) => {
  const property = fc.asyncProperty(
    fc.array(aSaying, { maxLength: 14 }),
    deadSources,
    seeds,
    async (sayings, dead, order) => {
      const ways = await bothWays(sayings, dead, order)
      if (ways === undefined) return
      const { left, merged, built } = ways
      assert.deepEqual([...merged.said].sort(), rowsOf(left))
      assert.ok(merged.bytes.equals(built.bytes))
    },
  )
  await fc.assert(property, { numRuns: 150, seed })
  t.pass()
})

t.test(`so are those of vectors, but for their order (seed ${seed})`, async (t) => {
  const property = fc.asyncProperty(
    fc.array(anEmbeddingSaying(3), { maxLength: 10 }),
    deadSources,
    seeds,
    async (sayings, dead, order) => {
      const ways = await bothWays(sayings, dead, order)
      if (ways === undefined) return
      assert.deepEqual([...ways.merged.vectors].sort(), vectorsOf(ways.left).sort())
    },
  )
  await fc.assert(property, { numRuns: 100, seed })
  t.pass()
})

t.test(`so are those of passages, byte for byte (seed ${seed})`, async (t) => {
  let found = 0
  const property = fc.asyncProperty(
    fc.array(aPassageSaying, { maxLength: 10 }),
    deadSources,
    seeds,
    async (sayings, dead, order) => {
      const run = runOf(order, dead)
      const arePassages = ({ passages }: PartRecord) => passages !== undefined
      const split = (await buildSplit(run, sayings)).filter(arePassages)
      const merged = await mergeAll(run, split)
      const left = staying(sayings, dead)
      const built = (await buildParts(run.storage, 'whole', left)).find(arePassages)
      assert.deepEqual(
        merged && { ...merged, id: '', number: 0 },
        built && { ...built, id: '', number: 0 },
      )
      if (merged === undefined || built === undefined) return
      found += merged.passages?.count ?? 0
      const [a, b] = [await mainFile(run.storage, merged), await mainFile(run.storage, built)]
      assert.ok(a.equals(b))
    },
  )
  await fc.assert(property, { numRuns: 150, seed })
  t.ok(found > 100, `${found} passages`)
})

/** Of so many triples, whose terms take several blocks. */
function largeSaying(random: Random, triples: number, source: number, isLong: boolean): Saying {
  const long = 'long '.repeat(isLong ? 60_000 : 3)
  return {
    source,
    collection: `c${random.below(3)}`,
    triples: Array.from({ length: triples }, () => ({
      s: { v: `https://example.org/${random.below(triples)}`, e: true },
      p: { v: `urn:p${random.below(5)}`, e: true },
      o: { v: `${random.below(triples)} ${random.chance(0.001) ? long : ''}`, e: false },
      ...(random.chance(0.2) && { g: `urn:g${random.below(40)}` }),
    })),
    embeddings: [],
  }
}

t.test(
  'all that is lent is given back, where the last terms are subjects of nothing',
  async (t) => {
    const storage = new Blocks()
    const parts: PartRecord[] = []
    for (const source of [0, 1]) {
      const triples = Array.from({ length: 70_000 }, (_, n) => ({
        s: { v: 'urn:s', e: true },
        p: { v: 'urn:p', e: true },
        o: { v: `${source} ${n}`, e: false },
      }))
      const saying: Saying = { source, collection: 'c', triples, embeddings: [] }
      parts.push(...(await buildParts(storage, `built ${source}`, [saying])))
    }
    const inputs = parts.map((part) => ({ part, dead: [] }))
    assert.ok(await mergeParts(storage, 'merged', inputs, options))
    t.ok(storage.lendings > 0)
    t.equal(storage.lent.size, 0)
  },
)

t.test('blocks of small parts, which a merge keeps, are not lent', async (t) => {
  const storage = new Blocks()
  const random = new Random(seed)
  const parts: PartRecord[] = []
  for (let n = 0; n < 20; n++) {
    const saying = largeSaying(random, 50, n % 2, false)
    parts.push(...(await buildParts(storage, `built ${n}`, [saying])))
  }
  const inputs = parts.map((part) => ({ part, dead: [] }))
  assert.ok(await mergeParts(storage, 'merged', inputs, options))
  t.equal(storage.lendings, 0)
})

for (const isSmall of [true, false]) {
  t.test(`parts of many blocks, ${isSmall ? 'here' : 'in a thread'} (seed ${seed})`, async (t) => {
    const random = new Random(seed)
    const storage = new Blocks()
    const shared = largeSaying(random, 2000, 0, false)
    const groups = Array.from({ length: 6 }, (_, n) => [
      largeSaying(random, 9000, n % 4, n === 2),
      { ...shared, source: n % 4 },
    ])
    const parts: PartRecord[] = []
    for (const [n, group] of groups.entries()) {
      parts.push(...(await buildParts(storage, `built ${n}`, group)))
    }
    const dead = [(sourceNames[3] as SourceName).generation]
    const inputs = parts.map((part) => ({ part, dead }))
    assert.ok(inputs.some(({ part }) => layoutOf(part).spo > 2 * blockBytes))
    const merged = await mergeParts(storage, 'merged', inputs, { ...options, isSmall })
    assert.equal(storage.lent.size, 0)
    const [built] = await buildParts(storage, 'whole', staying(groups.flat(), [3]))
    assert.ok(merged && built)
    assert.ok(merged.lists > 0)
    assert.deepEqual({ ...merged, id: '' }, { ...built, id: '' })
    const { bytes } = await readPart(storage, merged)
    assert.ok(bytes.equals((await readPart(storage, built)).bytes))
    t.pass()
  })
}

t.test('a language is spelled as in the first part that has it', async (t) => {
  const storage = new Blocks()
  const spelled = async (ln: string) => {
    const builder = new PartsBuilder(storage, ln, sourceNames[0] as SourceName)
    const s = { v: 'urn:s', e: true }
    const m = { i: 'i', m: [], u: 'u', c: 'c' }
    builder.push(encodeMessage(['t', { m, t: [{ s, p: s, o: { v: 'word', e: false, ln } }] }]))
    const [part] = await builder.finish()
    return { part: part as PartRecord, dead: [] }
  }
  const [small, capital, other] = [
    await spelled('de-at'),
    await spelled('de-AT'),
    await spelled('DE-AT'),
  ]
  for (const [first, ...rest] of [
    [small, capital, other],
    [capital, other, small],
    [other, small],
  ] as const) {
    const merged = await mergeParts(storage, 'merged', [first, ...rest], options)
    assert.ok(merged)
    const { bytes } = await readPart(storage, merged)
    t.ok(bytes.equals((await readPart(storage, first.part)).bytes))
  }
})

t.test(`many vectors are linked, and those of the first kept (seed ${seed})`, async (t) => {
  const storage = new Blocks()
  const random = new Random(seed)
  // Around a circle: paths lead to the nearest.
  const vector = () => {
    const angle = 2 * Math.PI * random.next()
    return [Math.cos(angle), Math.sin(angle), random.next() / 10]
  }
  const sayingOf = (source: number, count: number): Saying => ({
    source,
    collection: 'c',
    triples: [],
    embeddings: Array.from({ length: count }, (_, n) => ({
      e: { v: `urn:${source}-${n}`, e: true },
      v: [vector()],
    })),
  })
  const sayings = [sayingOf(0, 40), sayingOf(1, 100), sayingOf(2, 3000)]
  const parts: PartRecord[] = []
  for (const [n, saying] of sayings.entries()) {
    parts.push(...(await buildParts(storage, `built ${n}`, [saying])))
  }
  const done: number[] = []
  for (const isSmall of [true, false]) {
    const merged = await mergeParts(
      storage,
      `merged ${isSmall}`,
      parts.map((part) => ({ part, dead: [(sourceNames[0] as SourceName).generation] })),
      { ...options, minLinked: 3100, isSmall, onProgress: (n) => done.push(n) },
    )
    assert.ok(merged?.vectors)
    t.equal(merged.vectors.count, 3100)
    t.ok(merged.vectors.links > 0)
    const { vectors } = await readPart(storage, merged)
    // The largest comes first.
    t.same(vectors, vectorsOf([sayings[2] as Saying, sayings[1] as Saying]))
    const header = await readHeader(vectorFile(storage, merged, merged.vectors))
    t.equal(header.dropped, 0)
    const again = await mergeParts(storage, 'again', [{ part: merged, dead: [] }], {
      ...options,
      minLinked: 3101,
    })
    t.equal(again?.vectors?.links, 0)
  }
  t.ok(done.length > 0, 'progress is told')
})

t.test('parts of several kinds cannot be one', async (t) => {
  const storage = new Blocks()
  const one: Saying = { source: 0, collection: 'c', triples: [], embeddings: [] }
  const e = { v: 'urn:e', e: true }
  const parts = await buildParts(storage, 'id', [
    { ...one, triples: [{ s: e, p: e, o: e }] },
    { ...one, embeddings: [{ e, v: [[1], [1, 2]] }] },
  ])
  t.equal(parts.length, 3)
  for (const n of [0, 1]) {
    const inputs = parts.slice(n, n + 2).map((part) => ({ part, dead: [] }))
    await t.rejects(mergeParts(storage, 'merged', inputs, options), TypeError)
  }
})

t.test(`where it fails or is aborted, nothing is being written (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const whole = new Blocks()
  const inputs: MergeInput[] = []
  for (const n of [0, 1]) {
    const [part] = await buildParts(whole, `built ${n}`, [largeSaying(random, 30_000, n, n === 1)])
    inputs.push({ part: part as PartRecord, dead: [] })
  }
  // It has some 12 MiB, which are three writes at least.
  for (const isSmall of [true, false]) {
    for (const failing of [0, 1]) {
      const storage = new Blocks()
      for (const [key, value] of whole.values) storage.values.set(key, value)
      let writes = 0
      const write = storage.write.bind(storage)
      storage.write = async (operations) => {
        const n = writes++
        await write(operations)
        if (n === failing) throw new Error('no room')
      }
      const merging = mergeParts(storage, 'merged', inputs, { ...options, isSmall })
      await t.rejects(merging, { message: 'no room' })
      t.equal(storage.writing, 0)
      const controller = new AbortController()
      writes = 100
      storage.write = async (operations) => {
        const isLast = writes++ === 100 + failing
        storage.writing++
        if (isLast) controller.abort(new Error('enough'))
        // Longer than a thread takes to end.
        if (isLast) await new Promise((resolve) => setTimeout(resolve, 200))
        await write(operations)
        storage.writing--
      }
      const { signal } = controller
      const aborted = mergeParts(storage, 'aborted', inputs, { ...options, isSmall, signal })
      await t.rejects(aborted, { message: 'enough' })
      t.equal(storage.writing, 0)
      const { size } = storage.values
      await new Promise((resolve) => setTimeout(resolve, 20))
      t.equal(storage.values.size, size)
    }
  }
  const signal = AbortSignal.abort(new Error('before'))
  await t.rejects(mergeParts(whole, 'merged', inputs, { ...options, signal }), {
    message: 'before',
  })
})

t.test(`a block that is missing or cut is told (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const storage = new Blocks()
  const [part] = await buildParts(storage, 'built', [largeSaying(random, 9000, 0, false)])
  assert.ok(part)
  const inputs = [{ part, dead: [] }]
  const { termWords, spo, rowPlaces } = layoutOf(part)
  for (const offset of [termWords, spo, rowPlaces]) {
    const n = Math.floor(offset / blockBytes)
    const key = Buffer.from(mainKey(part, n)).toString('latin1')
    const block = storage.values.get(key)
    assert.ok(block)
    storage.values.delete(key)
    await t.rejects(mergeParts(storage, 'merged', inputs, options), { code: 'LK_STORAGE_CORRUPT' })
    storage.values.set(key, block.subarray(0, -8))
    await t.rejects(mergeParts(storage, 'merged', inputs, options), { code: 'LK_STORAGE_CORRUPT' })
    storage.values.set(key, block)
  }
  t.ok(await mergeParts(storage, 'merged', inputs, options))
})
