// Everything that the verifier of objects can find, each from the smallest damage that shows it.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeKey } from '../../src/keys.js'
import { Block, encodeBlocks, placeOfBlock, type Row } from '../../src/objects/engine/block.js'
import { placesOf, recordOfBlocks } from '../../src/objects/engine/block-groups.js'
import { EntryPage } from '../../src/objects/engine/entries.js'
import { IdHash } from '../../src/objects/engine/hash.js'
import { firstRow } from '../../src/objects/engine/lanes.js'
import {
  blocksKey,
  collectionKey,
  formatKey,
  headKey,
  pageKey,
  retiredKey,
  runKey,
  schemaKey,
  type BlocksRecord,
  type CollectionRecord,
  type HeadRecord,
  type ListRecord,
  type RunRecord,
  type SchemaRecord,
} from '../../src/objects/engine/records.js'
import { refOf } from '../../src/objects/engine/ref.js'
import { RowShapes } from '../../src/objects/engine/row-shapes.js'
import type { BlockPlace } from '../../src/objects/engine/state.js'
import type { Scalar } from '../../src/objects/values/values.js'
import { compileSchema } from '../../src/objects/schema/schema.js'
import { openObjectStore } from '../../src/objects/store.js'
import { verifyObjects } from '../../src/objects/verify/verify.js'
import type { Report } from '../../src/verify/report.js'
import { expectFound, linesOf, recordIn, type Change, type Damage } from './changes.js'

async function opened() {
  const objects = await new MemoryBackend().open('objects')
  const store = await openObjectStore({
    objects,
    isAlone: true,
    isShared: false,
    reads: 'fresh',
    cacheBytes: 1024 * 1024,
    collections: 'open',
    onError: () => {},
  })
  const put = (schema_name: string, collection: string, values: object[]) =>
    store.import({
      schema_name,
      metadata: { id: 'b', user: 'u', collection },
      values: values as never,
    })
  return { objects, store, put, verify: (report: Report) => verifyObjects(objects, report) }
}

const objectsInOrder = [
  { row: refOf(1, 0), collection: 'c', id: 'a' },
  { row: refOf(2, 0), collection: 'c', id: 'b' },
  { row: refOf(4, 0), collection: 'c', id: 'e' },
  { row: refOf(5, 1), collection: 'k', id: '1' },
  { row: refOf(6, 1), collection: 'k', id: '2' },
]

/**
 * Things (table 0, indexes 1 and 2): `a` (row 1) and `b` (2) in the first block, `e` (4) in the
 * second; `d` (3) was deleted. Notes (table 1): 1 (5) and 2 (6) in a block.
 */
