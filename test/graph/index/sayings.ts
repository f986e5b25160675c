// Random messages of several cores, and what parts that are made of them have to say.

import fc from 'fast-check'
import { encodeMessage } from '../../../src/codec/encoder.js'
import type { SourceName } from '../../../src/graph/index/places.js'
import { PartsBuilder } from '../../../src/graph/index/parts-builder.js'
import type { PartRecord } from '../../../src/graph/index/layout.js'
import type { BlockStorage } from '../../../src/block-writer.js'
import type { Term, Triple } from '../../../src/types.js'
import { Random } from '../../fixtures/random.js'
import { collidingTerms } from './colliding.js'

const xsd = 'http://www.w3.org/2001/XMLSchema#'
const colliding = collidingTerms(new Random(7), 4)

const aTerm: fc.Arbitrary<Term> = fc.oneof(
  { weight: 4, arbitrary: fc.nat(5).map((n): Term => ({ v: `urn:${n}`, e: true })) },
  { weight: 2, arbitrary: fc.constantFrom(...colliding) },
  fc.constantFrom<Term>({ v: '', e: false }, { v: '', e: true }, { v: 'urn:1', e: false }),
  fc
    .tuple(
      fc.constantFrom('1', '01', '-2', '7', 'x'),
      fc.constantFrom('integer', 'decimal', 'double'),
    )
    .map(([v, dt]): Term => ({ v, e: false, dt: xsd + dt })),
  fc.constantFrom('2001-01-01', '2001-02-03').map((v): Term => ({ v, e: false, dt: `${xsd}date` })),
  fc
    .tuple(fc.constantFrom('1', 'word'), fc.constantFrom('en', 'de-at'))
    .map(([v, ln]): Term => ({ v, e: false, ln })),
  fc.constantFrom('1', 'word').map((v): Term => ({ v, e: false, dt: 'urn:datatype' })),
)

const aTriple: fc.Arbitrary<Triple> = fc
  .tuple(aTerm, aTerm, aTerm, fc.constantFrom(undefined, undefined, 'urn:0', 'urn:g', '_:b'))
  .map(([s, p, o, g]) => ({ s, p, o, ...(g !== undefined && { g }) }))

export interface Embedding {
  readonly e: Term
  readonly v: readonly number[][]
}

/** What one message says. */
export interface Saying {
  readonly source: number
  readonly collection: string
  readonly triples: readonly Triple[]
  readonly embeddings: readonly Embedding[]
}

const aCollection = fc.constantFrom('', 'default', 'urn:1', 'word')

export const aSaying: fc.Arbitrary<Saying> = fc.record({
  source: fc.nat(3),
  collection: aCollection,
  triples: fc.array(aTriple, { maxLength: 12 }),
  embeddings: fc.constant([]),
})

export const anEmbeddingSaying = (dimensions: number): fc.Arbitrary<Saying> =>
  fc.record({
    source: fc.nat(3),
    collection: aCollection,
    triples: fc.constant([]),
    embeddings: fc.array(
      fc.record({
        e: aTerm,
        v: fc.array(
          fc.array(fc.integer({ min: -9, max: 9 }), {
            minLength: dimensions,
            maxLength: dimensions,
          }),
          { maxLength: 3 },
        ),
      }),
      { maxLength: 6 },
    ),
  })

const aPassageText = fc
  .array(fc.constantFrom('a', 'be', 'sea', 'Zürich', 'x'.repeat(300), '知识库', '—'), {
    maxLength: 9,
  })
  .map((words) => words.join(' '))

const aPassageEntity = fc.nat(4).map((n): Term => ({ v: `urn:${n}`, e: true }))
const aPassageTerm = fc.oneof(aPassageEntity, fc.constantFrom(...colliding))
/** Texts of one passage are told apart by their hashes: two of one hash have no order. */
const textTerm = fc.oneof(aPassageEntity, fc.constantFrom(...colliding.slice(0, 1)))

const schema = 'https://schema.org/'
const dcterms = 'http://purl.org/dc/terms/'
const nif = 'http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#'

