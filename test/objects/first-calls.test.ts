// The first calls of a process keep what all others do: nothing is loaded for them that they would wait for. Each has
// to be the first of its kind here.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'

async function opened() {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  await keep.objects.defineSchema({
    name: 'things',
    fields: { id: { type: 'string' }, name: { type: 'string' } },
    indexes: [{ text: ['name'] }],
  })
  await keep.objects.import({
    metadata: { id: 'b', user: 'u', collection: 'c' },
    schema_name: 'things',
    values: [
      { id: 'a', name: 'Eine Lampe' },
      { id: 'b', name: 'Ein Stuhl' },
    ],
  })
  return keep
}

/** Closes the store, and tells whether what was asked of it had its answer by then. */
async function isAnsweredByClose(keep: Lorekeep, answer: Promise<unknown>): Promise<boolean> {
  let isAnswered = false
  const answered = answer.then(() => (isAnswered = true))
  await keep.close()
  const found = isAnswered
  await answered
  return found
}

t.test('the first find is of what was there at its first next()', async (t) => {
  await using keep = await opened()
  const found = keep.objects.find({ schema_name: 'things' })[Symbol.asyncIterator]()
  const first = found.next()
  const deletion = keep.objects.delete('c', 'a')
  const ids: unknown[] = []
  for (let next = await first; next.done !== true; next = await found.next()) {
    ids.push(next.value._id)
  }
  t.strictSame(ids, ['a', 'b'])
  t.ok(await deletion)
})

t.test('close() waits for the first explain()', async (t) => {
  const keep = await opened()
  const plan = keep.objects.explain({ schema_name: 'things' })
  await keep.close()
  t.equal((await plan).plan, 'scan')
})

t.test(
  'close() waits for the first pattern, and what it is asked of is what there was',
  async (t) => {
    await using keep = await opened()
    const closing = await opened()
    const patterned = (pattern: string) => {
      return { schema_name: 'things', filters: { id: { $regex: pattern } } } as const
    }
    // The engine is loaded for the first of them, and all are called before it is there.
    const last = closing.objects.query(patterned('a'))
    const closed = isAnsweredByClose(closing, last)
    const bad = t.rejects(keep.objects.query(patterned('(')), { code: 'LK_QUERY' })
    const found = keep.objects.find(patterned('^[ab]'))[Symbol.asyncIterator]()
    const [first, counted] = [found.next(), keep.objects.query(patterned('[b-z]'))]
    const deletion = keep.objects.delete('c', 'b')
    t.ok(await closed)
    t.equal((await last).total, 1)
    t.equal((await first).value?._id, 'a')
    t.equal((await found.next()).value?._id, 'b')
    await found.return?.()
    t.ok(await deletion)
    await bad
    t.ok([0, 1].includes((await counted).total))
  },
)

t.test('close() waits for the first question in a language', async (t) => {
  const keep = await opened()
  const filters = { $text: { $search: 'Lampen', $language: 'de' } }
  const answer = keep.objects.query({ schema_name: 'things', filters })
  t.ok(await isAnsweredByClose(keep, answer))
  t.equal((await answer).total, 1)
})
