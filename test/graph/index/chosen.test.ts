// What is chosen of random parts, beside plain arrays of what their sources say.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { BlockCache } from '../../../src/graph/index/block-cache.js'
import { choose, type Choice } from '../../../src/graph/index/chosen.js'
import { encodeTerm, hashWords } from '../../../src/graph/index/encoded-term.js'
import { orderOf, OSP, Part, POS, SPO } from '../../../src/graph/index/part.js'
import { PartView } from '../../../src/graph/index/part-view.js'
import { PartsBuilder } from '../../../src/graph/index/parts-builder.js'
import { compareEntries } from '../../../src/graph/index/term-order.js'
import { Matches } from '../../../src/graph/matches.js'
import { Miss, patience, withBlocks } from '../../../src/graph/miss.js'
import { GraphVersion, type PartOfVersion } from '../../../src/graph/version.js'
import {
  ANY,
  DEFAULT,
  NAMED,
  NONE,
  UNION,
  type Names,
  type Rows,
  type TellingView,
} from '../../../src/graph/view.js'
import type { Term, Triple } from '../../../src/types.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { entity, nameOf, patternsOf } from '../asked.js'
import { anEmbeddingSaying, aSaying, buildParts, sourceNames, type Saying } from './sayings.js'

const seed = pickSeed()

patience.rows = 1

const generations = sourceNames.map(({ generation }) => generation)
const strange = ['00000000000000000000000000000000', 'ffffffffffffffffffffffffffffffff']

const someGenerations = fc.option(
  fc.subarray([...generations, ...strange]).chain((list) => fc.shuffledSubarray(list)),
  { nil: undefined, freq: 2 },
)

/** Parts that say much of the same, each in places of its own; some have no named graphs. */
const someParts = fc.array(aSaying, { minLength: 1, maxLength: 6 }).chain((pool) => {
  const inPlace = fc
    .tuple(fc.constantFrom(...pool), aSaying)
    .map(([{ triples }, saying]): Saying => ({ ...saying, triples }))
  const aPart = fc.record({
    sayings: fc.array(fc.oneof({ weight: 3, arbitrary: inPlace }, anEmbeddingSaying(2)), {
      maxLength: 8,
    }),
    hasGraphs: fc.boolean(),
    only: someGenerations,
    not: someGenerations,
  })
  const plain = (saying: Saying): Saying => ({
    ...saying,
    triples: saying.triples.map(({ s, p, o }) => ({ s, p, o })),
  })
  const made = aPart.map(({ sayings, hasGraphs, ...choice }) => ({
    ...choice,
    sayings: hasGraphs ? sayings : sayings.map(plain),
  }))
  return fc.array(made, { minLength: 1, maxLength: 4 })
})

interface Said extends Triple {
  readonly core: string
}

function isSeen({ only, not }: Choice, source: number): boolean {
  const { generation } = sourceNames[source] as (typeof sourceNames)[number]
  return only?.includes(generation) !== false && not?.includes(generation) !== true
}

t.test(`parts say what is chosen of them, and nothing else (seed ${seed})`, async (t) => {
  const property = fc.asyncProperty(
    someParts,
    fc.option(fc.constantFrom('default', 'urn:1', 'word', 'nobody'), { nil: undefined }),
    fc.nat(),
    async (contents, collection, order) => {
      const random = new Random(order)
      const storage = await new MemoryBackend().open('slices')
      const cache = new BlockCache(storage, 1)
      const parts: PartOfVersion[] = []
      const seen: Saying[] = []
      const all: Triple[] = []
      for (const [n, { sayings, only, not }] of contents.entries()) {
        for (const record of await buildParts(storage, `part ${n}`, sayings)) {
          parts.push({ part: new Part(cache, record), only, not })
        }
        for (const saying of sayings) {
          all.push(...saying.triples)
          const isOf = collection === undefined || saying.collection === collection
          if (isOf && isSeen({ only, not }, saying.source)) seen.push(saying)
        }
      }
      const version = await GraphVersion.of(parts, collection)
      const said = seen.flatMap(({ triples, source }) =>
        triples.map((triple): Said => ({ ...triple, core: sourceNames[source]?.core ?? '' })),
      )
      const samples = random.shuffle(all).slice(0, 3)
      const [a, b] = samples
      if (a !== undefined && b !== undefined) samples.push({ s: a.s, p: b.p, o: a.o })
      for (const sample of samples) await assertTold(version, said, sample)
      if (samples.length === 0) await assertTold(version, said, { s: a0, p: a0, o: a0 })
      await assertNames(version.view, said)
      await assertVectors(version, seen, random)
    },
  )
  await fc.assert(property, { numRuns: 150, seed })
  t.pass()
})

