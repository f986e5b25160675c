// The wire tables of a core stream as numbers: what may be expected at a place, which is also the
// kind of the array or map that is open there.

export const MESSAGE = 1
export const TYPE = 2
export const TRIPLES_DATA = 3
export const EMBEDDINGS_DATA = 4
const METADATA = 5
export const ID = 6
export const USER = 7
export const STRING = 8
export const TRIPLES = 9
export const METADATA_TRIPLES = 10
export const TRIPLE = 11
export const TERM = 12
export const BOOLEAN = 13
export const EMBEDDINGS = 14
export const EMBEDDING = 15
export const VECTORS = 16
export const VECTOR = 17
export const NUMBER = 18
export const ANY = 19
export const DATATYPE = 20
export const LANGUAGE = 21
export const GRAPH = 22
export const KEY = 23

/** What the elements of an array of this kind are. */
export const elementOf = new Uint8Array(KEY + 1)
elementOf[TRIPLES] = TRIPLE
elementOf[METADATA_TRIPLES] = TRIPLE
elementOf[EMBEDDINGS] = EMBEDDING
elementOf[VECTORS] = VECTOR
elementOf[VECTOR] = NUMBER
elementOf[ANY] = ANY

type Fields = Readonly<Record<string, number>>

/** The fields of each map of the wire tables: those required, and those that may be, each at most once. */
const fields: readonly (readonly [kind: number, required: Fields, optional?: Fields])[] = [
  [TRIPLES_DATA, { m: METADATA, t: TRIPLES }],
  [EMBEDDINGS_DATA, { m: METADATA, e: EMBEDDINGS }],
  [METADATA, { i: ID, m: METADATA_TRIPLES, u: USER, c: STRING }],
  [TRIPLE, { s: TERM, p: TERM, o: TERM }, { g: GRAPH }],
  [TERM, { v: STRING, e: BOOLEAN }, { dt: DATATYPE, ln: LANGUAGE }],
  [EMBEDDING, { e: TERM, v: VECTORS }],
]

/** By kind * 256 + codeOfKey(): what a field's value is, 0 where there is no such field. */
export const fieldOf = new Uint8Array((KEY + 1) * 256)
/** The same, as a bit of its own within the map. */
export const fieldBitOf = new Uint8Array((KEY + 1) * 256)
/** By kind: the bits of the fields that are required; 0 for a map that is not of the wire tables. */
export const requiredOf = new Uint8Array(KEY + 1)

const codes: Readonly<Record<string, number>> = { dt: 0x80, ln: 0x81 }
/** By code: the name of a field. */
export const nameOfCode: readonly string[] = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...Object.keys(codes),
]

/** The number of a field's name: of one letter that, of two a number behind them; -1 for others. */
export function codeOfKey(bytes: Uint8Array, length: number): number {
  const [first = 0, second] = bytes
  if (length === 1) return first < 0x80 ? first : -1
  if (length !== 2) return -1
  if (first === 0x64 && second === 0x74) return 0x80
  return first === 0x6c && second === 0x6e ? 0x81 : -1
}

/** The bits of a term's optional fields, and one for its being an entity. */
export const DATATYPE_BIT = 4
export const LANGUAGE_BIT = 8
export const ENTITY_BIT = 128

for (const [kind, required, optional = {}] of fields) {
  let bit = 1
  for (const [name, expected] of Object.entries({ ...required, ...optional })) {
    const place = kind * 256 + (codes[name] ?? name.charCodeAt(0))
    fieldOf[place] = expected
    fieldBitOf[place] = bit
    if (name in required) requiredOf[kind] = (requiredOf[kind] as number) | bit
    bit <<= 1
  }
}

/** The fields that `seen` lacks. */
export function missingFields(kind: number, seen: number): string[] {
  const names = fields.find(([of]) => of === kind)?.[1] ?? {}
  return Object.keys(names).filter((_, index) => (seen & (1 << index)) === 0)
}

const words: readonly (readonly [number, string])[] = [
  [MESSAGE, 'a message (an array of a type string and a map)'],
  [TYPE, 'a message type ("t" or "ge")'],
  [TRIPLES_DATA, 'the data of a message (a map)'],
  [EMBEDDINGS_DATA, 'the data of a message (a map)'],
  [METADATA, 'message metadata (a map)'],
  [ID, 'a string'],
  [USER, 'a string'],
  [STRING, 'a string'],
  [TRIPLES, 'an array of triples'],
  [METADATA_TRIPLES, 'an array of triples'],
  [TRIPLE, 'a triple (a map)'],
  [TERM, 'a term (a map)'],
  [BOOLEAN, 'a boolean'],
  [EMBEDDINGS, 'an array of entity embeddings'],
  [EMBEDDING, 'an entity embedding (a map)'],
  [VECTORS, 'an array of vectors'],
  [VECTOR, 'a vector (an array of numbers)'],
  [NUMBER, 'a number'],
  [ANY, 'a value'],
  [DATATYPE, 'a datatype (a string)'],
  [LANGUAGE, 'a language tag (a string)'],
  [GRAPH, 'the name of a graph (a string)'],
  [KEY, 'a string as map key'],
]

/** What is expected, in words, for errors. */
export function describeExpected(expected: number): string {
  return words.find(([of]) => of === expected)?.[1] ?? 'a value'
}
