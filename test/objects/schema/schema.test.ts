import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import type { JsonPath } from '../../../src/door/json.js'
import { parseSchemaDefinition } from '../../../src/objects/schema/definition.js'
import { checkId, compileSchema, type CompiledSchema } from '../../../src/objects/schema/schema.js'
import type { FieldDefinition } from '../../../src/objects/types.js'
import type { JsonObject, JsonValue } from '../../../src/types.js'
import { compileValidator, loadValidators } from '../../../src/objects/schema/validators.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { disturbed, goodObject, goodStrings, oddNames, randomDefinition } from './definitions.js'

await loadValidators()

const compile = (fields: unknown, more: object = {}) =>
  compileSchema(parseSchemaDefinition({ name: 'x', fields, ...more }))

/** What is stored, and the paths that are reported. What is given is frozen: nobody changes it. */
function checked(schema: CompiledSchema, value: unknown) {
  const paths: string[] = []
  const reasons: string[] = []
  const object = schema.check(freeze(value), (path, reason) => {
    paths.push(path)
    reasons.push(reason)
  })
  if ((object === undefined) !== paths.length > 0) throw new Error('reported, or not')
  return { object, paths, reasons }
}

const wrong = (schema: CompiledSchema, value: unknown) => checked(schema, value).paths

/** Whether a field `f` admits each value. */
const admits = (field: object, values: readonly unknown[]) => {
  const schema = compile({ f: field })
  return values.map((f) => {
    const paths = wrong(schema, { id: 1, f })
    return paths.length === 0 || (paths.every((path) => path.startsWith('f')) ? false : paths)
  })
}
const yes = (count: number) => Array<boolean>(count).fill(true)
const no = (count: number) => Array<boolean>(count).fill(false)

t.test('a validator is made for the first object, and once', (t) => {
  const compileSchema = t.capture(Ajv2020.prototype, 'compile', Ajv2020.prototype.compile)
  const schema = compile({ id: { type: 'string', required: true } })
  t.equal(compileSchema().length, 0)
  for (const id of ['a', 'b']) checked(schema, { id })
  t.equal(compileSchema().length, 1)
  t.end()
})

t.test('an object that conforms is given as it is', async (t) => {
  const schema = compile({ id: { type: 'string', required: true }, price: { type: 'number' } })
  const object = { id: 'a', price: 1.5, undeclared: [{ any: null }] }
  t.equal(checked(schema, object).object, object)
  t.equal(schema.idOf(object), 'a')
  t.strictSame(schema.fields, ['id', 'price'])
  const bare = Object.assign(Object.create(null), { id: 1 }) as object
  t.equal(checked(schema, { id: 'a', bare }).paths.length, 0)
})

t.test('each type admits its values and no others', async (t) => {
  const others = [null, true, 1, 'a', [], {}]
  const except = (...of: unknown[]) => others.filter((value) => !of.includes(value))
  for (const type of ['string', 'text']) {
    t.strictSame(admits({ type }, ['', 'a', '😀']), yes(3))
    t.strictSame(admits({ type }, except('a')), no(5))
  }
  t.strictSame(admits({ type: 'number' }, [0, -1.5, 1e308]), yes(3))
  t.strictSame(admits({ type: 'number' }, except(1)), no(5))
  t.strictSame(admits({ type: 'integer' }, [0, -1, 2 ** 53 - 1, -(2 ** 53) + 1, 3.0]), yes(5))
  t.strictSame(admits({ type: 'integer' }, [...except(1), 1.5, 2 ** 53, -(2 ** 53)]), no(8))
  t.strictSame(admits({ type: 'boolean' }, [true, false]), yes(2))
  t.strictSame(admits({ type: 'boolean' }, [...except(true), 0, 'true']), no(7))
  t.strictSame(admits({ type: 'array' }, [[], [null, 'a', [1]]]), yes(2))
  t.strictSame(admits({ type: 'array' }, except(others[4])), no(5))
  t.strictSame(admits({ type: 'object' }, [{}, { a: null }]), yes(2))
  t.strictSame(admits({ type: 'object' }, except(others[5])), no(5))
})

