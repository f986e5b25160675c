import t from 'tap'
import { BrokenInput } from '../../src/cli/input/json-splitter.js'
import { readObjects } from '../../src/cli/input/object-input.js'
import type { InputObject } from '../../src/cli/input/object-input.js'

async function read(input: string | Uint8Array, skip = 0): Promise<InputObject[]> {
  const source = async function* () {
    yield Buffer.from(input)
  }
  const found: InputObject[] = []
  for await (const object of (await readObjects(source(), skip)).objects) found.push(object)
  return found
}

/** The line that is complained about. */
async function brokenLine(reading: Promise<unknown>): Promise<number> {
  const error: unknown = await reading.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof BrokenInput)) throw error
  return error.line
}

const reportLine = (object: string) =>
  `{"line":3,"index":2,"id":null,"errors":[{"path":"object","message":"\\"object\\": no"}],"object":${object}}`

t.test('objects come with their place and their own words', async (t) => {
  t.same(await read('{"a":1.50}\n\n{"b":\n[2]}\n'), [
    { index: 0, line: 1, text: '{"a":1.50}', value: { a: 1.5 } },
    { index: 1, line: 3, text: '{"b": [2]}', value: { b: [2] } },
  ])
})

t.test('the first of them can be passed over, but no more than there are', async (t) => {
  const input = '[{"a":0},{"a":1},{"a":2}]'
  t.match(await read(input, 2), [{ index: 2, value: { a: 2 } }])
  t.same(await read(input, 3), [])
  await t.rejects(read(input, 4))
})

t.test('what no store can take is known for what it is', async (t) => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
  const input = `[1, null, [], "a", {"a":1,"b":{"c":1,"c":2}}, ${deep(199)}, ${deep(198)}, {"__proto__":1}]`
  const flawed = (await read(input)).map(({ flaw }) => flaw !== undefined)
  t.same(flawed, [true, true, true, true, true, true, false, false])
})

t.test('the lines of a report stand for their objects, in their own words', async (t) => {
  const lines = ['{ "a":1e400 }', '[1]', '{"object":{"object":2}}'].map(reportLine)
  const [huge, array, nested] = await read(lines.join('\n'))
  t.match(huge, { index: 0, line: 1, text: '{ "a":1e400 }', value: { a: Infinity } })
  t.match(array, { index: 1, flaw: String })
  t.match(nested, { text: '{"object":{"object":2}}', value: { object: { object: 2 } } })
  t.notOk(huge !== undefined && 'flaw' in huge)
})

t.test('objects that look like the lines of a report in part are objects', async (t) => {
  const more = reportLine('{}').replace('{', '{"more":1,')
  t.match(await read(`{"object":{}}\n${more}`), [
    { value: { object: {} } },
    { value: { more: 1, object: {} } },
  ])
})

t.test('a report has nothing else in it, and the object at the end', async (t) => {
  const moved = '{"object":{},"line":3,"index":2,"id":null,"errors":[]}'
  t.equal(await brokenLine(read(`${reportLine('{}')}\n{"id":1}`)), 2)
  t.equal(await brokenLine(read(moved)), 1)
})

t.test('what is neither JSON nor UTF-8 ends it there', async (t) => {
  t.equal(await brokenLine(read('{"a":1}\n{a:1}')), 2)
  t.equal(await brokenLine(read('{"a":tru}')), 1)
  t.equal(await brokenLine(read(Buffer.from('{"a":"\xff"}', 'latin1'))), 1)
  const source = async function* () {
    yield Buffer.from('{"a":1}\n{"b":')
  }
  const found: InputObject[] = []
  const { objects } = await readObjects(source(), 0)
  await t.rejects(async () => {
    for await (const object of objects) found.push(object)
  })
  t.match(found, [{ value: { a: 1 } }])
})
