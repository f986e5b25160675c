// Payloads of each dialect, by hand after docs/dialects.md, and what a core makes of them.

import { encode } from '@msgpack/msgpack'

export interface Payload {
  readonly name: string
  readonly dialect: string
  readonly bytes: Buffer
  /** The specification's messages that it becomes; `undefined` for what no core has a place for. */
  readonly messages: readonly unknown[]
  readonly skipped?: Readonly<Record<string, number>>
}

export const target = { id: 'core', user: 'alice' }

const iri = (i: string) => ({ t: 'i', i })
const entity = (v: string) => ({ v, e: true })
const text = (v: string) => ({ v, e: false })
const [cats, isA, animal] = ['http://x.org/cats', 'https://x.org/is-a', 'http://x.org/animal']
const full = { i: 'core', m: [], u: 'alice', c: 'default' }
const statement = { s: entity(cats), p: entity(isA), o: entity(animal) }
const typed = { s: iri(cats), p: iri(isA), o: iri(animal) }

const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const integer = 'http://www.w3.org/2001/XMLSchema#integer'
const xsdString = 'http://www.w3.org/2001/XMLSchema#string'

export const lm = [
  'lm',
  { i: 'doc', k: 'application/pdf', t: 'Cats', p: '', d: 'source', c: '', g: ['pets'] },
]
export const lb = ['lb', { i: 'doc', d: new Uint8Array(40) }]
const de = ['de', { m: { i: 'doc', m: 'doc', c: 'default' }, c: [{ i: 'chunk', v: [0.5, 1] }] }]