t.test('any admits every value, and what is nullable null beside its own', async (t) => {
  const values = [null, true, 1, 'a', [], {}, [null, { a: [1] }]]
  t.strictSame(admits({ type: 'any' }, values), yes(7))
  const types = [
    ...['string', 'text', 'number', 'integer', 'boolean', 'date', 'timestamp', 'uri', 'email'],
    ...['uuid', 'array', 'object'],
  ]
  for (const type of types) {
    t.strictSame(admits({ type }, [null]), no(1), type)
    t.strictSame(admits({ type, nullable: true }, [null]), yes(1), type)
    t.strictSame(admits({ type, nullable: false }, [null]), no(1), type)
    const other = type === 'number' || type === 'integer' ? 'a' : 1
    t.strictSame(admits({ type, nullable: true }, [other]), no(1), type)
  }
  t.strictSame(admits({ type: 'enum', values: ['a'], nullable: true }, ['a', null]), yes(2))
  t.strictSame(admits({ type: 'enum', values: ['a', null], nullable: true }, ['a', null]), yes(2))
  t.strictSame(admits({ type: 'enum', values: ['a'], nullable: true }, ['b']), no(1))
  t.strictSame(admits({ type: 'number', nullable: true, min: 1 }, [null, 1]), yes(2))
  t.strictSame(admits({ type: 'number', nullable: true, min: 1 }, [0]), no(1))
  const elements = { type: 'array', items: { type: 'string', nullable: true } }
  t.strictSame(admits(elements, [[null, 'a']]), yes(1))
  t.strictSame(admits(elements, [[null, 1]]), no(1))
  const inner = {
    type: 'object',
    nullable: true,
    properties: { a: { type: 'string', required: true } },
  }
  t.strictSame(admits(inner, [null, { a: 'x' }]), yes(2))
  t.strictSame(admits(inner, [{}, { a: null }]), no(2))
})

t.test('a required field that is nullable has to be there', async (t) => {
  const schema = compile({ a: { type: 'number', required: true, nullable: true } })
  t.strictSame(wrong(schema, { id: 1, a: null }), [])
  t.strictSame(wrong(schema, { id: 1 }), ['a'])
  const filled = compile({ a: { type: 'number', required: true, nullable: true, default: null } })
  t.strictSame({ ...checked(filled, { id: 1 }).object }, { id: 1, a: null })
})

t.test('a null that is refused is told what to do about', async (t) => {
  const schema = compile({ a: { type: 'number' }, b: { type: 'number', nullable: true } })
  t.match(checked(schema, { id: 1, a: null }).reasons[0], /nullable/)
  t.match(checked(schema, { id: 1, b: 'x' }).reasons[0], /a number or null/)
})

t.test('formats are those of the standards', async (t) => {
  const bad = {
    date: ['2023-02-29', '2024-13-01', '2024-1-1', '20240131', '2024-01-31T00:00:00Z', ''],
    timestamp: ['2024-01-31', '2024-01-31T12:00:00', '2024-01-31T25:00:00Z', 'now', ''],
    uri: ['/a', 'example.org', 'http://a b', 'https://x/\n', ''],
    email: ['ada', 'ada@', '@example.org', 'a b@example.org', ''],
    uuid: ['2f1b9c3e', '2f1b9c3e7a5d4c8b9e0f1a2b3c4d5e6f', ''],
  }
  for (const [type, values] of Object.entries(bad)) {
    const good = goodStrings[type as keyof typeof bad] ?? []
    t.strictSame(admits({ type }, good), yes(good.length), type)
    t.strictSame(admits({ type }, [...values, 1, null]), no(values.length + 2), type)
  }
})

