// The facts of MongoDB through a whole store: pages and finds.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { JsonObject, ObjectStore } from '../../src/objects/types.js'
import { refusedSorts, sortFacts } from './filter/mongodb.js'

async function openWith(t: Test, objects: readonly JsonObject[]): Promise<ObjectStore> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  await keep.objects.defineSchema({ name: 'things', fields: { id: { type: 'integer' } } })
  await keep.objects.import({
    metadata: { id: 'batch', user: 'alice', collection: 'c' },
    schema_name: 'things',
    values: objects,
  })
  return keep.objects
}

for (const { source, objects, answers } of sortFacts) {
  t.test(`pages and finds come in MongoDB's order: ${source}`, async (t) => {
    const store = await openWith(t, objects)
    for (const [sort, ids] of answers) {
      const query = { schema_name: 'things', sort }
      const paged: unknown[] = []
      for (let after: string | undefined, isFirst = true; isFirst || after !== undefined;) {
        isFirst = false
        const page = await store.query({
          ...query,
          limit: 2,
          ...(after !== undefined && { after }),
        })
        paged.push(...page.objects.map(({ _id }) => _id))
        after = page.next
      }
      t.equal(paged.join(' '), ids, `pages: ${JSON.stringify(sort)}`)
      const found: unknown[] = []
      for await (const { _id } of store.find(query)) found.push(_id)
      t.equal(found.join(' '), ids, `find: ${JSON.stringify(sort)}`)
    }
  })
}

t.test('a sort over two arrays of one object is refused, and told which', async (t) => {
  for (const [object, sort] of refusedSorts) {
    const store = await openWith(t, [{ id: 7, ...object }])
    const query = { schema_name: 'things', sort }
    const error = await store.query(query).catch((error: unknown) => error)
    t.match(error, { code: 'LK_QUERY', details: { errors: [{ path: 'sort' }] } })
    t.match(String(error), /'7'|"7"/)
    await t.rejects(store.find(query)[Symbol.asyncIterator]().next(), { code: 'LK_QUERY' })
    t.equal((await store.query({ ...query, limit: 0 })).total, 1, 'who only counts may')
    const apart = await store.query({ ...query, filters: { id: 8 } })
    t.equal(apart.total, 0, 'nor is what the filter leaves out sorted')
  }
})