export const payloads: readonly Payload[] = [
  payload(
    'plain strings, one entity a message (0.16.6)',
    'trustgraph-0',
    [
      [
        't',
        {
          m: { i: 'doc', m: [{ s: cats, p: isA, o: 'text' }], u: 'trustgraph', c: 'pets' },
          t: [
            { s: cats, p: isA, o: animal },
            { s: cats, p: 'label', o: 'httpd: a cat' },
            { s: cats, p: 'label', o: 'ftp://no' },
          ],
        },
      ],
      ['ge', { m: { i: 'doc', m: [], u: 'trustgraph', c: 'pets' }, v: [[0.5, 1.5]], e: cats }],
    ],
    [
      [
        't',
        {
          m: { ...full, m: [{ s: entity(cats), p: entity(isA), o: text('text') }], c: 'pets' },
          t: [
            statement,
            { s: entity(cats), p: text('label'), o: text('httpd: a cat') },
            { s: entity(cats), p: text('label'), o: text('ftp://no') },
          ],
        },
      ],
      ['ge', { m: { ...full, c: 'pets' }, e: [{ e: entity(cats), v: [[0.5, 1.5]] }] }],
    ],
  ),
  payload(
    'one entity a message (0.16.7 to 0.19.18)',
    'trustgraph-0',
    [['ge', { m: { ...full, i: 'doc' }, v: [[0.5, 1.5], [2.5]], e: entity(cats) }]],
    [['ge', { m: full, e: [{ e: entity(cats), v: [[0.5, 1.5], [2.5]] }] }]],
  ),
  payload(
    'value and is_uri (documentation of 1.x)',
    'trustgraph-1-docs',
    [
      [
        't',
        {
          m: full,
          t: [
            {
              s: { value: cats, is_uri: true },
              p: { value: isA, is_uri: true },
              o: { value: animal, is_uri: false },
            },
          ],
        },
      ],
      ['ge', { m: full, e: [{ e: { value: cats, is_uri: true }, v: [[0.5]] }] }],
    ],
    [
      ['t', { m: full, t: [{ ...statement, o: text(animal) }] }],
      ['ge', { m: full, e: [{ e: entity(cats), v: [[0.5]] }] }],
    ],
  ),
  payload(
    'terms with types, all of m (2.0)',
    'trustgraph-2',
    [
      [
        't',
        {
          m: { i: 'doc', m: [typed], u: 'trustgraph', c: 'pets' },
          t: [
            typed,
            { s: iri(cats), p: iri(isA), o: { t: 'l', v: 'Katze', ln: 'de' } },
            { s: iri(cats), p: iri(isA), o: { t: 'l', v: '9', dt: integer } },
            { s: iri(cats), p: iri(isA), o: { t: 'l', v: 'x', dt: xsdString, ln: '' } },
            { s: { t: 'b', d: 'n1' }, p: iri(isA), o: { t: 'b', d: '_:n2' } },
          ],
        },
      ],
      ['ge', { m: { i: 'doc', m: [], u: 'u', c: 'c' }, e: [{ e: iri(cats), v: [[0.5], [1.5]] }] }],
    ],
    [
      [
        't',
        {
          m: { ...full, m: [statement], c: 'pets' },
          t: [
            statement,
            { s: entity(cats), p: entity(isA), o: { ...text('Katze'), ln: 'de' } },
            { s: entity(cats), p: entity(isA), o: { ...text('9'), dt: integer } },
            { s: entity(cats), p: entity(isA), o: text('x') },
            { s: entity('_:n1'), p: entity(isA), o: entity('_:n2') },
          ],
        },
      ],
      ['ge', { m: { ...full, c: 'c' }, e: [{ e: entity(cats), v: [[0.5], [1.5]] }] }],
    ],
  ),
  payload(
    'd and l on literals (published documentation)',
    'trustgraph-2',
    [
      [
        't',
        {
          m: full,
          t: [
            { s: iri(cats), p: iri(isA), o: { t: 'l', v: 'chat', l: 'fr' } },
            { s: iri(cats), p: iri(isA), o: { t: 'l', v: '9', d: integer } },
          ],
        },
      ],
    ],
    [
      [
        't',
        {
          m: full,
          t: [
            { s: entity(cats), p: entity(isA), o: { ...text('chat'), ln: 'fr' } },
            { s: entity(cats), p: entity(isA), o: { ...text('9'), dt: integer } },
          ],
        },
      ],
    ],
  ),
  payload(
    'm without m, flat vectors (2.3)',
    'trustgraph-2',
    [
      ['t', { m: { i: 'doc', u: 'u', c: 'default' }, t: [typed] }],
      ['ge', { m: { i: 'doc', u: 'u', c: 'default' }, e: [{ e: iri(cats), v: [0.5, 1, 2.5] }] }],
    ],
    [
      ['t', { m: full, t: [statement] }],
      ['ge', { m: full, e: [{ e: entity(cats), v: [[0.5, 1, 2.5]] }] }],
    ],
  ),
  payload(
    'm of i and c (2.4), named graphs (2.5)',
    'trustgraph-2',
    [
      ['t', { m: { i: 'doc', c: 'pets' }, t: [typed, { ...typed, g: 'urn:graph:source' }] }],
      ['t', { m: { i: 'doc' }, t: [{ ...typed, g: '' }] }],
      ['ge', { m: { i: 'doc', c: 'pets' }, e: [] }],
    ],
    [
      ['t', { m: { ...full, c: 'pets' }, t: [statement, { ...statement, g: 'urn:graph:source' }] }],
      ['t', { m: full, t: [statement] }],
      ['ge', { m: { ...full, c: 'pets' }, e: [] }],
    ],
  ),
  payload(
    'm as the id of a document, lm and lb (2.5.10)',
    'trustgraph-2',
    [['t', { m: { i: 'doc', m: 'doc', c: 'default' }, t: [typed] }], lm, lb, lb],
    [['t', { m: full, t: [statement] }]],
    { lm: 1, lb: 2 },
  ),
  payload(
    'terms of the specification with flat vectors, and eos (documentation of 2.x)',
    'trustgraph-2',
    [
      ['t', { m: { i: 'doc', m: [], c: 'default' }, t: [statement] }],
      ['ge', { m: { i: 'doc', m: [], c: 'default' }, e: [{ e: entity(cats), v: [0.5] }] }],
      ['eos', {}],
    ],
    [
      ['t', { m: full, t: [statement] }],
      ['ge', { m: full, e: [{ e: entity(cats), v: [[0.5]] }] }],
    ],
  ),
  payload('document embeddings alone', 'document-embeddings', [de, de], [], { de: 2 }),
  payload(
    'nil for id, user and collection',
    'loose',
    [['t', { m: { i: null, m: null, u: null, c: null }, t: [statement] }]],
    [['t', { m: full, t: [statement] }]],
  ),
  {
    name: 'keys, types and texts as binary',
    dialect: 'loose',
    bytes: asBinary(Buffer.from(encode(['t', { m: full, t: [statement] }]))),
    messages: [['t', { m: full, t: [statement] }]],
  },
  payload(
    'files of several eras, one after the other',
    'mixed',
    [
      ['t', { m: { i: 'doc', m: [], u: 'u', c: 'pets' }, t: [{ s: cats, p: isA, o: animal }] }],
      ['t', { m: full, t: [statement] }],
      ['t', { m: { i: 'doc', c: 'pets' }, t: [typed] }],
    ],
    [
      ['t', { m: { ...full, c: 'pets' }, t: [statement] }],
      ['t', { m: full, t: [statement] }],
      ['t', { m: { ...full, c: 'pets' }, t: [statement] }],
    ],
  ),
  payload(
    'members that no dialect has',
    'trustgraph-2',
    [['t', { m: { i: 'doc', c: 'c', zz: 1 }, yy: [[]], t: [{ ...typed, xx: { x: 1 } }] }]],
    [['t', { m: { ...full, c: 'c' }, t: [statement] }]],
    { members: 3 },
  ),
]