t.test('a formatted string has at most 65,536 characters', async (t) => {
  const uri = (length: number) => 'https://example.org/'.padEnd(length, 'a')
  t.strictSame(admits({ type: 'uri' }, [uri(65_536), uri(65_537)]), [true, false])
  // Past some millions of characters the pattern alone throws.
  t.strictSame(admits({ type: 'uri' }, [uri(10_000_000)]), [false])
  const digits = (length: number) => `2024-01-31T12:00:00.${'0'.repeat(length - 21)}Z`
  t.strictSame(admits({ type: 'timestamp' }, [digits(65_536), digits(65_537)]), [true, false])
})

t.test('bounds are part of what they bound', async (t) => {
  t.strictSame(admits({ type: 'number', min: -1, max: 1.5 }, [-1, 0, 1.5]), yes(3))
  t.strictSame(admits({ type: 'number', min: -1, max: 1.5 }, [-1.001, 1.501]), no(2))
  t.strictSame(admits({ type: 'integer', min: 1 }, [0, 1, 2 ** 53]), [false, true, false])
  t.strictSame(admits({ type: 'integer', max: 1 }, [1, 2, -(2 ** 53)]), [true, false, false])
  const lengths = { min_length: 1, max_length: 2 }
  const texts = ['', 'a', '😀😀', 'abc']
  t.strictSame(admits({ type: 'string', ...lengths }, texts), [false, true, true, false])
  const lists = [[], [1], [1, 2], [1, 2, 3]]
  t.strictSame(admits({ type: 'array', ...lengths }, lists), [false, true, true, false])
})

t.test('an enum admits its values by type and value', async (t) => {
  const field = { type: 'enum', values: ['1', 2, null, false] }
  t.strictSame(admits(field, ['1', 2, null, false]), yes(4))
  t.strictSame(admits(field, [1, '2', 0, '', 'null', {}, []]), no(7))
  const many = Array.from({ length: 1000 }, (_, i) => `v${i}`)
  t.strictSame(admits({ type: 'enum', values: many }, ['v0', 'v999', 'v1000']), [true, true, false])
})

t.test('problems inside arrays and objects are told with their paths', async (t) => {
  const point = { x: { type: 'number', required: true }, 'odd key': { type: 'date' } }
  const rows = { type: 'array', items: { type: 'object', properties: point }, max_length: 5 }
  const grid = { type: 'array', items: { type: 'array', items: { type: 'integer' } } }
  const schema = compile({ rows, grid, o: { type: 'object', properties: { rows } } })
  const object = {
    id: 1,
    rows: [{ x: 1 }, {}, { x: '1', 'odd key': 'today' }, null],
    grid: [[1], 2, [3, 4.5]],
    o: { rows: [{ x: 1 }, { x: false }] },
  }
  t.strictSame(wrong(schema, object), [
    'rows[1].x',
    'rows[2].x',
    'rows[2]["odd key"]',
    'rows[3]',
    'grid[1]',
    'grid[2][1]',
    'o.rows[1].x',
  ])
  const valid = { id: 1, rows: Array<object>(5).fill({ x: 1 }), grid: [[], [1]] }
  t.strictSame(wrong(schema, valid), [])
  t.strictSame(wrong(schema, { ...valid, rows: Array<object>(6).fill({ x: 1 }) }), ['rows'])
  // Where an array is not expected, a number is the name of a field.
  t.strictSame(
    wrong(compile({ o: { type: 'object', properties: { 2: { type: 'date' } } } }), {
      id: 1,
      o: { 2: 'x' },
    }),
    ['o["2"]'],
  )
})

t.test('at most 20 reports are made, however much is wrong', async (t) => {
  const names = Array.from({ length: 30 }, (_, i) => `f${i}`)
  const fields = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const bad = Object.fromEntries(names.map((name) => [name, 1]))
  t.equal(wrong(compile(fields), { id: 1, ...bad }).length, 20)
  t.equal(wrong(compile({ a: { type: 'string' } }, { strict: true }), { id: 1, ...bad }).length, 20)
  const system = Object.fromEntries(names.map((name) => [`_${name}`, 1]))
  t.equal(wrong(compile(fields), { id: 1, ...system, ...bad }).length, 20)
  const tags = compile({ tags: { type: 'array', items: { type: 'string' } } })
  t.equal(wrong(tags, { id: 1, tags: Array<number>(100_000).fill(1) }).length, 20)
  t.equal(wrong(tags, { id: 1, tags: Array<unknown>(100).fill(undefined) }).length, 20)
  t.equal(wrong(tags, { id: 1, tags: [...Array<string>(100).fill('a'), 1] }).length, 1)
})

