// How questions behave towards those who close, abort, leave and ask several things at once.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { patience } from '../../src/graph/miss.js'
import { createLorekeep, type EntityEmbedding, type Term } from '../../src/index.js'
import { countTurns } from '../fixtures/turns.js'

const m = { i: '', m: [], u: '', c: 'default' }
const user = 'u'
const ref = { user, id: 'c' }

t.test('closing does not wait for a reader that pauses', { timeout: 60_000 }, async (t) => {
  const keep = await opened(t, 2000)
  const graph = keep.knowledge.graph({ user })
  const paused = [
    graph.match(),
    graph.solve([{ s: '?s', p: '?p', o: '?o' }]),
    graph.neighbours(uri('s')),
  ].map((results: AsyncIterable<unknown>) => results[Symbol.asyncIterator]())
  for (const iterator of paused) t.not((await iterator.next()).done, true)
  await keep.close()
  for (const iterator of paused) await t.rejects(iterator.next(), { code: 'LK_CLOSED' })
})

t.test('calls of next() are served in their order, and none twice', async (t) => {
  const keep = await opened(t, 700)
  const iterator = keep.knowledge.graph({ user }).match()[Symbol.asyncIterator]()
  const order: number[] = []
  const calls = Array.from({ length: 710 }, async (_, n) => {
    const result = await iterator.next()
    order.push(n)
    return result
  })
  const found = await Promise.all(calls)
  t.strictSame(
    order,
    calls.map((_, n) => n),
  )
  const values = found.flatMap(({ done, value }) => (done === true ? [] : [JSON.stringify(value)]))
  t.equal(values.length, 700)
  t.equal(new Set(values).size, 700)
})

t.test('an aborted question does not wait for another that indexes', async (t) => {
  const keep = await opened(t, 20_000)
  const graph = keep.knowledge.graph({ user })
  const first = graph.count()
  const reason = new Error('enough')
  const controller = new AbortController()
  const second = graph.count({}, { signal: controller.signal })
  controller.abort(reason)
  await t.rejects(second, { message: 'enough' })
  t.equal(await first, 20_000)
  t.equal(await graph.count(), 20_000)
})

t.test('others have their turn while literals stand for all of their texts', async (t) => {
  const keep = await opened(t, 0)
  const of = (n: number) => ({ v: 'x', e: false, dt: `urn:d${n}` })
  const triples = Array.from({ length: 700 }, (_, n) => [
    { s: of(n), p: uri('p'), o: uri('o') },
    { s: uri('s'), p: uri('p'), o: of(n) },
  ]).flat()
  await keep.knowledge.write(ref, [['t', { m, t: triples }]])
  const graph = keep.knowledge.graph({ user })
  const plain = { v: 'x', e: false }
  const counted = countTurns()
  for await (const triple of graph.match({ s: plain, o: plain }, { byText: true })) t.fail(triple)
  const turns = counted()
  // 700 times 700 combinations.
  t.ok(turns >= 490_000 / patience.rows - 1, `${turns} turns`)
})

t.test('a variable of the asker is no other one', async (t) => {
  const keep = await opened(t, 3)
  const e: EntityEmbedding[] = [{ e: uri('s'), v: [[1, 0]] }]
  await keep.knowledge.write(ref, [['ge', { m, e }]])
  const graph = keep.knowledge.graph({ user })
  for (const name of ['?x', '?_0', '?_1'] as const) {
    const found = await graph.nearest([1, 0], { where: { o: name } })
    t.strictSame(
      found.map(({ entity }) => entity),
      [uri('s')],
      name,
    )
  }
})

async function opened(t: Test, triples: number) {
  const keep = await createLorekeep({ backend: new MemoryBackend(), closeTimeoutMs: 50 })
  t.teardown(() => keep.close())
  const about = Array.from({ length: triples }, (_, n) => ({
    s: uri('s'),
    p: uri('p'),
    o: uri(`o${n}`),
  }))
  await keep.knowledge.write(ref, [['t', { m, t: about }]])
  return keep
}

function uri(v: string): Term {
  return { v, e: true }
}
