// Rows whose terms read the same one behind the other.

import fc from 'fast-check'
import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { iri, ours, ready, theirs } from './oracle.js'

t.setTimeout(120_000)

const data = ready([{ s: iri('a'), p: iri('p'), o: iri('b') }])

const queries = `
  SELECT ?a ?b (COUNT(*) AS ?n) { VALUES (?a ?b) { ("x" 'y""z') ('x""y' "z") } } GROUP BY ?a ?b
  SELECT ?a ?b (COUNT(*) AS ?n) { VALUES (?a ?b) { (UNDEF "a") ("a" UNDEF) } } GROUP BY ?a ?b
  SELECT ?a ?b (SUM(?c) AS ?n) { VALUES (?a ?b ?c) { (UNDEF 1 2) (1 UNDEF 3) } } GROUP BY ?a ?b
  SELECT DISTINCT ?a ?b { VALUES (?a ?b) { ("x" 'y"-"z') ('x"-"y' "z") } }
  SELECT DISTINCT ?a ?b { VALUES (?a ?b) { (UNDEF "a") ("a" UNDEF) (UNDEF "a") } }
  SELECT (COUNT(DISTINCT *) AS ?n) { VALUES (?a ?b) { ("x" 'y","z') ('x","y' "z") } }
  SELECT (COUNT(DISTINCT *) AS ?n) { VALUES (?a ?b) { (UNDEF 1) (1 UNDEF) (UNDEF 1) } }`

t.test('rows whose terms read the same are told apart', async (t) => {
  for (const query of queries.trim().split('\n')) {
    t.strictSame(await ours(data, query), theirs(data, query), query)
  }
})

const names = ['a', 'b', 'c']
// Of what the engine writes between terms, and around them.
const someText = fc.array(fc.constantFrom('"', '-', ',', '^^', '@', 'x'), { maxLength: 5 })
const someTerm = someText.map((parts) => JSON.stringify(parts.join('')))
const someRows = fc.array(
  fc.array(fc.oneof(someTerm, fc.constantFrom('UNDEF', '<urn:x>', '1')), {
    minLength: names.length,
    maxLength: names.length,
  }),
  { minLength: 1, maxLength: 12 },
)

const seed = pickSeed()
t.test(`any rows are grouped and counted as by another engine (SEED=${seed})`, async (t) => {
  const property = fc.asyncProperty(someRows, async (rows) => {
    const written = rows.map((row) => `(${row.join(' ')})`).join(' ')
    const pattern = `{ VALUES (${names.map((name) => `?${name}`).join(' ')}) { ${written} } }`
    for (const query of [
      `SELECT DISTINCT ?a ?b ${pattern}`,
      `SELECT (COUNT(DISTINCT *) AS ?n) ${pattern}`,
      `SELECT ?a ?b (COUNT(*) AS ?n) ${pattern} GROUP BY ?a ?b`,
    ]) {
      const [found, expected] = [await ours(data, query), theirs(data, query)]
      if (found.join('\n') !== expected.join('\n')) {
        throw new Error(`${query}\n${found.join('\n')}\nand not\n${expected.join('\n')}`)
      }
    }
  })
  await t.resolves(fc.assert(property, { seed, numRuns: 100 }))
})
