// The first calls of a process keep what all others do: nothing is loaded for them that they would wait for. Each has
// to be the first of its kind here.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'

async function opened() {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  await keep.objects.defineSchema({ name: 'things', fields: { id: { type: 'string' } } })
  await keep.objects.import({
    metadata: { id: 'b', user: 'u', collection: 'c' },
    schema_name: 'things',
    values: [{ id: 'a' }, { id: 'b' }],
  })
  return keep
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
    const keep = await opened()
    const patterned = (pattern: string) => {
      return { schema_name: 'things', filters: { id: { $regex: pattern } } } as const
    }
    const bad = t.rejects(keep.objects.query(patterned('(')), { code: 'LK_QUERY' })
    const found = keep.objects.find(patterned('^[ab]'))[Symbol.asyncIterator]()
    const [first, counted] = [found.next(), keep.objects.query(patterned('[b-z]'))]
    const deletion = keep.objects.delete('c', 'b')
    t.equal((await first).value?._id, 'a')
    t.equal((await found.next()).value?._id, 'b')
    await found.return?.()
    t.ok(await deletion)
    await bad
    t.ok([0, 1].includes((await counted).total))
    const last = keep.objects.query(patterned('a'))
    await keep.close()
    t.equal((await last).total, 1)
  },
)