async function filled() {
  const { objects, store, put, verify } = await opened()
  await store.defineSchema({
    name: 'thing',
    fields: {
      id: { type: 'string', required: true },
      n: { type: 'number' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    indexes: ['n', 'tags'],
  })
  await store.defineSchema({ name: 'note', fields: { id: { type: 'integer', required: true } } })
  const thing = (id: string, n: number, tags?: string[]) => ({ id, n, ...(tags && { tags }) })
  await put('thing', 'c', [thing('a', 1, ['x', 'y']), thing('b', 2), thing('d', 3, [])])
  await put('thing', 'c', [thing('e', 2)])
  await store.delete('c', 'd')
  await put('note', 'k', [{ id: 1 }, { id: 2 }])

  const head = await recordIn<HeadRecord>(objects, headKey())
  const thingRecord = await recordIn<SchemaRecord>(objects, schemaKey('thing'))
  const schema = compileSchema(thingRecord.definition)
  const noteRecord = await recordIn<SchemaRecord>(objects, schemaKey('note'))
  const block = async (table: number, group: number, row: number) => {
    const key = blocksKey(table, refOf(group, table))
    const record = await recordIn<BlocksRecord>(objects, key)
    const first = refOf(row, table)
    const places = placesOf(refOf(group, table), record)!
    const place = places.find((place) => place.first === first)!
    const bytes = (await objects.get(pageKey(place.page)))!
    const read = new Block(bytes, new RowShapes())
    const rows = Array.from({ length: read.rows }, (_, n) => read.row(n))
    /** The record, with other fields of the block. */
    const recordWith = (fields: Partial<BlockPlace>) =>
      recordOfBlocks(places.map((one) => (one === place ? { ...one, ...fields } : one)))
    const recordWithout = () => recordOfBlocks(places.filter((one) => one !== place))
    const page = pageKey(place.page)
    return { key, record, place, rows, page, recordWith, recordWithout }
  }
  const run = async (index: number, number: number) => {
    const key = runKey(index, number)
    return {
      key,
      record: await recordIn<RunRecord>(objects, key),
      text: `("run", ${index}, ${number})`,
    }
  }
  const hash = new IdHash(head.hashKey)
  const zeros = new IdHash('0'.repeat(16))
  const labels = new Map(
    objectsInOrder.flatMap(({ collection, id }) => [
      [String(hash.of(collection, id)), `#${id}`],
      [String(zeros.of(collection, id)), `0#${id}`],
    ]),
  )
  labels.set(String(hash.of('c', 'f')), '#f').set(String(hash.of('other', 'e')), 'other#e')
  const blocks = {
    things: await block(0, 1, 1),
    e: await block(0, 1, 4),
    notes: await block(1, 5, 5),
  }
  /** Other rows of a block, and their bytes. */
  const rowsOf = (
    { key, place, page, recordWith }: (typeof blocks)['e'],
    rows: readonly Row[],
    by = schema,
  ): Change[] => {
    const block = [...encodeBlocks(by, rows)][0]!
    const { rows: count, bytes } = placeOfBlock(block, place.page)
    // Without the owners of its rows, who may be none.
    const written = recordWith({ rows: count, bytes, owners: undefined as never })
    return [
      [objects, page, block.bytes],
      [objects, key, written],
    ]
  }
  const runs = {
    n: await run(1, 1),
    ofE: await run(1, 2),
    ofD: await run(1, 3),
    tags: await run(2, 1),
  }
  return {
    objects,
    verify,
    labels,
    head,
    hash,
    schema,
    noteSchema: compileSchema(noteRecord.definition),
    thing: thingRecord,
    note: noteRecord,
    c: await recordIn<CollectionRecord>(objects, collectionKey('c')),
    ids: await run(0, 4),
    blocks,
    runs,
    rowsOf,
  }
}

t.test('where words are is compared with the rows', async (t) => {
  const { objects, store, put, verify } = await opened()
  await store.defineSchema({
    name: 'text',
    fields: { id: { type: 'string' }, text: { type: 'text' } },
    indexes: [{ text: ['text'] }],
  })
  await put('text', 'c', [
    { id: 'a', text: 'one two' },
    { id: 'b', text: 'two one' },
  ])
  t.strictSame(await linesOf(verify, true), [])
  const { adds } = await recordIn<RunRecord>(objects, runKey(1, 1))
  // The page before has how long the rows are.
  const key = pageKey(adds.pages[1]!)
  const bytes = (await objects.get(key))!
  const page = EntryPage.decode(bytes).entries()
  const { keys, refs } = page
  const places = page.places!.map((place) => (place === '?' ? '@' : place))
  const lengths = Array.from(page.lengths!, (length) => length + 1)
  for (const damage of [{ places }, { lengths }]) {
    const value = EntryPage.encode({ ...page, ...damage })
    await objects.write([{ type: 'put', key, value }], { durable: true })
    const lines = await linesOf(verify, true)
    t.equal(lines.length > 0, true)
    t.match(lines.join('\n'), /one/)
  }
  // Whatever single byte is another, it is told, or nothing is the matter.
  const untold: number[] = []
  for (let n = 0; n < bytes.length; n++) {
    const value = Uint8Array.from(bytes)
    value[n] = (value[n] as number) ^ 0x41
    await objects.write([{ type: 'put', key, value }], { durable: true })
    if ((await linesOf(verify, true)).length === 0) untold.push(n)
  }
  t.strictSame(untold, [])
  await objects.write([{ type: 'put', key, value: EntryPage.encode({ keys, refs }) }], {
    durable: true,
  })
  t.not((await linesOf(verify, true)).length, 0, 'words without their rows')
})

type Filled = Awaited<ReturnType<typeof filled>>

function test(name: string, damagesOf: (store: Filled) => readonly Damage[] | Promise<Damage[]>) {
  t.test(name, async (t) => {
    const store = await filled()
    await expectFound(t, store.verify, store.labels, await damagesOf(store))
  })
}

t.test('a schema may have the name of what plain objects inherit', async (t) => {
  const { store, put, verify } = await opened()
  for (const name of ['constructor', 'toString']) {
    await store.defineSchema({ name, fields: { id: { type: 'integer' } } })
    await put(name, `of ${name}`, [{ id: 1 }, { id: 2 }])
  }
  for (const deep of [false, true]) t.strictSame(await linesOf(verify, deep), [])
  await store.deleteCollection('of toString')
  t.match(await store.collections(), [{ objects: 2, schemas: { constructor: 2 } }])
  t.strictSame(await linesOf(verify, true), [])
})

t.test('nothing is wrong with an empty place, and with objects of all kinds', async (t) => {
  const { objects, store, put, verify } = await opened()
  const empty = await new MemoryBackend().open('objects')
  const nothingIn = async (what: string) => {
    for (const deep of [false, true]) t.strictSame(await linesOf(verify, deep), [], what)
  }
  t.strictSame(await linesOf((report) => verifyObjects(empty, report), true), [])
  await nothingIn('opened')
  await store.defineSchema({
    name: 'all',
    fields: {
      key: { type: 'string' },
      text: { type: 'text' },
      number: { type: 'number' },
      integer: { type: 'integer', min: -5 },
      flag: { type: 'boolean', default: true },
      one: { type: 'enum', values: ['a', 5, null, true] },
      list: { type: 'array', items: { type: 'array', items: { type: 'number' } } },
      many: { type: 'array', items: { type: 'object', properties: { x: { type: 'string' } } } },
      inner: { type: 'object', properties: { deep: { type: 'number' } } },
      date: { type: 'date' },
      time: { type: 'timestamp' },
      uri: { type: 'uri' },
      email: { type: 'email' },
      uuid: { type: 'uuid' },
    },
    id_field: 'key',
    generate_ids: true,
    indexes: [
      'text',
      'integer',
      'flag',
      'one',
      'list',
      'many.x',
      'inner.deep',
      'date',
      '_id',
      '_user',
      '_metadata.source',
      '_updated_at',
    ],
  })
  const all = (n: number) => ({
    text: '☃ \u0000 ü "'.repeat(n % 50),
    number: -n / 7,
    integer: n % 5,
    flag: n % 2 === 0,
    one: ['a', 5, null, true][n % 4],
    list: [[n], [], [n % 3, -0]],
    many: n % 3 === 0 ? [] : [{ x: 'ä' }, {}, { x: 'b'.repeat(n % 100) }],
    ...(n % 3 > 0 && { inner: { deep: n / 3, more: [n] } }),
    date: '2024-02-29',
    time: '2024-02-29T12:00:00Z',
    uri: 'http://example.org/a',
    email: 'a@example.org',
    uuid: '123e4567-e89b-12d3-a456-426614174000',
    'not declared': { ключ: [null, true] },
  })
  await put(
    'all',
    'café',
    Array.from({ length: 300 }, (_, n) => all(n)),
  )
  await put(
    'all',
    'café',
    Array.from({ length: 200 }, (_, n) => ({ ...all(n), key: `k${n}` })),
  )
  await put(
    'all',
    'other',
    Array.from({ length: 200 }, (_, n) => ({ ...all(n + 1), key: `k${n}` })),
  )
  await nothingIn('imported')
  for (let n = 0; n < 60; n++) await store.delete('café', `k${n}`)
  await put(
    'all',
    'café',
    Array.from({ length: 60 }, (_, n) => ({ ...all(3 * n), key: `k${n}` })),
  )
  await nothingIn('replaced and deleted')
  const { definition } = await recordIn<SchemaRecord>(objects, schemaKey('all'))
  await store.defineSchema({ ...definition, indexes: ['number', 'inner.deep', 'time'] })
  await nothingIn('other indexes')
  await store.deleteCollection('other')
  await store.defineSchema({ name: 'none', fields: { id: { type: 'string' } }, indexes: ['id'] })
  await nothingIn('a collection deleted, a schema without objects')
  await store.dropSchema('none')
  await nothingIn('a schema dropped')
})

test('keys of no kind, the format and the head', ({ objects, head }) => {
  const isNone = (of: string, value: object | undefined, found: string) => ({
    of,
    changes: [[objects, formatKey(), value] as const],
    found: [found],
  })
  const wrong = [
    ...(['version', 'nextRow', 'nextPage', 'nextIndex'] as const).flatMap((name) =>
      [0, 0.5, '5', null].map((value) => ({ [name]: value })),
    ),
    { hashKey: 'x' },
    { hashKey: `${head.hashKey}0` },
    { hashKey: `x${head.hashKey}` },
    { hashKey: 5 },
    { token: 5 },
  ]
  return [
    ...[
      ['strange'],
      ['format', 5],
      ['head', 'x'],
      ['schema', 5],
      ['collection', 'x', 'y'],
      ['blocks', 5],
      ['run', 'x', 5],
      ['page', 'x'],
      ['retired', 5, 5],
    ].map((elements) => {
      const text = `(${elements.map((one) => JSON.stringify(one)).join(', ')})`
      return {
        of: text,
        changes: [[objects, encodeKey(...elements), { pages: [1] }] as const],
        found: [`unknown ${text}: a key of no kind`],
      }
    }),
    isNone('no format', undefined, 'missing ("format"): says what format the data is of'),
    isNone('another format', { format: 1 }, 'different ("format"): format 1; this version reads 6'),
    isNone(
      'a format that is none',
      Buffer.from('5'),
      'damaged ("format"): the record is no object',
    ),
    {
      of: 'no head',
      changes: [[objects, headKey(), undefined]],
      found: ['missing ("head"): says which numbers were given, and the key of ids'],
    },
    ...wrong.map((fields) => ({
      of: JSON.stringify(fields),
      changes: [[objects, headKey(), { ...head, ...fields }] as const],
      found: ['damaged ("head"): it is not a head'],
    })),
    {
      of: 'the head of a lane that is none',
      changes: [[objects, headKey(5), head]],
      found: ['damaged ("head", 5): it is not the head of the lane'],
    },
    {
      of: 'another key of ids',
      changes: [[objects, headKey(), { ...head, hashKey: '0'.repeat(16) }]],
      found: [],
      deep: objectsInOrder.flatMap(({ row, id }) => [
        `different index 0: the index of ids lacks 0#${id} of row ${row}`,
        `different index 0: the index of ids has #${id} of row ${row}, which has it not`,
      ]),
    },
  ]
})

test('schemas', ({ objects, thing, note }) => {
  const key = schemaKey('x')
  const definition = { ...note.definition, name: 'x', fields: thing.definition.fields }
  const indexed = { ...definition, indexes: ['n'] }
  const one = (of: string, record: object, ...found: string[]) => ({
    of,
    changes: [[objects, key, record] as const],
    found,
  })
  const none = 'damaged ("schema", "x"): it has no table, or no indexes'
  return [
    one('a healthy one', { definition, table: 2, indexes: [] }),
    one(
      'another name',
      { definition: { ...definition, name: 'y' }, table: 2, indexes: [] },
      `different ("schema", "x"): is of 'y'`,
    ),
    ...[-1, 4096, 0.5, '2', undefined].map((table) =>
      one(`table ${table}`, { definition, table, indexes: [] }, none),
    ),
    one('table 4095', { definition, table: 4095, indexes: [] }),
    one('no indexes', { definition, table: 2 }, none),
    ...[null, '2', -1, 0.5].map((number) =>
      one(`index ${number}`, { definition: indexed, table: 2, indexes: [number] }, none),
    ),
    one(
      'an index too few',
      { definition: indexed, table: 2, indexes: [] },
      'different ("schema", "x"): defines 1 indexes and has 0',
    ),
    one(
      'an index too many',
      { definition, table: 2, indexes: [2] },
      'different ("schema", "x"): defines 0 indexes and has 1',
    ),
    {
      of: 'the index of another',
      changes: [[objects, key, { definition: indexed, table: 2, indexes: [1] }]],
      found: [
        'different index 1: the index n of thing counts 0 entries; there are 3 rows',
        'different index 1: the index n of x counts 3 entries; there are 0 rows',
        'duplicate ("schema", "x"): has index 1 of another',
      ],
      deep: [
        'different index 1: the index n of x has 1 of row 4096, which has it not',
        'different index 1: the index n of x has 2 of row 16384, which has it not',
        'different index 1: the index n of x has 2 of row 8192, which has it not',
      ],
    },
    one(
      'an index that was not given',
      { definition: indexed, table: 2, indexes: [3] },
      'different ("schema", "x"): has index 3, which the head has not given yet',
    ),
    {
      of: 'the table of another',
      changes: [[objects, key, { definition, table: 1, indexes: [] }]],
      found: [
        `different ("collection", "k"): counts 2 objects of 'note', which is no schema`,
        'different ("schema", "x"): collections count 0 objects of it; there are 2',
        'duplicate ("schema", "x"): has the table 1 of another',
      ],
      deep: [
        'different block 20481 of table 1: has objects of note, not of x',
        `different ("collection", "k"): counts 2 objects of 'note'; there are 0`,
        `different ("collection", "k"): has 2 objects of 'x', which it does not count`,
        `invalid block 20481 of table 1: row 20481, '1' of 'k': id must be a string, not 1`,
        `invalid block 20481 of table 1: row 24577, '2' of 'k': id must be a string, not 2`,
      ],
    },
    one(
      'no definition',
      { definition: {}, table: 2, indexes: [] },
      `damaged ("schema", "x"): not a valid schema: name is missing; fields is missing: give an object of field names and definitions`,
    ),
    one('no record', Buffer.from('5'), 'damaged ("schema", "x"): the record is no object'),
    {
      of: 'a schema of objects is gone',
      changes: [[objects, schemaKey('note'), undefined]],
      found: [
        `different ("collection", "k"): counts 2 objects of 'note', which is no schema`,
        'different index 0: the index of ids counts 5 entries; there are 3 rows',
        'unreferenced block 20481 of table 1: no schema has the table 1',
      ],
      deep: [
        `different ("collection", "k"): counts 2 objects of 'note'; there are 0`,
        'different index 0: the index of ids has #1 of row 20481, which has it not',
        'different index 0: the index of ids has #2 of row 24577, which has it not',
      ],
    },
    {
      of: 'a schema of indexes is gone',
      changes: [[objects, schemaKey('thing'), undefined]],
      found: [
        `different ("collection", "c"): counts 3 objects of 'thing', which is no schema`,
        'different index 0: the index of ids counts 5 entries; there are 2 rows',
        'leftover ("run", 1, 1): of an index that no schema has: opening deletes it',
        'leftover ("run", 1, 2): of an index that no schema has: opening deletes it',
        'leftover ("run", 1, 3): of an index that no schema has: opening deletes it',
        'leftover ("run", 2, 1): of an index that no schema has: opening deletes it',
        'leftover ("run", 2, 2): of an index that no schema has: opening deletes it',
        'leftover ("run", 2, 3): of an index that no schema has: opening deletes it',
        'unreferenced block 16384 of table 0: no schema has the table 0',
        'unreferenced block 4096 of table 0: no schema has the table 0',
      ],
      deep: [
        `different ("collection", "c"): counts 3 objects of 'thing'; there are 0`,
        'different index 0: the index of ids has #a of row 4096, which has it not',
        'different index 0: the index of ids has #b of row 8192, which has it not',
        'different index 0: the index of ids has #e of row 16384, which has it not',
      ],
    },
  ]
})

test('collections', ({ objects, c }) => {
  const key = collectionKey('c')
  const one = (of: string, fields: object, found: string[], deep: string[] = []) => ({
    of,
    changes: [[objects, key, { ...c, ...fields }] as const],
    found,
    deep,
  })
  return [
    ...[
      { schemas: null },
      { schemas: 5 },
      { created_at: 5 },
      { deleting: 'x' },
      { deleting: 0.5 },
    ].map((fields) =>
      one(JSON.stringify(fields), fields, [
        'damaged ("collection", "c"): it is not the record of a collection',
      ]),
    ),
    one('being deleted', { deleting: 5 }, [
      'leftover ("collection", "c"): is being deleted: opening goes on with it',
    ]),
    one(
      'another count',
      { schemas: { thing: 4 } },
      ['different ("schema", "thing"): collections count 4 objects of it; there are 3'],
      [`different ("collection", "c"): counts 4 objects of 'thing'; there are 3`],
    ),
    one(
      'no count',
      { schemas: {} },
      ['different ("schema", "thing"): collections count 0 objects of it; there are 3'],
      [`different ("collection", "c"): has 3 objects of 'thing', which it does not count`],
    ),
    one(
      'counts of no schema',
      { schemas: { ...c.schemas, x: 1, y: 0 } },
      [`different ("collection", "c"): counts 1 objects of 'x', which is no schema`],
      [`different ("collection", "c"): counts 1 objects of 'x'; there are 0`],
    ),
    {
      of: 'objects counted in another',
      changes: [
        [objects, key, { ...c, schemas: { thing: 2 } }],
        [objects, collectionKey('other'), { ...c, schemas: { thing: 1 } }],
      ],
      found: [],
      deep: [
        `different ("collection", "c"): counts 2 objects of 'thing'; there are 3`,
        `different ("collection", "other"): counts 1 objects of 'thing'; there are 0`,
      ],
    },
    {
      of: 'a collection without objects',
      changes: [[objects, collectionKey('other'), { ...c, schemas: { thing: 0 } }]],
      found: [],
    },
    {
      of: 'gone',
      changes: [[objects, key, undefined]],
      found: ['different ("schema", "thing"): collections count 0 objects of it; there are 3'],
      deep: [`different ("collection", "c"): has 3 objects of 'thing', which it does not count`],
    },
  ]
})

test('records of blocks', ({ objects, blocks: { things, e, notes } }) => {
  const { record } = e
  const one = (of: string, fields: Partial<BlockPlace>, found: string[], deep: string[] = []) => ({
    of,
    changes: [[objects, e.key, e.recordWith(fields)] as const],
    found,
    deep,
  })
  const [page, other] = record.pages as [number, number]
  const elsewhere = refOf(firstRow(1), 0)
  return [
    ...[
      { pages: [page, -page - 1] },
      { pages: [null, other] },
      { pages: [page, null] },
      { pages: [page] },
      { pages: [page, other, 1] },
      { pages: 5 },
      { rows: ['1', 2] },
      { rows: [0.5, 1] },
      { rows: [2, -1] },
      { bytes: [-1, 5] },
      { bytes: null },
      { firsts: [0, 0] },
      { firsts: [0, '3'] },
      { firsts: [null, 3] },
      { firsts: [1, 3] },
      { firsts: [] },
      { firsts: 'x' },
    ].map((fields) => ({
      of: JSON.stringify(fields),
      changes: [[objects, e.key, { ...record, ...fields }] as const],
      found: [
        'damaged ("blocks", 0, 4096): it is not a record of blocks',
        'unreferenced ("page", 5): no record names it',
        'unreferenced ("page", 9): no record names it',
      ],
    })),
    {
      of: 'no record',
      changes: [[objects, e.key, Buffer.from('x')]],
      found: [
        'damaged ("blocks", 0, 4096): stored data is damaged: a record is not JSON',
        'unreferenced ("page", 5): no record names it',
        'unreferenced ("page", 9): no record names it',
      ],
    },
    one(
      'other bytes',
      { bytes: e.place.bytes + 1 },
      [],
      ['different block 16384 of table 0: says 664 bytes; its page has 663'],
    ),
    ...[
      ...[null, 5, 'c', [['c']], [['c', 1]], [null], [['c', 'u', 'z']], []].map((owners) => ({
        owners,
      })),
      ...[null, 5, [0], [0, 1], [0, [0, 1]], [0, 'x'], [0, -1], [0, 0, 0]].map((owned) => ({
        owned,
      })),
    ].map((fields) => ({
      of: JSON.stringify(fields),
      changes: [[objects, e.key, { ...record, ...fields }] as const],
      found: ['different ("blocks", 0, 4096): has owners that are none'],
    })),
    ...[[], [['c', 'v']], [['d', 'u']]].map((owners) =>
      one(
        JSON.stringify({ owners }),
        { owners: owners as never },
        [],
        ['different block 16384 of table 0: does not name all owners of its rows'],
      ),
    ),
    one(
      'other rows',
      { rows: 2 },
      [
        'different ("schema", "thing"): collections count 3 objects of it; there are 4',
        'different index 0: the index of ids counts 5 entries; there are 6 rows',
        'different index 1: the index n of thing counts 3 entries; there are 4 rows',
      ],
      ['different block 16384 of table 0: says 2 rows; its page has 1'],
    ),
    one(
      'the page of another',
      { page: things.place.page },
      [
        'duplicate ("page", 9): block 16384 of table 0 names it, and so does another record',
        'duplicate ("page", 9): block 4096 of table 0 names it, and so does another record',
        'unreferenced ("page", 5): no record names it',
      ],
      [
        'different block 16384 of table 0: has the row 4096 behind 16383, in front of Infinity',
        'different block 16384 of table 0: says 1 rows; its page has 2',
        'different block 16384 of table 0: says 663 bytes; its page has 750',
        `different ("collection", "c"): counts 3 objects of 'thing'; there are 4`,
        'different index 0: the index of ids has #e of row 16384, which has it not',
        'different index 0: the index of ids lacks #a of row 4096',
        'different index 0: the index of ids lacks #b of row 8192',
        'different index 1: the index n of thing has 2 of row 16384, which has it not',
        'different index 1: the index n of thing lacks 1 of row 4096',
        'different index 1: the index n of thing lacks 2 of row 8192',
        'different index 2: the index tags of thing counts 1 irregular rows; there are 2',
        'different index 2: the index tags of thing has null of row 16384, which has it not',
        'different index 2: the index tags of thing lacks "x" of row 4096',
        'different index 2: the index tags of thing lacks "y" of row 4096',
        'different index 2: the index tags of thing lacks null of row 8192',
      ],
    ),
    one('a page that is not there', { page: 11 }, [
      'missing ("page", 11): block 16384 of table 0 names it',
      'unreferenced ("page", 5): no record names it',
    ]),
    {
      of: 'no page',
      changes: [[objects, e.page, undefined]],
      found: ['missing ("page", 5): block 16384 of table 0 names it'],
    },
    {
      of: 'gone',
      changes: [[objects, e.key, e.recordWithout()]],
      found: [
        'different ("schema", "thing"): collections count 3 objects of it; there are 2',
        'different index 0: the index of ids counts 5 entries; there are 4 rows',
        'different index 1: the index n of thing counts 3 entries; there are 2 rows',
        'unreferenced ("page", 5): no record names it',
      ],
      deep: [
        `different ("collection", "c"): counts 3 objects of 'thing'; there are 2`,
        'different index 0: the index of ids has #e of row 16384, which has it not',
        'different index 1: the index n of thing has 2 of row 16384, which has it not',
        'different index 2: the index tags of thing has null of row 16384, which has it not',
      ],
    },
    one(
      'of two lanes',
      { first: elsewhere },
      ['different ("blocks", 0, 4096): has blocks of another lane'],
      [
        `different block ${elsewhere} of table 0: has the row 16384 behind ${elsewhere - 1}, in front of Infinity`,
      ],
    ),
    {
      of: 'in a table of no schema',
      changes: [
        [objects, notes.key, undefined],
        [objects, blocksKey(2, refOf(5, 2)), notes.record],
      ],
      found: [
        'different ("schema", "note"): collections count 2 objects of it; there are 0',
        'different index 0: the index of ids counts 5 entries; there are 3 rows',
        'unreferenced block 20482 of table 2: no schema has the table 2',
      ],
      deep: [
        'different block 20482 of table 2: has the row 20481 behind 20481, in front of Infinity',
        'different block 20482 of table 2: has the row 24577 behind 20481, in front of Infinity',
        `different ("collection", "k"): counts 2 objects of 'note'; there are 0`,
        'different index 0: the index of ids has #1 of row 20481, which has it not',
        'different index 0: the index of ids has #2 of row 24577, which has it not',
      ],
    },
    {
      of: 'under a reference of another table',
      changes: [
        [objects, notes.key, undefined],
        [objects, blocksKey(1, refOf(5, 0)), notes.record],
      ],
      found: ['different ("blocks", 1, 20480): is of another table'],
    },
  ]
})

test('rows', ({ objects, blocks, rowsOf, schema, noteSchema, head }) => {
  const { things, e, notes } = blocks
  const [a, b] = things.rows as [Row, Row]
  const [ofE] = e.rows as [Row]
  const one = (of: string, block: typeof e, rows: readonly Row[], ...deep: string[]) => ({
    of,
    changes: rowsOf(block, rows, block === notes ? noteSchema : schema),
    found: [],
    deep,
  })
  return [
    one('the same', things, [a, b]),
    one(
      'in another order',
      things,
      [b, a],
      'different block 4096 of table 0: has the row 4096 behind 8192, in front of 16384',
    ),
    one(
      'one twice',
      things,
      [a, a],
      'different block 4096 of table 0: has the row 4096 behind 4096, in front of 16384',
      'different index 0: the index of ids has #b of row 8192, which has it not',
      'different index 0: the index of ids lacks #a of row 4096',
      'different index 1: the index n of thing has 2 of row 8192, which has it not',
      'different index 1: the index n of thing lacks 1 of row 4096',
      'different index 2: the index tags of thing counts 1 irregular rows; there are 2',
      'different index 2: the index tags of thing has null of row 8192, which has it not',
      'different index 2: the index tags of thing lacks "x" of row 4096',
      'different index 2: the index tags of thing lacks "y" of row 4096',
    ),
    one(
      'one before its block',
      e,
      [{ ...ofE, ref: refOf(3, 0) }],
      'different block 16384 of table 0: has the row 12288 behind 16383, in front of Infinity',
      'different index 0: the index of ids has #e of row 16384, which has it not',
      'different index 0: the index of ids lacks #e of row 12288',
      'different index 1: the index n of thing has 2 of row 16384, which has it not',
      'different index 1: the index n of thing lacks 2 of row 12288',
      'different index 2: the index tags of thing has null of row 16384, which has it not',
      'different index 2: the index tags of thing lacks null of row 12288',
    ),
    one(
      'one behind the next block',
      things,
      [a, { ...b, ref: refOf(4, 0) }],
      'different block 4096 of table 0: has the row 16384 behind 4096, in front of 16384',
      'different index 0: the index of ids has #b of row 8192, which has it not',
      'different index 0: the index of ids lacks #b of row 16384',
      'different index 1: the index n of thing has 2 of row 8192, which has it not',
      'different index 1: the index n of thing lacks 2 of row 16384',
      'different index 2: the index tags of thing has null of row 8192, which has it not',
      'different index 2: the index tags of thing lacks null of row 16384',
    ),
    one(
      'one of another table',
      things,
      [a, { ...b, ref: refOf(2, 0) + 1 }],
      'different block 4096 of table 0: has the row 8193 behind 4096, in front of 16384',
      'different index 0: the index of ids has #b of row 8192, which has it not',
      'different index 0: the index of ids lacks #b of row 8193',
      'different index 1: the index n of thing has 2 of row 8192, which has it not',
      'different index 1: the index n of thing lacks 2 of row 8193',
      'different index 2: the index tags of thing has null of row 8192, which has it not',
      'different index 2: the index tags of thing lacks null of row 8193',
    ),
    one(
      'one that was not given',
      e,
      [{ ...ofE, ref: refOf(7, 0) }],
      'different block 16384 of table 0: has the row 28672, which the head has not given yet',
      'different index 0: the index of ids has #e of row 16384, which has it not',
      'different index 0: the index of ids lacks #e of row 28672',
      'different index 1: the index n of thing has 2 of row 16384, which has it not',
      'different index 1: the index n of thing lacks 2 of row 28672',
      'different index 2: the index tags of thing has null of row 16384, which has it not',
      'different index 2: the index tags of thing lacks null of row 28672',
    ),
    one(
      'another value',
      things,
      [a, { ...b, object: { ...b.object, n: 5 } }],
      'different index 1: the index n of thing has 2 of row 8192, which has it not',
      'different index 1: the index n of thing lacks 5 of row 8192',
    ),
    one(
      'more keys',
      things,
      [a, { ...b, object: { ...b.object, tags: ['z'] } }],
      'different index 2: the index tags of thing counts 1 irregular rows; there are 2',
      'different index 2: the index tags of thing has null of row 8192, which has it not',
      'different index 2: the index tags of thing lacks "z" of row 8192',
    ),
    one(
      'another id',
      e,
      [{ ...ofE, id: 'f', object: { ...ofE.object, id: 'f' } }],
      'different index 0: the index of ids has #e of row 16384, which has it not',
      'different index 0: the index of ids lacks #f of row 16384',
    ),
    one(
      'the id of another',
      e,
      [{ ...ofE, id: 'b', object: { ...ofE.object, id: 'b' } }],
      'different index 0: the index of ids has #e of row 16384, which has it not',
      'different index 0: the index of ids lacks #b of row 16384',
    ),
    one(
      'another collection',
      e,
      [{ ...ofE, collection: 'other' }],
      `different ("collection", "c"): counts 3 objects of 'thing'; there are 2`,
      `different ("collection", "other"): has 1 objects of 'thing', which it does not count`,
      'different index 0: the index of ids has #e of row 16384, which has it not',
      'different index 0: the index of ids lacks other#e of row 16384',
    ),
    one(
      'what does not conform',
      e,
      [{ ...ofE, object: { id: 'e', n: 'two' } }],
      'different index 1: the index n of thing has 2 of row 16384, which has it not',
      'different index 1: the index n of thing lacks "two" of row 16384',
      `invalid block 16384 of table 0: row 16384, 'e' of 'c': n must be a number, not the string "two"`,
    ),
    one(
      'no user',
      e,
      [{ ...ofE, user: '' }],
      `invalid block 16384 of table 0: row 16384, 'e' of 'c' has no user`,
    ),
    one(
      'a user that is none',
      e,
      [{ ...ofE, user: 5 as never }],
      `invalid block 16384 of table 0: row 16384, 'e' of 'c' has no user`,
    ),
    one(
      'no time',
      e,
      [{ ...ofE, created_at: 'x' }],
      `invalid block 16384 of table 0: row 16384, 'e' of 'c' has no time`,
    ),
    one(
      'no time of a change',
      e,
      [{ ...ofE, updated_at: 5 as never }],
      `invalid block 16384 of table 0: row 16384, 'e' of 'c' has no time`,
    ),
    one(
      'a collection that is none',
      e,
      [{ ...ofE, collection: 5 as never }],
      'damaged ("page", 5): stored data is damaged: it has no objects',
    ),
    one(
      'an id that is none',
      e,
      [{ ...ofE, id: null as never }],
      'damaged ("page", 5): stored data is damaged: it has no objects',
    ),
    {
      of: 'those of another schema',
      changes: rowsOf(e, [{ ...ofE, object: { ...ofE.object } }], noteSchema),
      found: [],
      deep: ['different block 16384 of table 0: has objects of note, not of thing'],
    },
    {
      of: 'ids in another field',
      changes: rowsOf(
        e,
        [ofE],
        compileSchema({
          ...schema.definition,
          id_field: 'n',
          fields: { ...schema.definition.fields, n: { type: 'number' } },
        }),
      ),
      found: [],
      deep: [
        `different block 16384 of table 0: has ids in 'n', not in 'id'`,
        'different index 1: the index n of thing has 2 of row 16384, which has it not',
        'different index 1: the index n of thing lacks "e" of row 16384',
        `invalid block 16384 of table 0: row 16384, 'e' of 'c': n must be a number, not the string "e"`,
      ],
    },
    {
      of: 'a page that holds none',
      changes: [[objects, e.page, new Uint8Array(e.place.bytes)]],
      found: [],
      deep: ['damaged ("page", 5): stored data is damaged: a page is not made of columns'],
    },
    {
      of: 'a head behind them',
      changes: [[objects, headKey(), { ...head, nextRow: 6 }]],
      found: [],
      deep: [
        'different block 20481 of table 1: has the row 24577, which the head has not given yet',
      ],
    },
  ]
})

test('runs of indexes', ({ objects, runs }) => {
  const { n, ofE, ofD, tags } = runs
  const none: ListRecord = { pages: [], counts: [], keys: [], refs: [] }
  const [a, b, e] = [refOf(1, 0), refOf(2, 0), refOf(4, 0)]
  const d = refOf(3, 0)
  const page = ({ record }: typeof n, keys: Scalar[], refs: number[]): Change => {
    const number = (record.adds.pages[0] ?? record.dels.pages[0])!
    return [objects, pageKey(number), EntryPage.encode({ keys, refs: Float64Array.from(refs) })]
  }
  const list = (fields: object) => ({ ...ofE.record, adds: { ...ofE.record.adds, ...fields } })
  const one = (of: string, record: object, found: string[], deep: string[] = []) => ({
    of,
    changes: [[objects, ofE.key, record] as const],
    found,
    deep,
  })
  const pages = (of: string, changes: readonly Change[], ...deep: string[]) => ({
    of,
    changes,
    found: [],
    deep,
  })
  return [
    ...[
      list({ pages: null }),
      list({ pages: [-1] }),
      list({ pages: [0.5] }),
      list({ counts: [] }),
      list({ counts: ['1'] }),
      list({ keys: [] }),
      list({ refs: {} }),
      { ...ofE.record, dels: null },
      { ...ofE.record, irregular: null },
    ].map((record) =>
      one(JSON.stringify(record), record, [
        'damaged ("run", 1, 2): it is not the record of a run',
        'unreferenced ("page", 6): no record names it',
      ]),
    ),
    one('no record', Buffer.from('5'), [
      'damaged ("run", 1, 2): the record is no object',
      'unreferenced ("page", 6): no record names it',
    ]),
    {
      of: 'gone',
      changes: [[objects, ofE.key, undefined]],
      found: [
        'different index 1: the index n of thing counts 2 entries; there are 3 rows',
        'unreferenced ("page", 6): no record names it',
      ],
      deep: ['different index 1: the index n of thing lacks 2 of row 16384'],
    },
    {
      of: 'of no index',
      changes: [[objects, runKey(9, 1), { adds: none, dels: none, irregular: 0 }]],
      found: ['leftover ("run", 9, 1): of an index that no schema has: opening deletes it'],
    },
    {
      of: 'no page',
      changes: [[objects, pageKey(6), undefined]],
      found: ['missing ("page", 6): ("run", 1, 2) names it'],
    },
    one(
      'a page twice',
      list({ pages: [6, 6], counts: [1, 1], keys: [2, 2], refs: [e, e] }),
      [
        'different index 1: the index n of thing counts 4 entries; there are 3 rows',
        'duplicate ("page", 6): ("run", 1, 2) names it, and so does another record',
      ],
      [
        'different ("run", 1, 2): is wrong about what ("page", 6) begins with',
        'different index 1: the index n of thing has 2 of row 16384, which has it not',
      ],
    ),
    one(
      'another count',
      list({ counts: [2] }),
      ['different index 1: the index n of thing counts 4 entries; there are 3 rows'],
      ['different ("run", 1, 2): counts 2 entries in ("page", 6), which has 1'],
    ),
    one(
      'another first key',
      list({ keys: [3] }),
      [],
      ['different ("run", 1, 2): is wrong about what ("page", 6) begins with'],
    ),
    one('a key before the first', list({ keys: [1] }), [], []),
    one(
      'another first reference',
      list({ refs: [e + 4096] }),
      [],
      ['different ("run", 1, 2): is wrong about what ("page", 6) begins with'],
    ),
    one(
      'irregular rows',
      { ...ofE.record, irregular: 1 },
      [],
      ['different index 1: the index n of thing counts 1 irregular rows; there are 0'],
    ),
    {
      of: 'more irregular rows',
      changes: [[objects, tags.key, { ...tags.record, irregular: 3 }]],
      found: [],
      deep: ['different index 2: the index tags of thing counts 2 irregular rows; there are 1'],
    },
    pages(
      'entries in another order',
      [page(n, [1, 3, 2], [a, d, b])],
      'different ("run", 1, 1): has the entry 12288 3 before 8192 2',
    ),
    pages(
      'references in another order',
      [page(n, [1, 2, 2], [a, d, b])],
      'different ("run", 1, 1): has the entry 12288 2 before 8192 2',
      'different ("run", 1, 3): deletes the entry 12288 3, which was never added',
      'different index 1: the index n of thing has 2 of row 12288, which has it not',
      'different index 1: the index n of thing lacks 3 of row 12288',
    ),
    pages(
      'an entry twice',
      [page(n, [1, 2, 2], [a, b, b])],
      'different ("run", 1, 1): has the entry 8192 2 before 8192 2',
      'different ("run", 1, 3): deletes the entry 12288 3, which was never added',
      'different index 1: the index n of thing has 2 of row 8192, which has it not',
      'different index 1: the index n of thing lacks 3 of row 12288',
    ),
    pages(
      'an entry less',
      [page(n, [1, 3], [a, d])],
      'different ("run", 1, 1): counts 3 entries in ("page", 2), which has 2',
      'different index 1: the index n of thing lacks 2 of row 8192',
    ),
    pages(
      'another key',
      [page(ofE, [2.5], [e])],
      'different index 1: the index n of thing has 2.5 of row 16384, which has it not',
      'different index 1: the index n of thing lacks 2 of row 16384',
    ),
    pages(
      'another row',
      [page(ofE, [2], [e + 4096])],
      'different index 1: the index n of thing has 2 of row 20480, which has it not',
      'different index 1: the index n of thing lacks 2 of row 16384',
    ),
    pages(
      'a deletion of what was never added',
      [page(ofD, [3], [a])],
      'different ("run", 1, 3): deletes the entry 4096 3, which was never added',
      'different ("run", 1, 3): is wrong about what ("page", 10) begins with',
      'different index 1: the index n of thing has 3 of row 12288, which has it not',
      'different index 1: the index n of thing lacks 3 of row 4096',
    ),
    pages(
      'an entry that another run has',
      [page(ofE, [2], [b])],
      'different ("run", 1, 1): adds the entry 8192 2, which was there already',
      'different ("run", 1, 2): is wrong about what ("page", 6) begins with',
      'different index 1: the index n of thing has 2 of row 8192, which has it not',
      'different index 1: the index n of thing lacks 2 of row 16384',
    ),
    pages(
      'no entries',
      [page(ofE, [], [])],
      'damaged ("page", 6): stored data is damaged: it holds no entries of an index',
    ),
    pages(
      'a key that is null',
      [page(ofE, [null], [e])],
      'different ("run", 1, 2): is wrong about what ("page", 6) begins with',
      'different index 1: the index n of thing has null of row 16384, which has it not',
      'different index 1: the index n of thing lacks 2 of row 16384',
    ),
    pages(
      'a reference that is no number',
      [page(ofE, [2], [0.5])],
      'damaged ("page", 6): stored data is damaged: it holds no entries of an index',
    ),
    pages(
      'no page of entries',
      [[objects, pageKey(6), new Uint8Array(5)]],
      'damaged ("page", 6): stored data is damaged: a page is not made of columns',
    ),
  ]
})

test('a list of two pages', ({ objects, runs: { n }, head }) => {
  const [a, b, d] = [refOf(1, 0), refOf(2, 0), refOf(3, 0)]
  const page = (keys: number[], refs: number[]) =>
    EntryPage.encode({ keys, refs: Float64Array.from(refs) })
  const two = (keys: number[], refs: number[]): Change[] => [
    [objects, headKey(), { ...head, nextPage: 101 }],
    [objects, n.key, { ...n.record, adds: { pages: [2, 100], counts: [2, 1], keys, refs } }],
    [objects, pageKey(2), page([1, 2], [a, b])],
    [objects, pageKey(100), page([3], [d])],
  ]
  const wrong = 'different ("run", 1, 1): is wrong about what ("page", 100) begins with'
  const one = (of: string, keys: number[], refs: number[], ...deep: string[]) => ({
    of,
    changes: two(keys, refs),
    found: [],
    deep,
  })
  return [
    one('right', [1, 3], [a, d]),
    one('between the pages', [1, 2.5], [a, 0]),
    one('between the references', [1, 2], [a, b + 1]),
    one('as the last entry', [1, 2], [a, b], wrong),
    one('behind the first entry', [1, 3], [a, d + 1], wrong),
    {
      of: 'the first page is gone',
      changes: [...two([1, 3], [a, d]), [objects, pageKey(2), undefined]],
      found: ['missing ("page", 2): ("run", 1, 1) names it'],
    },
    {
      of: 'the first page is damaged',
      changes: [...two([1, 3], [a, d]), [objects, pageKey(2), new Uint8Array(5)]],
      found: [],
      deep: ['damaged ("page", 2): stored data is damaged: a page is not made of columns'],
    },
  ]
})

test('pages', ({ objects, head, blocks: { e }, runs: { ofE } }) => {
  const one = (of: string, changes: readonly Change[], ...found: string[]) => ({
    of,
    changes: changes,
    found,
  })
  const retired = (version: number, pages: unknown): Change => [
    objects,
    retiredKey(version),
    { pages },
  ]
  const spare: Change = [objects, pageKey(1), new Uint8Array(5)]
  return [
    one('that nobody names', [spare], 'unreferenced ("page", 1): no record names it'),
    one(
      'that were not given',
      [[objects, headKey(), { ...head, nextPage: 13 }]],
      'different ("page", 13): the head has not given that number yet',
    ),
    one(
      'that are kept',
      [spare, retired(7, [1])],
      'leftover ("retired", 7): 1 pages that are kept for a reader: a later commit, or opening, deletes them',
    ),
    one(
      'kept by a later commit',
      [spare, retired(8, [1])],
      'different ("retired", 8): there was no such commit yet',
      'leftover ("retired", 8): 1 pages that are kept for a reader: a later commit, or opening, deletes them',
    ),
    one(
      'kept and not there',
      [retired(7, [1])],
      'leftover ("retired", 7): 1 pages that are kept for a reader: a later commit, or opening, deletes them',
      'missing ("page", 1): ("retired", 7) names it',
    ),
    one(
      'kept and in use',
      [retired(7, [e.place.page])],
      'duplicate ("page", 5): block 16384 of table 0 names it, and so does another record',
      'duplicate ("page", 5): ("retired", 7) names it, and so does another record',
      'leftover ("retired", 7): 1 pages that are kept for a reader: a later commit, or opening, deletes them',
    ),
    one(
      'kept twice',
      [spare, retired(6, [1]), retired(7, [1])],
      'duplicate ("page", 1): ("retired", 6) names it, and so does another record',
      'duplicate ("page", 1): ("retired", 7) names it, and so does another record',
      'leftover ("retired", 6): 1 pages that are kept for a reader: a later commit, or opening, deletes them',
      'leftover ("retired", 7): 1 pages that are kept for a reader: a later commit, or opening, deletes them',
    ),
    ...[undefined, {}, [], [-1], ['1'], [0.5]].map((pages) =>
      one(
        `kept as ${JSON.stringify(pages)}`,
        [retired(7, pages)],
        'damaged ("retired", 7): it does not list pages',
      ),
    ),
    {
      of: 'of a block and of an index',
      changes: [
        [objects, ofE.key, { ...ofE.record, adds: { ...ofE.record.adds, pages: [e.place.page] } }],
      ],
      found: [
        'duplicate ("page", 5): block 16384 of table 0 names it, and so does another record',
        'duplicate ("page", 5): ("run", 1, 2) names it, and so does another record',
        'unreferenced ("page", 6): no record names it',
      ],
      deep: ['damaged ("page", 5): stored data is damaged: it holds no entries of an index'],
    },
  ]
})

test('ids of one hash', ({ objects, hash, ids, blocks: { e }, rowsOf }) => {
  const [row] = e.rows as [Row]
  const other = rowsOf(e, [{ ...row, id: 'b', object: { ...row.object, id: 'b' } }])
  const page = (...entries: [number, number][]): Change => {
    entries.sort((a, b) => a[0] - b[0] || a[1] - b[1])
    const keys = entries.map(([key]) => key)
    const refs = Float64Array.from(entries, ([, ref]) => ref)
    return [objects, pageKey(ids.record.adds.pages[0]!), EntryPage.encode({ keys, refs })]
  }
  const [ofA, ofB] = [hash.of('c', 'a'), hash.of('c', 'b')]
  const rest = objectsInOrder
    .filter(({ id }) => id !== 'a' && id !== 'b' && id !== 'e')
    .map(({ collection, id, row }): [number, number] => [hash.of(collection, id), row])
  const [a, b, ofE] = [refOf(1, 0), refOf(2, 0), refOf(4, 0)]
  const entries = page([ofA, a], [ofB, b], [ofB, ofE], ...rest)
  const met = page([ofA, a], [ofA, b], [hash.of('c', 'e'), ofE], ...rest)
  const first = (change: Change): Change => {
    const { keys, refs } = EntryPage.decode(change[2] as Uint8Array).entries()
    const adds = { ...ids.record.adds, keys: [keys[0]], refs: [refs[0]] }
    return [objects, ids.key, { ...ids.record, adds }]
  }
  return [
    {
      of: 'an object that is there twice',
      changes: [...other, entries, first(entries)],
      found: [],
      deep: [`duplicate row ${ofE}: 'b' of 'c' is there as row ${b}, too`],
    },
    {
      of: 'two objects, which is no duplicate',
      changes: [met, first(met)],
      found: [],
      deep: [
        `different index 0: the index of ids has #a of row ${b}, which has it not`,
        `different index 0: the index of ids lacks #b of row ${b}`,
      ],
    },
  ]
})
