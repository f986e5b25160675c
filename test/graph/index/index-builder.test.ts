// Slices of several sources, indexed where they are and in a thread.

import assert from 'node:assert/strict'
import t from 'tap'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { IndexBuilder, linkParts } from '../../../src/graph/index/index-builder.js'
import { IndexThread } from '../../../src/graph/index/index-thread.js'
import { mergeParts } from '../../../src/graph/index/merging.js'
import type { SourceName } from '../../../src/graph/index/places.js'
import { Blocks, readPart } from './part-file.js'
import { buildParts, rowsOf, sourceNames, vectorsOf, type Saying } from './sayings.js'

t.setTimeout(120_000)

const uri = (v: string) => ({ v, e: true })

/** Each about as many bytes as `long`. */
function sayingsOf(count: number, long: number): Saying[] {
  return Array.from({ length: count }, (_, n) => ({
    // Runs of one source, which comes again later.
    source: Math.floor(n / 3) % 4,
    collection: `c${n % 2}`,
    triples: [{ s: uri(`s${n % 7}`), p: uri('p'), o: { v: `${n}`.padEnd(long), e: false } }],
    embeddings: [],
  }))
}

async function build(storage: Blocks, sayings: readonly Saying[]) {
  const nameOf = ({ source }: Saying) => sourceNames[source] as SourceName
  const [first] = sayings as [Saying]
  const builder = new IndexBuilder(storage, 'id', nameOf(first), undefined)
  let last = nameOf(first)
  try {
    for (const saying of sayings) {
      if (nameOf(saying) !== last) builder.source(nameOf(saying))
      last = nameOf(saying)
      const m = { i: 'i', m: [], u: 'u', c: saying.collection }
      // A message may be cut anywhere.
      const bytes = encodeMessage(['t', { m, t: saying.triples }])
      for (const slice of [bytes.subarray(0, 9), bytes.subarray(9)]) {
        builder.push(slice)
        await builder.ready()
      }
    }
    return await builder.finish()
  } finally {
    await builder.end()
  }
}

for (const [name, count, long] of [
  ['where they are', 30, 10],
  ['in a thread', 40, 512 * 1024],
] as const) {
  t.test(`slices belong to the source that was told before them, ${name}`, async (t) => {
    const storage = new Blocks()
    const sayings = sayingsOf(count, long)
    const [part, ...others] = await build(storage, sayings)
    assert.ok(part)
    t.equal(others.length, 0)
    const { said } = await readPart(storage, part)
    assert.deepEqual([...said].sort(), rowsOf(sayings))
    t.equal(part.sources, 4)
  })
}

t.test('more lengths of vectors than are kept at once are parts all the same', async (t) => {
  const storage = new Blocks()
  const sayings = Array.from({ length: 200 }, (_, n): Saying => ({
    source: n % 4,
    collection: 'c',
    triples: [{ s: uri(`s${n}`), p: uri('p'), o: uri('o') }],
    embeddings: [{ e: uri(`s${n}`), v: [Array.from({ length: 1 + (n % 100) }, (_, i) => i + 1)] }],
  }))
  const parts = await buildParts(storage, 'id', sayings)
  t.same(
    parts.map(({ number }) => number),
    [...parts.keys()],
  )
  t.equal(parts.filter(({ triples }) => triples > 0).length, 1)
  const vectors: string[] = []
  for (const part of parts) vectors.push(...(await readPart(storage, part)).vectors)
  assert.deepEqual(vectors.sort(), vectorsOf(sayings).sort())
})

t.test('where no thread is free, parts are merged here', async (t) => {
  const storage = new Blocks()
  const threads = [
    (await IndexThread.start(storage, 'one', undefined)) as IndexThread,
    (await IndexThread.start(storage, 'two', undefined)) as IndexThread,
  ]
  t.teardown(() => Promise.all(threads.map((thread) => thread.end())))
  t.equal(await IndexThread.start(storage, 'three', undefined), undefined)
  const [part] = await buildParts(storage, 'built', sayingsOf(9, 10))
  assert.ok(part)
  const options = { minLinked: 1, signal: undefined, onProgress: undefined, isSmall: false }
  const merged = await mergeParts(storage, 'merged', [{ part, dead: [] }], options)
  t.same(merged, { ...part, id: 'merged' })
})

t.test('2,000 vectors are worth a thread, alone and where parts are merged', async (t) => {
  const { start } = IndexThread
  t.teardown(() => (IndexThread.start = start))
  let started = 0
  // As where none can be started: it is done here.
  IndexThread.start = () => {
    started++
    return Promise.resolve(undefined)
  }
  for (const [count, threads] of [
    [1999, 0],
    [2000, 1],
  ] as const) {
    const storage = new Blocks()
    const embeddings = Array.from({ length: count }, (_, n) => ({
      e: uri(`s${n}`),
      v: [[n + 1, count - n]],
    }))
    const saying: Saying = { source: 0, collection: 'c', triples: [], embeddings }
    const parts = await buildParts(storage, 'id', [saying])
    const linking = { minLinked: 1000, signal: undefined, onProgress: undefined }
    started = 0
    await linkParts(storage, parts, linking)
    t.equal(started, threads, `${count} linked`)
    started = 0
    await mergeParts(
      storage,
      'merged',
      parts.map((part) => ({ part, dead: [] })),
      linking,
    )
    t.equal(started, threads, `${count} merged`)
  }
})