const a0 = entity('nowhere')

async function assertTold(version: GraphVersion, said: readonly Said[], sample: Triple) {
  const { view } = version
  const find = async (term: Term | undefined) =>
    term === undefined ? ANY : withBlocks(() => view.find(term))
  for (const pattern of patternsOf(sample)) {
    const [s, p, o] = [await find(pattern.s), await find(pattern.p), await find(pattern.o)]
    const fitting = said.filter(
      (triple) =>
        fits(pattern.s, triple.s) && fits(pattern.p, triple.p) && fits(pattern.o, triple.o),
    )
    const isOpen = s === ANY || p === ANY || o === ANY
    for (const asked of ['union', 'any', 'default', 'named', sample.g ?? 'urn:0', 'urn:g']) {
      const g = kinds[asked] ?? (await find(entity(asked)))
      const inGraph = fitting.filter((triple) => {
        if (asked === 'default') return triple.g === undefined
        if (asked === 'named') return triple.g !== undefined
        return asked === 'union' || asked === 'any' || triple.g === asked
      })
      const isUnion = asked === 'union'
      const rowName = (triple: Triple) => nameOfRow(triple, isUnion ? undefined : triple.g)
      const expected = [...new Set(inGraph.map(rowName))].sort()
      const shown = `${JSON.stringify(pattern)} in ${asked}`
      const rows = await drain(view, await withBlocks(() => view.rows(s, p, o, g)))
      const named = rows.map(({ triple }) => nameOfRow(triple, isUnion ? undefined : triple.g))
      assert.deepEqual([...named].sort(), expected, shown)
      const told = await drain(view, await withBlocks(() => view.rowsToTell(s, p, o, g)))
      assert.deepEqual(
        told.map(({ triple }) =>
          rowName({ ...triple, g: isUnion ? undefined : triple.g } as Triple),
        ),
        named,
        `${shown}, to be told`,
      )
      const isSorted = [SPO, orderOf(s, p, o)].some((order) =>
        rows.every(({ triple }, n) => n === 0 || isBefore(order, rows[n - 1]?.triple, triple)),
      )
      assert.ok(isSorted, `${shown}, in an order`)
      for (const { ids } of rows) {
        assert.ok(await withBlocks(() => view.has(ids[0], ids[1], ids[2], g)), shown)
      }
      const estimate = await withBlocks(() => view.estimate(s, p, o, g))
      const isCounted = asked !== 'any' && asked !== 'named'
      if (isCounted) assert.ok(estimate >= expected.length, `${shown}: about ${estimate}`)
      if (view.isExact && isUnion) assert.equal(estimate, expected.length, shown)
      if (!isOpen && isUnion) {
        assert.equal(await withBlocks(() => view.has(s, p, o, g)), expected.length > 0, shown)
        const core = await withBlocks(() => version.coreOf(s, p, o))
        const cores = inGraph.map((triple) => triple.core)
        assert.ok(cores.length === 0 ? core === '' : cores.includes(core), `${shown}: ${core}`)
      }
      if (asked !== 'union') {
        const named = { any: undefined, default: null, named: '?g' }[asked]
        const inNamed = { ...pattern, g: asked in kinds ? named : asked }
        const open = { view, check: () => undefined, release: () => undefined }
        assert.equal(await new Matches(open, inNamed, Infinity).count(), expected.length, shown)
      }
    }
  }
}

const kinds: Readonly<Record<string, number>> = {
  union: UNION,
  any: ANY,
  default: DEFAULT,
  named: NAMED,
}

