// Queries that were never answered: the process ended while this file waited.

import t from 'tap'
import { blank, iri, ours, ready, text, theirs } from './oracle.js'

t.setTimeout(120_000)

const two = ready([
  { s: iri('b'), p: iri('r'), o: text('x') },
  { s: blank('n'), p: iri('r'), o: iri('b') },
])

t.test('a union goes on with its other patterns when one ends while it is read', async (t) => {
  const patterns = `
    ?a :r ?d { { ?b :r ?c . ?c :r ?b . ?c ?d ?d } UNION {} }
    ?a :r ?d OPTIONAL { { ?b :r ?c . ?c :r ?b . ?c ?d ?d } UNION {} }
    ?a :r ?d OPTIONAL { { { ?b :r ?c . ?c :r ?b } ?c ?d ?d } UNION {} }
    ?a :r ?d { { ?b :r ?c . ?c :r ?b . ?c ?d ?d } UNION { ?a :r ?e } UNION {} }`
  for (const pattern of patterns.trim().split('\n')) {
    const query = `SELECT * { ${pattern.trim()} }`
    t.strictSame(await ours(two, query), theirs(two, query), query)
  }
})