/** Of what makes passages, and of what is none. */
const aPassageTriple: fc.Arbitrary<Triple> = fc
  .tuple(
    aPassageTerm,
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.tuple(
          fc.constantFrom(`${schema}text`, `${nif}isString`),
          fc.oneof(
            aPassageText.map((v): Term => ({ v, e: false })),
            aPassageText.map((v): Term => ({ v, e: false, ln: 'de-at' })),
          ),
        ),
      },
      fc.tuple(
        fc.constantFrom(`${schema}name`, `${dcterms}title`, `${schema}articleSection`),
        aPassageText.map((v): Term => ({ v, e: false })),
      ),
      fc.tuple(fc.constant(`${dcterms}isPartOf`), aPassageTerm),
      fc.tuple(fc.constant(`${schema}text`), textTerm),
      fc.tuple(
        fc.constantFrom(`${nif}beginIndex`, `${nif}endIndex`),
        fc.constantFrom('0', '17', '4294967295', 'x').map((v): Term => ({ v, e: false })),
      ),
      fc.tuple(fc.constant('urn:other'), aTerm),
    ),
  )
  .map(([s, [p, o]]) => ({ s, p: { v: p, e: true }, o }))

export const aPassageSaying: fc.Arbitrary<Saying> = fc.record({
  source: fc.nat(3),
  collection: aCollection,
  triples: fc.array(aPassageTriple, { maxLength: 12 }),
  embeddings: fc.constant([]),
})

/** Two of them are generations of one core. */
export const sourceNames: readonly SourceName[] = [
  { generation: '00000000000000000000000000000001', core: 'urn:core' },
  { generation: 'ffffffff80000000000000000000000a', core: 'default' },
  { generation: 'ffffffff7fffffff0000000000000000', core: 'urn:core' },
  { generation: '0196f00000000000000000000000beef', core: 'word' },
]

/** Whole parts of these, under keys that begin with `id`. */
export async function buildParts(
  storage: BlockStorage,
  id: string,
  sayings: readonly Saying[],
): Promise<PartRecord[]> {
  const builder = new PartsBuilder(storage, id, sourceNames[0] as SourceName)
  for (const saying of sayings) {
    builder.source(sourceNames[saying.source] as SourceName)
    const m = { i: 'i', m: [], u: 'u', c: saying.collection }
    const { triples, embeddings } = saying
    if (triples.length > 0) builder.push(encodeMessage(['t', { m, t: triples }]))
    if (embeddings.length > 0) builder.push(encodeMessage(['ge', { m, e: embeddings }]))
    await builder.writeFull()
  }
  return builder.finish()
}

/** As readPart() tells it, sorted. */
export function rowsOf(sayings: readonly Saying[]): string[] {
  const said = new Set<string>()
  for (const { source, collection, triples } of sayings) {
    for (const { s, p, o, g } of triples) {
      const graph = g === undefined ? '' : `<${g}>`
      const where = `${graph} | ${placeText(source, collection)}`
      said.add(`${[s, p, o].map(termText).join(' | ')} | ${where}`)
    }
  }
  return [...said].sort()
}

/** As readPart() tells it, in their order. */
export function vectorsOf(sayings: readonly Saying[]): string[] {
  return sayings.flatMap(({ source, collection, embeddings }) =>
    embeddings.flatMap(({ e, v }) =>
      v.map((vector) => {
        const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))
        const factor = length === 0 ? 0 : 1 / length
        const bytes = Buffer.from(Float32Array.from(vector, (x) => x * factor).buffer)
        return `${termText(e)} |  | ${placeText(source, collection)} | ${bytes.toString('hex')}`
      }),
    ),
  )
}

function placeText(source: number, collection: string): string {
  const { generation, core } = sourceNames[source] as SourceName
  return `${generation} name ${core} | name ${collection}`
}

function termText({ v, e, dt, ln }: Term): string {
  if (e) return `<${v}>`
  if (ln !== undefined) return `"${v}"@${ln}`
  return dt === undefined ? `"${v}"` : `"${v}"^^${dt}`
}