t.test('the elements after the last bad one that is told are not looked at', async (t) => {
  let reads = 0
  const tags = new Proxy(Array<number>(1000).fill(1), {
    get(array, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++
      return Reflect.get(array, key) as unknown
    },
  })
  const schema = compile({ tags: { type: 'array', items: { type: 'string' } } })
  schema.check({ id: 1, tags }, () => undefined)
  t.ok(reads >= 1020 && reads < 1200, `${reads} reads, 1,000 of them to see that it is JSON`)
})

t.test('a validator stops where its report says so', async (t) => {
  const validate = compileValidator({ a: { type: 'string' } }, { strict: true })
  const told: JsonPath[] = []
  const report = (path: JsonPath) => told.push(path) < 2
  t.equal(validate({ a: 1, b: 1, c: 1, d: 1 }, report), false)
  t.equal(told.length, 2)
})

t.test('what is no object of plain JSON is refused, undeclared fields included', async (t) => {
  const schema = compile({ a: { type: 'string' } })
  for (const value of [null, 1, 'a', [], undefined, new Date(), [{ id: 1 }]]) {
    t.strictSame(wrong(schema, value), [''])
  }
  const text = '{"id":1,"b":{"__proto__":{"x":1}},"c":[1e400],"d":"\\ud800"}'
  t.strictSame(wrong(schema, JSON.parse(text)), ['b.__proto__', 'c[0]', 'd'])
  let deep: unknown = 1
  for (let i = 0; i < 63; i++) deep = [deep]
  t.strictSame(wrong(schema, { id: 1, deep }), [])
  t.equal(wrong(schema, { id: 1, deep: [deep] }).length, 1)
})

t.test('no object brings fields of the system', async (t) => {
  for (const strict of [true, false]) {
    const schema = compile({ a: { type: 'object' } }, { strict })
    t.strictSame(wrong(schema, { id: 1, _id: 1, _x: 2, a: {} }), ['_id', '_x'])
    t.strictSame(wrong(schema, { id: 1, a: { _id: 1 } }), [])
  }
})

t.test(
  'a strict schema refuses what it does not declare, where it declares anything',
  async (t) => {
    const o = { type: 'object', properties: { a: { type: 'string' } } }
    const fields = {
      price: { type: 'number' },
      o,
      rows: { type: 'array', items: o },
      any: { type: 'object' },
    }
    const object = { id: 1, o: { b: 1 }, rows: [{ a: 'a', c: 1 }], any: { d: 1 }, pirce: 1 }
    const { paths, reasons } = checked(compile(fields, { strict: true }), object)
    t.strictSame(paths, ['o.b', 'rows[0].c', 'pirce'])
    t.match(reasons[2], /'price'/)
    t.strictSame(wrong(compile(fields), object), [])
  },
)

t.test('a missing field is told once, and null is no field left out', async (t) => {
  const schema = compile({
    id: { type: 'string', required: true },
    price: { type: 'number', required: true },
    when: { type: 'date' },
  })
  t.strictSame(wrong(schema, {}), ['id', 'price'])
  t.strictSame(wrong(schema, { id: 'a', price: null, when: null }), ['price', 'when'])
})

