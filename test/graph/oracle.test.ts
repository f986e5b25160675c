import assert from 'node:assert/strict'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import type { Graph } from '../../src/graph/types.js'
import { patience } from '../../src/graph/miss.js'
import type { KnowledgeStore } from '../../src/knowledge/types.js'
import type { Triple } from '../../src/types.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { backends, openStore } from '../fixtures/stores.js'
import { noRealCores, realCores } from '../fixtures/streams.js'
import {
  assertAnswers,
  entity,
  literal,
  matched,
  messageOf,
  PatternOracle,
  randomTriples,
  setOf,
  strangers,
} from './asked.js'

const seed = pickSeed()
const user = 'alice'

t.test(`real cores: every shape, as oxigraph answers it (seed ${seed})`, async (t) => {
  const cores = realCores()
  if (cores.length === 0) return t.plan(0, noRealCores)
  const random = new Random(seed)
  const { knowledge } = await openStore(t, new LevelBackend(t.testdir()))
  const all: Triple[] = []
  for (const [n, { id, bytes }] of cores.entries()) {
    await knowledge.import({ user, id }, bytes, { index: n % 2 === 0 })
    all.push(...(await triplesOf(knowledge, id)))
  }
  const samples = Array.from({ length: 5 }, () => random.pick(all))
  await assertAnswers(knowledge.graph({ user }), new PatternOracle(all), samples, `seed ${seed}`)
  t.equal(await knowledge.graph({ user }).count(), setOf(all).length)
})

for (const [engine, createBackend] of backends) {
  for (const cores of engine === 'memory' ? [1, 3, 30] : [1, 3]) {
    const name = `${engine}, ${cores} cores`
    t.test(`${name}: random graphs that change, as oxigraph answers (seed ${seed})`, async (t) => {
      const random = new Random(seed)
      const { knowledge } = await openStore(t, createBackend(t))
      const collections = ['one', 'two', 'käse', '']
      /** By core: its triples by collection. */
      const model = new Map<string, (readonly [string, Triple])[]>()
      const steps = cores === 30 ? 35 : 6 + 2 * cores
      for (let step = 0; step < steps; step++) {
        const id = `core ${cores === 30 && step < 30 ? step : random.below(cores)}`
        if (random.chance(0.1)) {
          await knowledge.delete({ user, id })
          model.delete(id)
        } else {
          const mode = random.chance(0.25) ? 'replace' : 'append'
          const messages = Array.from({ length: 1 + random.below(3) }, () => {
            const triples = randomTriples(random, random.below(random.chance(0.2) ? 80 : 15))
            return [random.chance(0.6) ? 'one' : random.pick(collections), triples] as const
          })
          const said = messages.flatMap(([collection, triples]) =>
            triples.map((triple) => [collection, triple] as const),
          )
          await knowledge.write(
            { user, id },
            messages.map(([collection, triples]) => messageOf(triples, collection)),
            { mode, index: random.chance(0.4) },
          )
          model.set(id, mode === 'replace' ? said : [...(model.get(id) ?? []), ...said])
        }
        if (random.chance(0.1)) {
          const [some] = model.keys()
          if (some !== undefined) await knowledge.index({ user, id: some })
        }
        if (cores === 30 && step < 30) continue
        const said = [...model.values()].flat()
        await assertGraph(knowledge.graph({ user }), said, `${step}: all`)
        const collection = random.pick(collections)
        const some = said.filter(([of]) => of === collection)
        await assertGraph(knowledge.graph({ user, collection }), some, `${step}: '${collection}'`)
        const ids = [...model.keys()].filter(() => random.chance(0.5))
        const named = ids.flatMap((of) => model.get(of) ?? [])
        await assertGraph(knowledge.graph({ user, cores: ids }), named, `${step}: ${ids.join()}`)
      }

      async function assertGraph(
        graph: Graph,
        said: readonly (readonly [string, Triple])[],
        place: string,
      ) {
        const triples = said.map(([, triple]) => triple)
        const oracle = new PatternOracle(triples)
        const samples = strangers(random, triples)
        if (triples.length > 0) samples.push(random.pick(triples))
        await assertAnswers(graph, oracle, samples, `seed ${seed}, ${place}`)
      }
    })
  }

  for (const graphCacheBytes of [64 * 1024 * 1024, 1]) {
    const name = `${engine}: terms longer than a block, and more than one holds`
    t.test(`${name}, in a memory of ${graphCacheBytes}`, async (t) => {
      const { knowledge } = await openStore(t, createBackend(t), { graphCacheBytes })
      const { triples, long } = largeGraph()
      await knowledge.write({ user, id: 'large' }, [messageOf(triples)])
      const shorter = triples.filter((_, n) => n % 3 === 0)
      await knowledge.write({ user, id: 'other' }, [messageOf(shorter), messageOf(shorter, 'c')])
      const oracle = new PatternOracle(triples)
      const samples = [...long.slice(0, 2), ...[0, 7998].map((n) => triples[n] as Triple)]
      for (const query of [{ user, cores: ['large'] }, { user }]) {
        const graph = knowledge.graph(query)
        const place = `cache of ${graphCacheBytes}, ${JSON.stringify(query)}`
        for (const { s, p, o } of samples) {
          for (const pattern of [{ o }, { s, p }, { p, o }, { s, p, o }]) {
            const expected = oracle.match(pattern)
            assert.deepEqual(await bounded(matched(graph, pattern)), expected, place)
            assert.equal(await bounded(graph.count(pattern)), expected.length, place)
          }
        }
        if (graphCacheBytes > 1) {
          assert.deepEqual(await matched(graph), setOf(triples), place)
          assert.equal(await graph.count(), setOf(triples).length, place)
        }
        // As many at once: each has to go on while the others take its blocks away.
        const all = samples.map(({ s }) => bounded(matched(graph, { s })))
        const found = await Promise.all(all)
        assert.deepEqual(
          found,
          samples.map(({ s }) => oracle.match({ s })),
          place,
        )
      }
      t.pass()
    })
  }
}