function fits(asked: Term | undefined, term: Term): boolean {
  return asked === undefined || nameOf(asked) === nameOf(term)
}

function nameOfRow({ s, p, o }: Triple, g: string | undefined): string {
  return [s, p, o].map(nameOf).join(' ') + ` in ${g ?? ''}`
}

interface Row {
  readonly triple: Triple
  readonly ids: readonly [number, number, number]
}

async function drain(view: TellingView, rows: Rows): Promise<Row[]> {
  const found: Row[] = []
  while (await withBlocks(() => rows.next())) {
    const { s, p, o, g } = rows
    const term = async (id: number) => withBlocks(() => view.term(id))
    const triple = { s: await term(s), p: await term(p), o: await term(o) }
    const graph = g >= 0 ? { g: (await term(g)).v } : {}
    found.push({ triple: { ...triple, ...graph }, ids: [s, p, o] })
  }
  return found
}

/** Whether two rows come in this order, and are not the same one. */
function isBefore(order: number, a: Triple | undefined, b: Triple): boolean {
  const places = { [SPO]: 'spo', [POS]: 'pos', [OSP]: 'osp' }[order] ?? ''
  for (const place of places as Iterable<'s' | 'p' | 'o'>) {
    const compared = compareTerms((a as Triple)[place], b[place])
    if (compared !== 0) return compared < 0
  }
  if (a?.g === undefined || b.g === undefined) return a?.g === undefined && b.g !== undefined
  return compareTerms(entity(a.g), entity(b.g)) < 0
}

function compareTerms(a: Term, b: Term): number {
  const [x, y] = [encodeTerm(a).slice(), encodeTerm(b).slice()]
  const order = hashWords(x, 0, x.length) - hashWords(y, 0, y.length)
  return order === 0 ? compareEntries(x, 0, x.length, y, 0, y.length) : order
}

async function assertNames(view: TellingView, said: readonly Said[]): Promise<void> {
  const found = new Set<string>()
  for (let n = 0; n < view.parts; n++) {
    const names: Names = view.graphNames(n)
    while (await withBlocks(() => names.next())) found.add(names.name)
  }
  const expected = new Set(said.flatMap(({ g }) => g ?? []))
  assert.deepEqual([...found].sort(), [...expected].sort())
}

async function assertVectors(version: GraphVersion, seen: readonly Saying[], random: Random) {
  const { view } = version
  const expected = seen.flatMap(({ embeddings, source }) =>
    embeddings.flatMap(({ e, v }) =>
      v.map(() => `${nameOf(e)} of ${sourceNames[source]?.core ?? ''}`),
    ),
  )
  const chosen = seen
    .flatMap(({ embeddings }) => embeddings.map(({ e }) => e))
    .filter(() => random.chance(0.5))
  const ids = new Set<number>()
  for (const term of chosen) ids.add(await withBlocks(() => view.find(term)))
  const names = chosen.map((term) => `${nameOf(term)} of `)
  const ofChosen = expected.filter((text) => names.some((name) => text.startsWith(name)))
  for (const [entities, wanted] of [
    [undefined, expected],
    [ids, ofChosen],
  ] as const) {
    const found: string[] = []
    for (const set of await version.vectors(2, entities, () => undefined)) {
      for (let n = 0; n < set.count; n++) {
        if (set.accepts?.[n] === 0) continue
        const id = await withBlocks(() => set.entity(n))
        const term = await withBlocks(() => view.term(id))
        assert.equal(await withBlocks(() => view.find(term)), id, 'one id for one term')
        found.push(`${nameOf(term)} of ${await withBlocks(() => set.core(n))}`)
      }
    }
    assert.deepEqual(found.sort(), [...wanted].sort())
  }
}

