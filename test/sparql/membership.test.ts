// IN and NOT IN, whose lists are looked up where they can be.

import fc from 'fast-check'
import t from 'tap'
import type { EngineLiteral, EngineParts, EngineTerm } from '../../src/sparql/engine-parts.js'
import { lookUpMembers } from '../../src/sparql/membership.js'
import { xsd, xsdString } from '../../src/terms.js'
import { pickSeed } from '../fixtures/random.js'
import { iri, ours, ready } from './oracle.js'

t.setTimeout(120_000)

const data = ready([{ s: iri('a'), p: iri('p'), o: iri('b') }])

const prefix = 'PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>'
const terms = ['<urn:a>', '<urn:b>', '"a"', '"b"', '"1"', '"a"@en', '"a"@EN', '"b"@de', '1', '2']
const others = ['1.0', '1e0', '"NaN"^^xsd:double', 'true', '"x"^^xsd:integer', '"a"^^<urn:type>']
const dates = ['"2026-11-28"^^xsd:date', '"2026-11-28T00:00:00Z"^^xsd:dateTime']
const someTerm = fc.constantFrom(...terms, ...others, ...dates)
// What is no term as it stands: an error, nothing, and what is another one in each row.
const someExpression = fc.oneof(
  { weight: 6, arbitrary: someTerm },
  { weight: 1, arbitrary: fc.constantFrom('1/0', '?none', '?v', '?w', 'STR(?v)', '1 + 1') },
)

const seed = pickSeed()
t.test(`a list is each of its terms by itself (SEED=${seed})`, async (t) => {
  const property = fc.asyncProperty(
    fc.array(someTerm, { minLength: 1, maxLength: 4 }),
    someTerm,
    fc.array(someExpression, { minLength: 1, maxLength: 6 }),
    async (values, other, list) => {
      const pattern = `{ VALUES ?v { ${values.join(' ')} } VALUES ?w { ${other} } }`
      const answered = (isIn: string, isOut: string) =>
        ours(data, `${prefix} SELECT ?v (${isIn} AS ?in) (${isOut} AS ?out) ${pattern}`)
      // As SPARQL 1.1 defines them.
      const expected = await answered(
        list.map((term) => `(?v = ${term})`).join(' || '),
        list.map((term) => `(?v != ${term})`).join(' && '),
      )
      const written = list.join(', ')
      const found = await answered(`?v IN (${written})`, `?v NOT IN (${written})`)
      if (found.join('\n') !== expected.join('\n')) {
        throw new Error(`${pattern} (${written})\n${found.join('\n')}\nnot\n${expected.join('\n')}`)
      }
    },
  )
  await t.resolves(fc.assert(property, { seed, numRuns: 300 }))
})

t.test('IRIs and texts are looked up, and what is an error is one once', async (t) => {
  const list = (term: (n: number) => string) => Array.from({ length: 2000 }, (_, n) => term(n))
  for (const [sought, terms, most] of [
    [iriTerm('urn:none'), list((n) => `urn:${n}`).map(iriTerm), 0],
    [textTerm('none'), list(String).map(textTerm), 0],
    [textTerm('none'), list(String).map(numberTerm), 1],
    [numberTerm('0'), list(String).map(textTerm), 1],
    [iriTerm('urn:none'), [...list(String).map(textTerm), ...list(String).map(numberTerm)], 0],
  ] as const) {
    let compared = 0
    const no = textTerm('')
    const applyOnTerms = () => (compared++, no)
    const equalityFunction = { operator: '=', apply: () => Promise.resolve(no), applyOnTerms }
    const made = { operator: 'in', apply: () => Promise.resolve(no), equalityFunction }
    lookUpMembers(made, { bool: () => no } as unknown as EngineParts)
    const exprEval = { evaluatorExpressionEvaluation: (term: unknown) => Promise.resolve(term) }
    await (made.apply as (context: unknown) => Promise<unknown>)({
      args: [sought, ...terms],
      exprEval,
    })
    t.equal(compared, most)
  }
})

const termOf = (fields: Omit<EngineTerm, 'str'> & Partial<EngineLiteral>, text: string) => ({
  ...fields,
  expressionType: 'term',
  str: () => text,
})
const iriTerm = (iri: string) => termOf({ termType: 'namedNode' }, iri)
const textTerm = (text: string) => termOf({ termType: 'literal', dataType: xsdString }, text)
const numberTerm = (text: string) =>
  termOf({ termType: 'literal', dataType: `${xsd}integer`, typedValue: Number(text) }, text)