t.test('a memory of one byte answers as a large one does, over many cores', async (t) => {
  // And each row of no use is a pause.
  patience.rows = 1
  const random = new Random(seed)
  const [, createBackend] = backends[0] as (typeof backends)[number]
  const { knowledge } = await openStore(t, createBackend(t), { graphCacheBytes: 1 })
  const all: Triple[] = []
  for (let n = 0; n < 20; n++) {
    const triples = randomTriples(random, 40)
    all.push(...triples)
    const padding = { s: entity('padding'), p: entity(`${n}`), o: literal('x'.repeat(300_000)) }
    await knowledge.write({ user, id: `core ${n}` }, [messageOf([padding, ...triples])])
  }
  const ids = Array.from({ length: 20 }, (_, n) => `core ${n}`)
  for (const cores of [ids, ids.slice(0, 5)]) {
    const graph = knowledge.graph({ user, cores })
    const said = all.slice(0, cores.length * 40)
    const oracle = new PatternOracle(said)
    for (const { s, p, o } of [random.pick(said), ...strangers(random, said)]) {
      for (const pattern of [{ s }, { s, p }, { p, o }, { s, o }, { s, p, o }]) {
        const own = (texts: string[]) => texts.filter((text) => !text.startsWith('epadding'))
        const place = JSON.stringify(pattern)
        const found = await bounded(matched(graph, pattern))
        assert.deepEqual(own(found), oracle.match(pattern), place)
        assert.equal(await bounded(graph.count(pattern)), found.length, place)
      }
    }
  }
  t.pass()
})

/** A question that never ends is a failure, and not a hanging test. */
async function bounded<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('a question does not end')), 60_000)
  })
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}

/** Its terms take several blocks, and some of them more than one each. */
function largeGraph(): { triples: Triple[]; long: Triple[] } {
  const triples: Triple[] = []
  const long: Triple[] = []
  for (let n = 0; n < 8000; n++) {
    const s = entity(`http://example.org/entity/${n}`)
    triples.push({ s, p: entity(`p${n % 5}`), o: literal(`the object ${n % 6000}`) })
    if (n % 4000 !== 1) continue
    const text = `${n}`.repeat(75_000)
    long.push({ s: entity(text), p: s, o: literal(text) }, { s, p: entity('p'), o: literal(text) })
    triples.push(...long.slice(-2))
  }
  return { triples, long }
}

async function triplesOf(knowledge: KnowledgeStore, id: string): Promise<Triple[]> {
  const triples: Triple[] = []
  for await (const [type, data] of knowledge.messages({ user, id })) {
    if (type === 't') triples.push(...data.t)
  }
  return triples
}