export const parts = { iri, entity, text, cats, isA, animal, full, statement, typed, rdf }

function payload(
  name: string,
  dialect: string,
  messages: readonly unknown[],
  expected: readonly unknown[],
  skipped?: Readonly<Record<string, number>>,
): Payload {
  const bytes = pack(...messages)
  return { name, dialect, bytes, messages: expected, ...(skipped && { skipped }) }
}

export function pack(...messages: readonly unknown[]): Buffer {
  return Buffer.concat(messages.map((message) => encode(message)))
}

/** Every short string as binary, which has the same length and another header. */
function asBinary(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at++) {
    const first = bytes[at] as number
    const isShort = first >= 0xa0 && first <= 0xbf
    const length = isShort ? first & 0x1f : 0
    if (isShort) parts.push(Buffer.of(0xc4, length), bytes.subarray(at + 1, at + 1 + length))
    else parts.push(bytes.subarray(at, at + 1))
    at += length
  }
  return Buffer.concat(parts)
}

const vector = Array.from({ length: 100 }, (_, n) => n + 0.5)
const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)

/** Messages of some 500 kB, each long in another place, typed and as the specification has them. */
export const longMessages = [
  {
    where: 'triples',
    typed: pack(['t', { m: { i: 'core', c: 'default' }, t: many(4000, typed) }]),
    specified: pack(['t', { m: full, t: many(4000, statement) }]),
  },
  {
    where: 'metadata',
    typed: pack(['t', { m: { i: 'core', m: many(4000, typed), c: 'default' }, t: [typed] }]),
    specified: pack(['t', { m: { ...full, m: many(4000, statement) }, t: [statement] }]),
  },
  {
    where: 'embeddings',
    typed: pack([
      'ge',
      { m: { i: 'core', c: 'default' }, e: many(600, { e: iri(cats), v: vector }) },
    ]),
    specified: pack(['ge', { m: full, e: many(600, { e: entity(cats), v: [vector] }) }]),
  },
  {
    where: 'vectors of one entity',
    typed: pack([
      'ge',
      { m: { i: 'core', c: 'default' }, e: [{ e: iri(cats), v: many(600, vector) }] },
    ]),
    specified: pack(['ge', { m: full, e: [{ e: entity(cats), v: many(600, vector) }] }]),
  },
] as const
