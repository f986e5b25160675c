import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { createLorekeep, hasCode } from '../../../src/index.js'

const keep = await createLorekeep({ backend: new MemoryBackend() })
t.teardown(() => keep.close())
const { objects } = keep
await objects.defineSchema({ name: 'note', strict: true, fields: { id: { type: 'string' } } })

/** The paths of what is wrong, or the code. */
async function flaws(query: unknown): Promise<readonly string[] | string> {
  try {
    await objects.query(query as never)
    return 'nothing'
  } catch (error) {
    if (hasCode(error, 'LK_SCHEMA_NOT_FOUND')) return error.code
    if (!hasCode(error, 'LK_QUERY')) throw error
    return error.details.errors.map(({ path }) => path).sort()
  }
}

t.test('all that is wrong with a query is told at once', async (t) => {
  const rest = {
    limit: -1,
    offset: 'x',
    sort: { id: 'up' },
    fields: [''],
    after: 7,
    filters: { id: { $gt: {}, $near: 1 } },
    skip: 1,
  }
  const paths = ['after', 'fields[0]', 'filters.id.$near', 'limit', 'offset', 'skip', 'sort.id']
  t.strictSame(await flaws({ ...rest, schema_name: 'note' }), paths)
  t.strictSame(await flaws({ ...rest, schema_name: 7 }), [...paths, 'schema_name'].sort())
  t.strictSame(await flaws(rest), [...paths, 'schema_name'].sort())
  t.strictSame(await flaws({ ...rest, schema_name: 'none' }), paths)
})

t.test('which fields there are is a question to a schema that is there', async (t) => {
  t.strictSame(await flaws({ schema_name: 'note', sort: { other: 'asc' } }), ['sort.other'])
  t.equal(await flaws({ schema_name: 'none', sort: { other: 'asc' } }), 'LK_SCHEMA_NOT_FOUND')
  t.strictSame(await flaws({ sort: { other: 'asc' } }), ['schema_name'])
})
