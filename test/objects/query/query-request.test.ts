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

t.test('filters that are null are no filters that are left out', async (t) => {
  t.strictSame(await flaws({ schema_name: 'note', filters: null }), ['filters'])
  t.equal(await flaws({ schema_name: 'note', filters: undefined }), 'nothing')
})

t.test('what was found is named, and what to write in place of it', async (t) => {
  const told = async (query: object) => {
    const error: unknown = await objects.query({ schema_name: 'note', ...query }).catch((e) => e)
    if (!hasCode(error, 'LK_QUERY')) throw error
    return error.details.errors.map(({ path, message }) => `${path} ${message}`)
  }
  const regex = `{ $regex: "^ab", $options: 'i' }`
  for (const id of [/^ab/i, /^ab/gi, { $not: /^ab/i }, { $regex: /^ab/i }, { $all: [/^ab/i] }]) {
    t.match(await told({ filters: { id } }), [regex])
  }
  for (const id of [new Date(0), { $gt: new Date(0) }, { $in: [new Date(0)] }]) {
    t.match(await told({ filters: { id } }), ['toISOString()'])
  }
  t.match(await told({ filters: { id: { $not: {} } } }), ['not an empty object'])
  t.match(await told({ sort: { id: 1 } }), ["sort.id must be 'asc', not 1"])
  t.match(await told({ sort: { id: -1 } }), ["sort.id must be 'desc', not -1"])
  t.match(await told({ sort: 'id' }), ['not the string "id"'])
  t.match(await told({ fields: 'id' }), ['not the string "id"'])
  t.match(await told({ fields: ['id', 7] }), ['fields[1] must be the name of a field'])
  t.match(await told({ filters: { _version: 'x' } }), ['filters._version is no field to filter'])
  t.match(await told({ sort: { _version: 'asc' } }), [
    'sort._version is no field to filter or sort',
  ])
  t.match(await told({ filters: { _other: 'x' } }), ['filters._other is no system field'])
  t.match(await told({ fields: Array(1001).fill('id') }), ['not one of 1001'])
})

t.test('which fields there are is a question to a schema that is there', async (t) => {
  t.strictSame(await flaws({ schema_name: 'note', sort: { other: 'asc' } }), ['sort.other'])
  t.equal(await flaws({ schema_name: 'none', sort: { other: 'asc' } }), 'LK_SCHEMA_NOT_FOUND')
  t.strictSame(await flaws({ sort: { other: 'asc' } }), ['schema_name'])
})