t.test('thousands of sources are chosen by lists of thousands', async (t) => {
  const count = 10_000
  const nameOfSource = (n: number) => (7919n * BigInt(n) * 2n ** 70n).toString(16).padStart(32, '0')
  const storage = await new MemoryBackend().open('slices')
  const builder = new PartsBuilder(storage, 'part', { generation: nameOfSource(0), core: 'c' })
  for (let n = 0; n < count; n++) {
    // Every other one is not there.
    builder.source({ generation: nameOfSource(2 * n), core: `core ${n % 7}` })
    const m = { i: 'i', m: [], u: 'u', c: 'c' }
    builder.push(
      encodeMessage(['t', { m, t: [{ s: entity('s'), p: entity('p'), o: entity(`${n % 50}`) }] }]),
    )
  }
  const [record] = await builder.finish()
  assert.ok(record)
  t.equal(record.sources, count)
  const part = new Part(new BlockCache(storage, 1), record)
  const lists = [
    [],
    [1],
    [6],
    [5, 8, 4],
    Array.from({ length: 2 * count }, (_, n) => 2 * count - 1 - n),
    Array.from({ length: count }, (_, n) => 2 * n + 1),
    Array.from({ length: count }, (_, n) => 4 * n),
    Array.from({ length: 30 * count }, (_, n) => n + 2 * count - 3),
  ]
  for (const [n, list] of lists.entries()) {
    const named = new Set(list)
    const generations = list.map(nameOfSource)
    const there = Array.from({ length: count }, (_, n) => 2 * n)
    for (const [choice, isIn] of [
      [{ only: generations }, true],
      [{ not: generations }, false],
    ] as const) {
      const expected = there.filter((source) => named.has(source) === isIn).map(nameOfSource)
      const chosen = await choose(part, choice)
      const shown = `list ${n}, ${isIn ? 'only' : 'not'}`
      if (expected.length === 0) t.equal(chosen, undefined, shown)
      else if (expected.length === count) t.equal(chosen?.accepts, undefined, shown)
      else {
        const found: string[] = []
        for (const [place, isSeen] of chosen?.accepts?.entries() ?? []) {
          if (isSeen === 1) found.push(await withBlocks(() => generationOf(part, place)))
        }
        t.strictSame(found.sort(), expected.sort(), shown)
        t.equal(chosen?.rows, expected.length, shown)
      }
    }
  }
})

function generationOf(part: Part, place: number): string {
  const source = part.sourceOf(place)
  const word = (n: number) => part.generationWord(source, n).toString(16).padStart(8, '0')
  return word(0) + word(1) + word(2) + word(3)
}

t.test('little of much is found without going through all of it', async (t) => {
  const storage = await new MemoryBackend().open('slices')
  const [large, small] = ['a', 'b'].map((name) => ({ generation: name.repeat(32), core: name }))
  assert.ok(large && small)
  const builder = new PartsBuilder(storage, 'part', large)
  const m = { i: 'i', m: [], u: 'u', c: 'c' }
  const triples = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => ({
      s: entity(`${from + n}`),
      p: entity('p'),
      o: entity('o'),
    }))
  builder.push(encodeMessage(['t', { m, t: triples(0, 5000) }]))
  builder.source(small)
  builder.push(encodeMessage(['t', { m, t: triples(4995, 5005) }]))
  const [record] = await builder.finish()
  assert.ok(record)
  const part = new Part(new BlockCache(storage, 1 << 24), record)
  const chosen = await choose(part, { only: [small.generation] })
  assert.ok(chosen)
  const view = new PartView(part, chosen)
  const p = await withBlocks(() => view.find(entity('p')))
  const o = await withBlocks(() => view.find(entity('o')))
  for (const [name, s] of [
    ['4994', NONE],
    ['4995', 1],
    ['5004', 1],
  ] as const) {
    const id = await withBlocks(() => view.find(entity(name)))
    t.equal(await withBlocks(() => view.has(id, p, o)), s !== NONE, name)
  }
  for (const pattern of [
    [ANY, p, ANY],
    [ANY, ANY, o],
    [ANY, ANY, ANY],
  ] as const) {
    const rows = await withBlocks(() => view.rows(pattern[0], pattern[1], pattern[2]))
    let count = 0
    let misses = 0
    for (;;) {
      try {
        if (!rows.next()) break
        count++
      } catch (error) {
        assert.ok(error instanceof Miss)
        misses++
        await error.load()
      }
    }
    t.equal(count, 10)
    // Each row that is passed over would be one.
    t.ok(misses < 10, `${misses} misses`)
  }
})
