import t from 'tap'
import { LorekeepError } from '../../../src/errors.js'
import { nearest } from '../../../src/door/nearest.js'
import { parseSchemaDefinition } from '../../../src/objects/schema/definition.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { loadValidators } from '../../../src/objects/schema/validators.js'
import { oddNames, randomDefinition } from './definitions.js'

await loadValidators()

/** The paths that are wrong; none for a definition that is right. */
function wrong(definition: unknown): string[] {
  try {
    parseSchemaDefinition(definition)
    return []
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'LK_SCHEMA_INVALID') throw error
    const errors = error.details['errors'] as { path: string; message: string }[]
    for (const { message } of errors) if (message === '') throw error
    return errors.map(({ path }) => path)
  }
}

const wrongFields = (fields: unknown) => wrong({ name: 'x', fields })
/** Of one field `f`, without the `fields.f.` before each. */
const wrongField = (field: unknown) =>
  wrongFields({ f: field }).map((path) => path.replace(/^fields\.f\.?/, ''))
const parsedField = (field: unknown) =>
  parseSchemaDefinition({ name: 'x', fields: { f: field } }).fields['f']

t.test('the map form is read, with what it leaves out', async (t) => {
  const definition = parseSchemaDefinition({
    fields: {
      id: { required: true, type: 'string' },
      price: { type: 'number', required: true },
      tags: { items: { type: 'string' }, type: 'array', required: false },
      state: { type: 'enum', values: ['new', 'used'] },
    },
    indexes: ['price', 'tags'],
    name: 'products',
  })
  t.equal(
    JSON.stringify(definition),
    JSON.stringify({
      name: 'products',
      fields: {
        id: { type: 'string', required: true },
        price: { type: 'number', required: true },
        tags: { type: 'array', items: { type: 'string' } },
        state: { type: 'enum', values: ['new', 'used'] },
      },
      indexes: ['price', 'tags'],
      strict: false,
      id_field: 'id',
      generate_ids: false,
    }),
  )
})

t.test('the array form found in practice is read', async (t) => {
  const definition = parseSchemaDefinition({
    name: 'Pies',
    description: 'Measured pies',
    fields: [
      { id: '0000c3d4', name: 'pie', type: 'string', primary_key: true, required: true, size: 0 },
      { name: 'price', type: 'float', primary_key: false, indexed: true, description: 'in euros' },
      { name: 'crust', type: 'string', enum: ['thin', 'thick'], indexed: true },
      { name: 'region', type: 'string', enum: [] },
      { name: 'baked', type: 'datetime' },
    ],
    indexes: ['region', 'price'],
  })
  t.strictSame(definition, {
    name: 'Pies',
    description: 'Measured pies',
    fields: {
      pie: { type: 'string', required: true },
      price: { type: 'number', description: 'in euros' },
      crust: { type: 'enum', values: ['thin', 'thick'] },
      region: { type: 'string' },
      baked: { type: 'timestamp' },
    },
    indexes: ['region', 'price', 'crust'],
    strict: false,
    id_field: 'pie',
    generate_ids: false,
  })
})

t.test('every reason is told at once', async (t) => {
  const paths = wrong({
    name: '',
    Strict: true,
    strict: 'yes',
    generate_ids: 1,
    description: 5,
    fields: { price: { type: 'number', minimum: 3, required: 'yes' }, n: { type: 'strng' }, _x: 1 },
    indexes: ['prise', 7],
  })
  t.strictSame(paths.sort(), [
    'Strict',
    'description',
    'fields._x',
    'fields._x',
    'fields.n.type',
    'fields.price.minimum',
    'fields.price.required',
    'generate_ids',
    'indexes[0]',
    'indexes[1]',
    'name',
    'strict',
  ])
})