t.test('an id is a string of 1 to 1,024 bytes or a safe integer', async (t) => {
  const good = ['a', '😀', 'x'.repeat(1024), 'é'.repeat(512), 0, -7, 2 ** 53 - 1]
  const bad = ['', 'x'.repeat(1025), 'é'.repeat(512) + 'x', '\ud800', 1.5, 2 ** 53, NaN, null]
  const schema = compile({ a: { type: 'string' } })
  for (const id of good) {
    t.equal(checkId(id), undefined)
    t.strictSame(wrong(schema, { id }), [])
    t.equal(schema.idOf({ id }), id)
  }
  for (const id of [...bad, true, {}, [], undefined, 10n]) {
    t.type(checkId(id), 'string')
    t.strictSame(wrong(schema, { id }), ['id'])
  }
  t.strictSame(wrong(schema, { a: 'a' }), ['id'])
})

t.test('a declared id field is told once when it is wrong, and keeps its type', async (t) => {
  const schema = compile({ sku: { type: 'integer', min: 10 } }, { id_field: 'sku', strict: true })
  t.strictSame(wrong(schema, { sku: 10 }), [])
  for (const object of [{ sku: 9 }, { sku: 'a' }, { sku: null }, { sku: 1.5 }, { sku: {} }, {}]) {
    t.strictSame(wrong(schema, object), ['sku'])
  }
  t.equal(schema.idOf({ sku: 10 }), 10)
})

t.test('a strict schema admits an id field that it does not declare', async (t) => {
  const schema = compile({ a: { type: 'string' } }, { id_field: 'toString', strict: true })
  t.strictSame(wrong(schema, JSON.parse('{"toString":"x"}')), [])
  t.strictSame(wrong(schema, {}), ['toString'])
  t.strictSame(wrong(schema, JSON.parse('{"toString":"x","id":1}')), ['id'])
})

t.test(
  'a missing id is generated where the schema says so, a wrong one is not mended',
  async (t) => {
    const schema = compile({ a: { type: 'string', default: 'b' } }, { generate_ids: true })
    const { object: first } = checked(schema, { c: 1 })
    const { object: second } = checked(schema, { c: 1 })
    t.match(first, { id: /^[\w-]{24,33}$/, a: 'b', c: 1 })
    t.not(first?.['id'], second?.['id'])
    t.equal(checkId(first?.['id']), undefined)
    const own = { id: 'own', a: 'a' }
    t.equal(checked(schema, own).object, own)
    t.strictSame(wrong(schema, { id: '' }), ['id'])
    t.strictSame(wrong(schema, { id: null }), ['id'])
  },
)

t.test('defaults fill what is missing, at every depth, in a copy', async (t) => {
  const inner = { n: { type: 'integer', default: 1 }, m: { type: 'string' } }
  const o = { type: 'object', properties: inner }
  const schema = compile({
    price: { type: 'number', required: true, default: 0 },
    o,
    made: { ...o, default: { m: 'x' } },
    rows: { type: 'array', items: o },
    toString: { type: 'string', default: 's' },
  })
  const given = { id: 1, o: {}, rows: [{ n: 2 }, {}], price: 5 }
  const { object } = checked(schema, given)
  t.strictSame(
    { ...object },
    {
      id: 1,
      o: { n: 1 },
      rows: [{ n: 2 }, { n: 1 }],
      price: 5,
      made: { m: 'x', n: 1 },
      toString: 's',
    },
  )
  t.equal(checked(schema, object).object, object, 'nothing is missing any more')
  t.strictSame(wrong(schema, { id: 1, price: null, o: 7, rows: [7] }), ['price', 'o', 'rows[0]'])
})

t.test('names that hurt code made of them are names like others', async (t) => {
  const fields = Object.fromEntries(
    oddNames.map((name) => [name, { type: 'integer', required: true }]),
  )
  const good = Object.fromEntries(oddNames.map((name) => [name, 1]))
  const bad = Object.fromEntries(oddNames.map((name) => [name, '1']))
  for (const strict of [true, false]) {
    const inner = { type: 'object', properties: fields }
    const schema = compile({ ...fields, inner, list: { type: 'array', items: inner } }, { strict })
    t.strictSame(wrong(schema, { id: 1, ...good, inner: good, list: [good] }), [])
    const all = oddNames.length
    t.equal(wrong(schema, { id: 1, inner: good }).length, all, 'missing, whatever Object has')
    t.equal(wrong(schema, { id: 1, ...good, inner: bad }).length, all)
    t.equal(wrong(schema, { id: 1, ...good, list: [good, {}] }).length, all)
  }
  const loose = compile({ a: { type: 'string' } }, { strict: true })
  t.strictSame(wrong(loose, JSON.parse('{"id":1,"constructor":1}')), ['constructor'])
})

