import fc from 'fast-check'
import t from 'tap'
import { aDatatype, aLanguage, REFUSED, stateAfter, type NameRule } from '../src/terms.js'

const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'

/** Byte by byte, in two pieces. */
function isName(rule: NameRule, name: string, cut: number): boolean {
  const bytes = Buffer.from(name)
  const first = stateAfter(rule, 0, bytes, 0, Math.min(cut, bytes.length))
  const state = stateAfter(rule, first, bytes, Math.min(cut, bytes.length), bytes.length)
  return state !== REFUSED && rule.isWhole(state)
}

function like(rule: NameRule, some: fc.Arbitrary<string>, fits: (name: string) => boolean) {
  fc.assert(
    fc.property(some, fc.nat(70), (name, cut) => isName(rule, name, cut) === fits(name)),
    { numRuns: 2000 },
  )
}

t.test('a datatype is an IRI with a scheme, and none of a language', async (t) => {
  const near = fc.tuple(
    fc.constantFrom('langString', 'dirLangString', 'langStrings', 'lang'),
    fc.nat(70),
  )
  const some = fc.oneof(
    near.map(([name, length]) => `${rdf}${name}`.slice(0, length)),
    near.map(([name]) => rdf + name),
    fc.string({ unit: fc.constantFrom(...'aZ09+-.:/#é <'), maxLength: 8 }),
  )
  const iri = /^[a-z][a-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*$/i
  const none = [`${rdf}langString`, `${rdf}dirLangString`]
  like(aDatatype, some, (name) => iri.test(name) && !none.includes(name))
  t.pass()
})

t.test('a language is of parts of eight characters at most', async (t) => {
  const some = fc.array(fc.string({ unit: fc.constantFrom(...'aZ09'), maxLength: 10 }), {
    maxLength: 4,
  })
  const tag = /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/i
  like(
    aLanguage,
    some.map((parts) => parts.join('-')),
    (name) => tag.test(name),
  )
  like(aLanguage, fc.string({ unit: fc.constantFrom(...'ab-é@'), maxLength: 5 }), (name) =>
    tag.test(name),
  )
  t.pass()
})