t.test('up to a hundred reasons are told, and all are counted', async (t) => {
  const fields = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, { type: 'x' }]))
  try {
    parseSchemaDefinition({ name: 'x', fields })
    t.fail('should throw')
  } catch (error) {
    const { details } = error as LorekeepError
    t.equal((details['errors'] as unknown[]).length, 100)
    t.match(details, { errorsOmitted: 1 })
    t.notOk('count' in details, 'that is of objects and ids')
  }
})

t.test('what is no object of plain JSON is refused', async (t) => {
  for (const input of [undefined, null, 7, 'x', [], new Date()]) t.strictSame(wrong(input), [''])
  t.strictSame(wrong({ name: 'x', fields: { a: { type: 'string' } }, more: undefined }), ['more'])
  t.strictSame(wrong(JSON.parse('{"name":"x","fields":{"__proto__":{"type":"string"}}}')), [
    'fields.__proto__',
  ])
  t.strictSame(wrong({}), ['name', 'fields'])
  t.strictSame(wrong({ name: undefined, fields: { a: 10n } }), ['name', 'fields.a'])
})

t.test('the name is a well-formed string of at most 256 bytes', async (t) => {
  const fields = { a: { type: 'string' } }
  for (const name of ['é'.repeat(128), 'constructor']) t.strictSame(wrong({ name, fields }), [])
  for (const name of ['é'.repeat(128) + 'x', '', '__proto__', 7, null, '\ud800', undefined]) {
    t.strictSame(wrong({ name, fields }), ['name'])
  }
})

t.test('there is at least one field, with a name that can stand in a path', async (t) => {
  for (const none of [{}, [], null, 'a', 7]) t.strictSame(wrongFields(none), ['fields'])
  const type = 'string'
  for (const name of ['', 'a.b', '$a', '_a', 'é'.repeat(128) + 'x', '_']) {
    t.equal(wrongFields({ [name]: { type } }).length, 1, name)
    t.strictSame(wrongFields([{ name, type }]), ['fields[0]'], name)
  }
  for (const name of ['é'.repeat(128), 'a$', 'a_', ...oddNames]) {
    t.strictSame(wrongFields({ [name]: { type } }), [], name)
    t.strictSame(wrongFields([{ name, type }]), [], name)
  }
  t.strictSame(wrongField({ type: 'object', properties: { _inner: { type } } }), [])
  t.strictSame(wrongFields([{ type }, 7, { name: 7, type }]), [
    'fields[0]',
    'fields[1]',
    'fields[2]',
  ])
  const twice = [
    { name: 'a', type },
    { name: 'a', type },
  ]
  t.strictSame(wrongFields(twice), ['fields[1]'])
})

t.test('there are at most 1,000 fields, all depths counted', async (t) => {
  const some = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { type: 'string' }]))
  const inner = { type: 'object', properties: some(500) }
  t.strictSame(wrongFields({ ...some(499), inner }), [])
  const { fields } = parseSchemaDefinition({ name: 'x', fields: some(1000) })
  t.strictSame(fields['f999'], { type: 'string' })
  t.equal(wrongFields({ ...some(500), inner }).length, 1)
})

t.test('what is wrong is told once, and what no definition is says what one is', (t) => {
  const id = { type: 'strin' }
  t.strictSame(wrong({ name: 'z', fields: { id } }), ['fields.id.type'])
  t.strictSame(wrong({ name: 'z', fields: { id }, generate_ids: true }), ['fields.id.type'])
  t.strictSame(wrong({ name: 'z', fields: { id: { type: 'any' } } }), ['fields.id.type'])
  for (const input of [undefined, null, 'z', [], () => {}]) {
    const errors = [{ path: '', message: /^must be the definition of a schema, an object, not / }]
    const expected = { code: 'LK_SCHEMA_INVALID', details: { errors } }
    t.throws(() => parseSchemaDefinition(input), expected, String(input))
  }
  t.end()
})

