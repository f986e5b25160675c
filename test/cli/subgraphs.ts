// Subgraphs as retrieve() gives them.

import type { Subgraph } from '../../src/graph/types.js'
import type { Term, Triple } from '../../src/types.js'
import { vocabulary } from '../../src/vocabulary.js'

export const entity = (v: string): Term => ({ v, e: true })
export const literal = (v: string): Term => ({ v, e: false })

export function statement(s: string, p: string, o: Term): Triple {
  return { s: entity(s), p: entity(p), o }
}

export const nothing: Subgraph = { entities: [], triples: [], labels: {}, sources: [] }

/** Two entities that were found, a name that is no label, and passages with and without a text. */
export const boat: Subgraph = {
  entities: [
    { entity: entity('urn:dick'), score: 0.75, core: 'novel' },
    { entity: entity('urn:thames'), score: 0.5, core: 'novel' },
  ],
  triples: [
    statement('urn:dick', vocabulary.label, literal('Dick')),
    statement('urn:dick', 'urn:rows', entity('urn:boat')),
    statement('urn:dick', vocabulary.wasDerivedFrom, entity('urn:doc/c1')),
    statement('urn:doc/c1', vocabulary.position, literal('1')),
    statement('urn:boat', 'urn:#paintedIn', literal('green')),
    statement('urn:clara', 'urn:hair', literal('green')),
    statement('urn:ellen', 'urn:mended', entity('urn:boat')),
    statement('urn:guest', 'urn:p1', entity('urn:dick')),
  ],
  labels: {
    'urn:dick': 'Dick',
    'urn:boat': 'boat',
    'urn:thames': 'The Thames',
    'urn:p1': 'knows',
    'urn:doc': 'News from Nowhere',
  },
  sources: [
    {
      chunk: entity('urn:doc/c1'),
      document: entity('urn:doc'),
      core: 'novel',
      start: 120,
      end: 164,
      text: '\nHe sculled\r\n  the boat.\n',
      score: 0.9,
      legs: {},
      via: [],
      entities: [entity('urn:dick'), entity('urn:boat')],
    },
    {
      chunk: entity('urn:doc/c2'),
      core: 'novel',
      score: 0.25,
      legs: {},
      via: [],
      entities: [entity('urn:boat')],
    },
  ],
}
