import type { Triple } from '../../types.js'
import { vocabulary } from '../../vocabulary.js'
import { after, askedGraph, ofGraphs, passedOver, placeOfNext } from '../asking.js'
import { listing } from '../bounds.js'
import { needed, text } from '../fields.js'
import type { UserGraph } from '../stores.js'
import { aText, listOf, ofLists, tool } from '../tool.js'
import { iri, isIri, plainTriple, textOfIri, textOfTriple, tripleSchema } from '../triples.js'

const mostTriples = 100
const mostSameNames = 5

export const describe = tool({
  name: 'describe',
  description:
    'All triples about an entity, by its IRI or its exact name, from it and to it. Others of the same name are in others.',
  fields: { entity: needed(text(2048, 'IRI or name')), ...ofGraphs, after },
  output: {
    entity: aText,
    others: { type: 'array', items: aText },
    triples: listOf(tripleSchema),
    ...ofLists,
  },
  always: ['entity', 'triples', 'truncated'],
  async run({ entity, after, ...asked }, { stores, signal }) {
    const skip = passedOver(after)
    const graph = stores.graph(askedGraph(asked))
    const about = async (thing: string) => {
      const triples: Triple[] = []
      const limit = skip + mostTriples + 1
      for await (const { triple } of graph.neighbours(iri(thing), { limit, signal })) {
        triples.push(triple)
      }
      return triples
    }
    // A name may look like an IRI.
    const own = isIri(entity) ? await about(entity) : []
    const [found = entity, ...others] =
      own.length > 0 ? [entity] : await named(graph, entity, signal)
    const triples = own.length > 0 ? own : await about(found)
    return listing({
      name: 'triples',
      items: triples.slice(skip, skip + mostTriples).map(plainTriple),
      textOf: textOfTriple,
      beside: { entity: found, ...(others.length > 0 && { others }) },
      heading: [
        `Triples about ${textOfIri(found)}:`,
        ...others.map((other) => `Also called so: ${textOfIri(other)}`),
      ].join('\n'),
      nothing:
        'Nothing is called so. Names are exact here; answer_context finds entities by words.',
      next: (shown) => placeOfNext(skip + shown, triples.length),
    })
  },
})

/** What has that label, in any language. */
async function named(graph: UserGraph, name: string, signal: AbortSignal): Promise<string[]> {
  const pattern = { p: iri(vocabulary.label), filter: { gte: name, lte: name } }
  const found = new Set<string>()
  for await (const { s } of graph.match(pattern, { limit: 100, signal })) {
    found.add(s.v)
    if (found.size > mostSameNames) break
  }
  return [...found]
}
