// What MINUS takes away, where rows lack some of the variables.

import fc from 'fast-check'
import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { iri, ours, ready, theirs } from './oracle.js'

t.setTimeout(120_000)

const data = ready([{ s: iri('a'), p: iri('p'), o: iri('a') }])

const queries = `
  VALUES (?a ?d) { (UNDEF 1) } MINUS { VALUES (?a ?d) { (1 UNDEF) } }
  VALUES (?a ?d) { (UNDEF 1) } MINUS { VALUES (?a ?d) { (1 UNDEF) (2 1) } }
  VALUES (?a ?d) { (1 UNDEF) (2 3) (2 4) } MINUS { VALUES (?a ?d) { (UNDEF 4) (1 5) } }
  VALUES (?a ?d) { (UNDEF UNDEF) (1 1) } MINUS { VALUES (?a ?d) { (UNDEF UNDEF) (UNDEF 1) } }
  VALUES ?d { 1 } OPTIONAL { ?x :r ?a } MINUS { ?a :p ?b OPTIONAL { ?b :r ?d } }
  ?s :p ?o OPTIONAL { ?s :q ?a } MINUS { ?a :p ?b OPTIONAL { ?b :r ?o } }
  ?s :p ?o OPTIONAL { ?s :q ?a } MINUS { ?a :p ?s OPTIONAL { ?s :r ?o } }
  ?s :p ?o MINUS { ?x :p ?y OPTIONAL { ?y :q ?s } }
  VALUES (?a ?b) { ("x" 'y""z') } MINUS { VALUES (?a ?b) { ('x""y' "z") } }
  VALUES (?a ?b) { (<urn:x> <yurn:z>) } MINUS { VALUES (?a ?b) { (<urn:xy> <urn:z>) } }`

t.test('MINUS takes no row away that has no variable in common', async (t) => {
  for (const pattern of queries.trim().split('\n')) {
    const query = `SELECT * { ${pattern.trim()} }`
    t.strictSame(await ours(data, query), theirs(data, query), query)
  }
})

const names = ['a', 'b', 'c']
type Row = readonly (number | undefined)[]
const someRows = fc.array(
  fc.array(fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }), {
    minLength: names.length,
    maxLength: names.length,
  }),
  { minLength: 1, maxLength: 5 },
)

const valuesOf = (rows: readonly Row[]) =>
  `VALUES (?a ?b ?c) { ${rows.map((row) => `(${row.map((each) => each ?? 'UNDEF').join(' ')})`).join(' ')} }`

const seed = pickSeed()
t.test(`MINUS of any rows is by the standard's words (SEED=${seed})`, async (t) => {
  const property = fc.asyncProperty(someRows, someRows, async (left, right) => {
    const kept = left.filter((row) => !right.some((other) => isTakenBy(row, other)))
    const query = (pattern: string) => ours(data, `SELECT * { ${pattern} }`)
    const found = await query(`${valuesOf(left)} MINUS { ${valuesOf(right)} }`)
    const expected = kept.length === 0 ? [] : await query(valuesOf(kept))
    if (found.join('\n') !== expected.join('\n')) {
      throw new Error(`${found.join('\n')}\nand not\n${expected.join('\n')}`)
    }
  })
  await t.resolves(fc.assert(property, { seed, numRuns: 200 }))
})

function isTakenBy(row: Row, other: Row): boolean {
  const common = [...names.keys()].filter((at) => row[at] !== undefined && other[at] !== undefined)
  return common.length > 0 && common.every((at) => row[at] === other[at])
}
