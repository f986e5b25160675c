import type { TriplePattern } from '../../graph/types.js'
import type { Triple } from '../../types.js'
import { after, askedGraph, ofGraphs, passedOver, placeOfNext } from '../asking.js'
import { listing } from '../bounds.js'
import { number, text } from '../fields.js'
import { ofLists, listOf, tool } from '../tool.js'
import { iri, plainTriple, textOfTriple, tripleSchema } from '../triples.js'

const anIri = text(2048)
const mostTriples = 100

export const match = tool({
  name: 'match',
  description:
    'Triples of the knowledge graph that fit a pattern; what is left out is open. literal is an exact text; min and max are for numbers.',
  fields: {
    subject: text(2048, 'IRI'),
    predicate: anIri,
    object: anIri,
    literal: text(1000),
    min: number(),
    max: number(),
    ...ofGraphs,
    after,
  },
  output: { triples: listOf(tripleSchema), ...ofLists },
  always: ['triples', 'truncated'],
  async run({ after, cores, collection, ...asked }, { stores, signal }) {
    const skip = passedOver(after)
    const limit = skip + mostTriples + 1
    const triples: Triple[] = []
    const graph = stores.graph(askedGraph({ cores, collection }))
    for await (const triple of graph.match(patternOf(asked), { limit, signal })) {
      triples.push(triple)
    }
    return listing({
      name: 'triples',
      items: triples.slice(skip, skip + mostTriples).map(plainTriple),
      textOf: textOfTriple,
      heading: 'Triples, in no order:',
      nothing: 'No triple fits this pattern. IRIs come from answer_context, describe and match.',
      next: (shown) => placeOfNext(skip + shown, triples.length),
    })
  },
})

interface AskedPattern {
  readonly subject: string | undefined
  readonly predicate: string | undefined
  readonly object: string | undefined
  readonly literal: string | undefined
  readonly min: number | undefined
  readonly max: number | undefined
}

/** A literal is looked for as a range of one: so it is found whatever its language. */
function patternOf({ subject, predicate, object, literal, min, max }: AskedPattern): TriplePattern {
  const filter = literal !== undefined ? { gte: literal, lte: literal } : { gte: min, lte: max }
  return {
    ...(subject !== undefined && { s: iri(subject) }),
    ...(predicate !== undefined && { p: iri(predicate) }),
    ...(object !== undefined && { o: iri(object) }),
    ...((filter.gte ?? filter.lte) !== undefined && { filter }),
  }
}