t.test('reasons are sentences of bounded length', async (t) => {
  const schema = compile({
    price: { type: 'number' },
    state: { type: 'enum', values: Array.from({ length: 200 }, (_, i) => `v${i}`) },
    name: { type: 'string', max_length: 5 },
  })
  const { reasons } = checked(schema, {
    id: 'x'.repeat(100_000),
    price: 'y'.repeat(100_000),
    state: ['z'.repeat(100_000)],
    name: '\u0000'.repeat(100_000),
    ['n'.repeat(100_000)]: 1,
  })
  t.equal(reasons.length, 4)
  for (const reason of reasons) t.ok(reason.length > 10 && reason.length < 400, reason)
  t.match(checked(schema, { id: 1, price: '12' }).reasons[0], /"12"/)
})

const seed = pickSeed()
t.test(`objects are refused exactly where a naive check refuses them (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  let good = 0
  let bad = 0
  for (let i = 0; i < 300; i++) {
    const schema = compileSchema(parseSchemaDefinition(randomDefinition(random)))
    const { definition } = schema
    for (let k = 0; k < 30; k++) {
      let object = { id: 7, ...goodObject(random, definition.fields) } as JsonValue
      for (let faults = random.below(3); faults > 0; faults--) object = disturbed(random, object)
      const expected = naive(definition.fields, definition.strict, object, true)
      const { object: stored, paths, reasons } = checked(schema, object)
      if ((stored !== undefined) !== expected) {
        t.fail('not as the naive check says', { definition, object, paths, reasons })
      }
      if (stored === undefined) bad++
      else {
        good++
        if (checked(schema, stored).object !== stored) t.fail('stored is not stable', { stored })
      }
    }
  }
  t.ok(good > 2_000 && bad > 2_000, `${good} good and ${bad} bad ones`)
})

function naive(
  fields: Readonly<Record<string, FieldDefinition>>,
  strict: boolean,
  object: JsonValue,
  top: boolean,
): boolean {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return false
  const own = new Map(Object.entries(object as JsonObject))
  const { id } = Object.fromEntries(own) as { id?: unknown }
  if (top && !((typeof id === 'string' && id !== '') || Number.isSafeInteger(id))) return false
  for (const name of own.keys()) {
    if (strict && !(top && name === 'id') && !Object.keys(fields).includes(name)) return false
  }
  return Object.entries(fields).every(([name, field]) => {
    const value = own.get(name)
    if (value === undefined) return field.default !== undefined || !field.required
    return naiveField(field, strict, value)
  })
}

function naiveField(field: FieldDefinition, strict: boolean, value: JsonValue): boolean {
  const { type, min = -Infinity, max = Infinity, min_length = 0, max_length = Infinity } = field
  const isSized = (size: number) => size >= min_length && size <= max_length
  if (value === null && field.nullable) return true
  switch (type) {
    case 'any':
      return true
    case 'string':
    case 'text':
      return typeof value === 'string' && isSized([...value].length)
    case 'number':
      return typeof value === 'number' && value >= min && value <= max
    case 'integer':
      return Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
    case 'boolean':
      return value === true || value === false
    case 'enum':
      return field.values?.some((one) => one === value) ?? false
    case 'array': {
      if (!Array.isArray(value)) return false
      const { items } = field
      return (
        isSized(value.length) && (!items || value.every((one) => naiveField(items, strict, one)))
      )
    }
    case 'object':
      if (field.properties) return naive(field.properties, strict, value, false)
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    default:
      return goodStrings[type]?.some((good) => good === value) ?? false
  }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}