t.test('a definition takes at most 1 MiB as JSON, and no more of it is looked at', async (t) => {
  const described = (bytes: number) => ({
    name: 'x',
    fields: { id: { type: 'string' } },
    description: 'd'.repeat(bytes),
  })
  t.doesNotThrow(() => parseSchemaDefinition(described(1024 * 1024 - 1000)))
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key number ${i}`, 1]))
  for (const definition of [described(1024 * 1024), { name: 'x', fields: {}, ...many }]) {
    t.throws(() => parseSchemaDefinition(definition), {
      code: 'LK_SCHEMA_INVALID',
      details: { errors: [{ path: '', message: /over 1048576 bytes/ }] },
    })
  }
})

t.test('fields lie at most 16 deep', async (t) => {
  const nested = (depth: number): object =>
    depth === 1 ? { type: 'string' } : { type: 'object', properties: { f: nested(depth - 1) } }
  const lists = (depth: number): object =>
    depth === 1 ? { type: 'string' } : { type: 'array', items: lists(depth - 1) }
  t.strictSame(wrongField(nested(16)), [])
  t.equal(wrongField(nested(17)).length, 1)
  t.strictSame(wrongField(lists(16)), [])
  t.equal(wrongField(lists(17)).length, 1)
})

t.test('a key that is not known is refused', async (t) => {
  t.strictSame(wrongField({ type: 'number', minimum: 1 }), ['minimum'])
  t.strictSame(wrongField({ type: 'string', minLength: 1 }), ['minLength'])
  t.strictSame(wrongField({ type: 'string', constructor: 1 }), ['constructor'])
  t.strictSame(wrongField({ type: 'string', pattern: '(a+)+$' }), ['pattern'])
  t.strictSame(wrongField({ type: 'string', format: 'regex' }), ['format'])
  t.strictSame(wrongField({ type: 'string', name: 'f' }), ['name'])
  t.strictSame(wrongField({ type: 'string', size: 0 }), ['size'])
  t.strictSame(wrongFields([{ name: 'a', type: 'string', size: 10 }]), ['fields[0].size'])
  t.strictSame(wrongField({ type: 'array', items: { type: 'string', required: true } }), [
    'items.required',
  ])
  const properties = { a: { type: 'string', indexed: true, primary_key: true } }
  t.strictSame(wrongField({ type: 'object', properties }), [
    'properties.a.indexed',
    'properties.a.primary_key',
  ])
})

t.test('suggestions are near', async (t) => {
  const keys = ['min', 'max', 'min_length', 'required', 'index']
  t.equal(nearest('minimum', keys), 'min')
  t.equal(nearest('minLength', keys), 'min_length')
  t.equal(nearest('Required', keys), 'required')
  t.equal(nearest('requird', keys), 'required')
  t.equal(nearest('requiired', keys), 'required')
  t.equal(nearest('reqiured', keys), 'required')
  t.equal(nearest('rewuired', keys), 'required')
  t.equal(nearest('indexes', keys), 'index')
  t.equal(nearest('req', keys), 'required')
  for (const far of [
    '',
    'm',
    'mi',
    'colour',
    'reqqiured',
    'reqixred',
    'reqxured',
    'required'.repeat(9),
  ]) {
    t.equal(nearest(far, keys), undefined, far.slice(0, 10))
  }
})

t.test('types are those of the list', async (t) => {
  const types = ['string', 'text', 'number', 'integer', 'boolean', 'array', 'object']
  for (const type of [...types, 'date', 'timestamp', 'uri', 'email', 'uuid']) {
    t.strictSame(parsedField({ type }), { type })
  }
  t.strictSame(parsedField({ type: 'double' }), { type: 'number' })
  for (const type of ['String', 'time', '', 7, null, ['string'], 'toString', '__proto__']) {
    t.strictSame(wrongField({ type }), ['type'])
  }
  t.strictSame(wrongField({}), ['type'])
  t.strictSame(wrongField('string'), [''])
})

t.test('constraints stand where they fit', async (t) => {
  const given = {
    min: 1,
    max: 1,
    min_length: 1,
    max_length: 1,
    values: ['a'],
    items: { type: 'string' },
    properties: { a: { type: 'string' } },
  }
  const all = Object.keys(given)
  const fitting: Record<string, string[]> = {
    number: ['min', 'max'],
    integer: ['min', 'max'],
    boolean: [],
    enum: ['values'],
    array: ['min_length', 'max_length', 'items'],
    object: ['properties'],
  }
  for (const type of ['string', 'text', 'date', 'timestamp', 'uri', 'email', 'uuid']) {
    fitting[type] = ['min_length', 'max_length']
  }
  for (const [type, fits] of Object.entries(fitting)) {
    const unfit = all.filter((key) => !fits.includes(key))
    t.strictSame(wrongField({ type, ...given }).sort(), unfit.sort(), type)
  }
})

t.test('bounds are numbers in their order', async (t) => {
  t.strictSame(wrongField({ type: 'number', min: 1.5, max: 1.5 }), [])
  t.strictSame(wrongField({ type: 'number', min: 1.6, max: 1.5 }), ['min'])
  t.strictSame(wrongField({ type: 'number', min: '1', max: null }), ['min', 'max'])
  t.strictSame(wrongField({ type: 'integer', min: -(2 ** 53) + 1, max: 2 ** 53 - 1 }), [])
  t.strictSame(wrongField({ type: 'integer', min: -(2 ** 53), max: 2 ** 53 }), ['min', 'max'])
  t.strictSame(wrongField({ type: 'string', min_length: 0, max_length: 0 }), [])
  t.strictSame(wrongField({ type: 'array', min_length: 2, max_length: 1 }), ['min_length'])
  t.strictSame(wrongField({ type: 'string', min_length: -1, max_length: 1.5 }), [
    'min_length',
    'max_length',
  ])
})

t.test('an enum has its values, each once', async (t) => {
  const values = ['a', 1, true, null]
  t.strictSame(parsedField({ type: 'enum', values }), { type: 'enum', values })
  t.strictSame(parsedField({ type: 'enum', enum: values }), { type: 'enum', values })
  t.strictSame(parsedField({ type: 'integer', enum: [1, 2] }), { type: 'enum', values: [1, 2] })
  for (const field of [{}, { values: [] }, { values: 'ab' }, { enum: [] }]) {
    t.strictSame(wrongField({ type: 'enum', ...field }), ['values'])
  }
  t.strictSame(wrongField({ type: 'enum', values: ['a'], enum: ['a'] }), ['enum'])
  t.strictSame(wrongField({ type: 'enum', values: ['a', {}, 'b', 'a', [1]] }), [
    'values[1]',
    'values[3]',
    'values[4]',
  ])
  t.strictSame(wrongField({ type: 'enum', values: [0, -0] }), ['values[1]'])
  t.strictSame(wrongField({ type: 'enum', values: [1, '1', true, 'true'] }), [])
  t.strictSame(wrongField({ type: 'string', enum: ['a', 1] }), ['enum[1]'])
  t.strictSame(wrongField({ type: 'integer', enum: [1, 1.5] }), ['enum[1]'])
  t.strictSame(wrongField({ type: 'float', enum: [1, 'a'] }), ['enum[1]'])
  t.strictSame(wrongField({ type: 'boolean', enum: [true, 'a'] }), ['enum[1]'])
  t.strictSame(wrongField({ type: 'array', enum: [1] }), ['enum'])
  t.strictSame(wrongField({ type: 'string', enum: ['a'], max_length: 1 }), ['max_length'])
  const many = Array.from({ length: 1001 }, (_, i) => i)
  t.strictSame(wrongField({ type: 'enum', values: many.slice(1) }), [])
  t.strictSame(wrongField({ type: 'enum', values: many }), ['values'])
})

t.test('a default is valid for its field, in itself and with the defaults inside', async (t) => {
  t.strictSame(wrongField({ type: 'integer', required: true, default: 1 }), [])
  t.strictSame(wrongField({ type: 'integer', default: 1.5 }), ['default'])
  t.strictSame(wrongField({ type: 'string', default: null }), ['default'])
  t.strictSame(wrongField({ type: 'enum', default: 'a' }), ['values'], 'told of first')
  t.strictSame(wrongField({ type: 'enum', values: [null], default: null }), [])
  t.strictSame(wrongField({ type: 'array', items: { type: 'string' }, default: ['a', 1] }), [
    'default[1]',
  ])
  const a = { type: 'integer', required: true }
  const properties = { a, '`${x}`': { type: 'integer', default: 2 } }
  t.strictSame(wrongField({ type: 'object', properties, default: {} }), ['default.a'])
  t.strictSame(wrongField({ type: 'object', properties, default: { a: 1 } }), [])
  const filled = { ...properties, a: { ...a, default: 1 } }
  t.strictSame(wrongField({ type: 'object', properties: filled, default: {} }), [])
  t.strictSame(
    wrongField({ type: 'object', properties: { a: { type: 'integer', default: '' } } }),
    ['properties.a.default'],
  )
  const undeclared = { f: { type: 'object', properties, default: { a: 1, b: 2 } } }
  t.strictSame(wrong({ name: 'x', fields: undeclared }), [])
  t.strictSame(wrong({ name: 'x', strict: true, fields: undeclared }), ['fields.f.default.b'])
  t.strictSame(wrongFields([{ name: 'n', type: 'number', default: 'x' }]), ['fields[0].default'])
})

t.test('a default and its field together stay within the depth of an object', async (t) => {
  const list = (levels: number): unknown => (levels === 0 ? 1 : [list(levels - 1)])
  t.strictSame(wrongField({ type: 'array', default: list(48) }), [])
  t.strictSame(wrongField({ type: 'array', default: list(49) }), ['default'])
  let deepest: object = { type: 'array', default: list(48) }
  for (let i = 1; i < 16; i++) deepest = { type: 'object', properties: { f: deepest } }
  t.strictSame(wrongField(deepest), [])
})

t.test('the id field is id, the primary key, or the one that is named', async (t) => {
  const sku = { type: 'string' }
  const parse = (more: object) => parseSchemaDefinition({ name: 'x', fields: { sku }, ...more })
  t.equal(parse({}).id_field, 'id')
  t.equal(parse({ id_field: 'sku' }).id_field, 'sku')
  t.equal(parse({ id_field: 'other' }).id_field, 'other')
  const primary = { sku: { ...sku, primary_key: true } }
  t.equal(parse({ fields: primary }).id_field, 'sku')
  t.equal(parse({ fields: primary, id_field: 'sku' }).id_field, 'sku')
  t.strictSame(wrong({ name: 'x', fields: primary, id_field: 'id' }), ['id_field'])
  t.strictSame(wrongFields({ ...primary, other: { type: 'string', primary_key: true } }), [
    'fields',
  ])
  for (const id_field of ['', 'a.b', '_id', '$id', 7, 'é'.repeat(128) + 'x']) {
    t.strictSame(wrong({ name: 'x', fields: { sku }, id_field }), ['id_field'])
  }
})

t.test('a declared id field has a type of ids, and no default', async (t) => {
  const fits = ['string', 'text', 'integer', 'uuid', 'uri', 'email']
  for (const type of fits) t.strictSame(wrongFields({ id: { type } }), [], type)
  t.strictSame(wrongFields({ id: { type: 'enum', values: ['a'] } }), [])
  for (const type of ['number', 'boolean', 'array', 'object', 'date', 'timestamp']) {
    t.strictSame(wrongFields({ id: { type } }), ['fields.id.type'], type)
  }
  t.strictSame(wrongFields([{ name: 'id', type: 'date' }]), ['fields[0].type'])
  t.strictSame(wrongFields({ id: { type: 'string', default: 'a' } }), ['fields.id.default'])
})

t.test('ids are generated only for a field that admits them', async (t) => {
  const generate = (id: object) => wrong({ name: 'x', fields: { id }, generate_ids: true })
  const string = { type: 'string', min_length: 24, max_length: 33 }
  t.strictSame(generate(string), [])
  t.strictSame(generate({ ...string, min_length: 25 }), ['generate_ids'])
  t.strictSame(generate({ ...string, max_length: 32 }), ['generate_ids'])
  for (const type of ['integer', 'uuid', 'uri', 'email']) {
    t.strictSame(generate({ type }), ['generate_ids'], type)
  }
  t.strictSame(wrong({ name: 'x', fields: { a: { type: 'date' } }, generate_ids: true }), [])
})

t.test('indexes are paths to what is declared, or to the system', async (t) => {
  const string = { type: 'string' }
  const fields = {
    a: string,
    any: { type: 'object' },
    list: { type: 'array' },
    o: { type: 'object', properties: { b: string, any: { type: 'object' } } },
    tags: { type: 'array', items: string },
    rows: { type: 'array', items: { type: 'object', properties: { c: string } } },
    grid: { type: 'array', items: { type: 'array', items: { type: 'object' } } },
    constructor: string,
  }
  const check = (path: unknown) => wrong({ name: 'x', fields, indexes: [path] })
  const system = ['_id', '_collection', '_user', '_created_at', '_updated_at', '_metadata.a.b']
  const declared = [
    'a',
    'any',
    'any.x.y',
    'list',
    'list.x',
    'o',
    'o.b',
    'o.any.x',
    'tags',
    'rows.c',
  ]
  for (const path of [...system, ...declared, 'id', 'constructor'])
    t.strictSame(check(path), [], path)
  const not = [
    '',
    'b',
    'a.b',
    'a.length',
    'o.c',
    'o.b.c',
    'tags.x',
    'rows.d',
    'grid.x',
    'id.x',
    '.a',
  ]
  const hostile = ['toString', '__proto__', 'any.__proto__', 'o.constructor', 'any.$gt', 'any..x']
  const noSystem = ['_schema', '_metadata', '_x', '_id.x']
  for (const path of [...not, ...hostile, ...noSystem, 7, null]) {
    t.strictSame(check(path), ['indexes[0]'], String(path))
  }
  t.strictSame(check(`any${'.x'.repeat(31)}`), [])
  t.strictSame(check(`any${'.x'.repeat(32)}`), ['indexes[0]'])
  t.strictSame(check(`any.${'x'.repeat(257)}`), ['indexes[0]'])
  t.strictSame(wrong({ name: 'x', fields, indexes: ['a', 'o.b', 'a'] }), ['indexes[2]'])
  t.strictSame(wrong({ name: 'x', fields, indexes: 'a' }), ['indexes'])
})

t.test('indexes lead to undeclared fields where the schema says so', async (t) => {
  const fields = {
    a: { type: 'string' },
    o: { type: 'object', properties: {} },
    x: { type: 'any' },
  }
  Object.assign(fields.o.properties, { b: { type: 'string' } })
  const check = (path: string, index_undeclared?: boolean) => {
    const definition = { name: 'x', fields, indexes: [path] }
    return wrong(index_undeclared === undefined ? definition : { ...definition, index_undeclared })
  }
  for (const path of ['b', 'b.c', 'o.c', 'o.c.0', 'toString']) {
    t.strictSame(check(path, true), [], path)
    t.strictSame(check(path, false), ['indexes[0]'], path)
    t.strictSame(check(path), ['indexes[0]'], path)
  }
  for (const path of ['a.b', 'o.b.c', '_x', '__proto__', 'b..c', '$b']) {
    t.strictSame(check(path, true), ['indexes[0]'], path)
  }
  t.strictSame(check(`x${'.0'.repeat(8)}`), [])
  t.strictSame(check(`x${'.0'.repeat(9)}`), ['indexes[0]'])
  t.strictSame(check('x.y.z'), [], 'a field of any type may have any')
  const said = { name: 'x', fields, index_undeclared: true }
  t.equal(parseSchemaDefinition(said).index_undeclared, true)
  t.notOk('index_undeclared' in parseSchemaDefinition({ ...said, index_undeclared: false }))
  t.strictSame(wrong({ ...said, strict: true }), ['index_undeclared'])
  t.strictSame(wrong({ ...said, index_undeclared: 1 }), ['index_undeclared'])
})

t.test('any and nullable fit together with what a field says', async (t) => {
  t.strictSame(wrongFields({ a: { type: 'any', required: true, default: [1] } }), [])
  t.strictSame(wrongFields({ a: { type: 'any', nullable: true } }), ['fields.a.nullable'])
  t.strictSame(wrongFields({ a: { type: 'any', min: 1 } }), ['fields.a.min'])
  t.strictSame(wrongFields({ a: { type: 'any', enum: ['x', 1, null] } }), [])
  t.strictSame(wrongFields({ a: { type: 'string', nullable: 1 } }), ['fields.a.nullable'])
  t.strictSame(wrongFields({ a: { type: 'string', default: null } }), ['fields.a.default'])
  t.strictSame(wrongFields({ a: { type: 'string', default: null, nullable: true } }), [])
  t.strictSame(wrongFields({ id: { type: 'string', nullable: true } }), ['fields.id.nullable'])
  t.strictSame(wrongFields({ id: { type: 'any' } }), ['fields.id.type'])
  t.strictSame(wrongFields([{ name: 'a', type: 'string', nullable: true }]), [])
})

t.test('there are at most 32 indexes', async (t) => {
  const paths = Array.from({ length: 33 }, (_, i) => `any.f${i}`)
  const check = (indexes: string[], any: object = { type: 'object' }) =>
    wrong({ name: 'x', fields: { any }, indexes })
  t.strictSame(check(paths.slice(1)), [])
  t.strictSame(check(paths), ['indexes'])
  t.strictSame(check(paths.slice(1), { type: 'object', indexed: true }), ['indexes'])
})

t.test('the result is its own, frozen in every part', async (t) => {
  const values = ['a', 'b']
  const fields: Record<string, object> = {
    constructor: { type: 'enum', values },
    toString: { type: 'array', default: [{ a: 1 }] },
  }
  const definition = parseSchemaDefinition({ name: 'x', fields })
  values.push('c')
  fields['more'] = { type: 'string' }
  t.strictSame(Object.keys(definition.fields), ['constructor', 'toString'])
  t.strictSame(definition.fields['constructor']?.values, ['a', 'b'])
  const isFrozen = (value: unknown): boolean =>
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  t.ok(isFrozen(definition))
})

const seed = pickSeed()
t.test(`a definition survives JSON, and is the same in both forms (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let i = 0; i < 300; i++) {
    const input = randomDefinition(random)
    const definition = parseSchemaDefinition(input)
    const text = JSON.stringify(definition)
    const again = parseSchemaDefinition(JSON.parse(text))
    const fields = Object.entries(input['fields'] as object).map(([name, field]) => ({
      ...(field as object),
      name,
    }))
    const ofArray = parseSchemaDefinition({ ...input, fields })
    if (JSON.stringify(again) !== text || JSON.stringify(ofArray) !== text) {
      t.fail('not the same', { input, definition })
    }
    if (i === 0) t.equal(JSON.stringify(again), text)
  }
})

t.test('an id field need not be declared, also where all others have to be', async (t) => {
  const definition = parseSchemaDefinition({
    name: 'x',
    strict: true,
    id_field: 'sku',
    fields: { a: { type: 'string' } },
  })
  t.match(definition, { id_field: 'sku', strict: true })
})

t.test('a path of an index that is not declared is named', async (t) => {
  try {
    const fields = { a: { type: 'string' } }
    parseSchemaDefinition({ name: 'x', fields, indexes: ['nope.x'] })
    t.fail('it was taken')
  } catch (error) {
    t.match(error, { details: { errors: [{ path: 'indexes[0]', message: "'nope' is not" }] } })
  }
})
