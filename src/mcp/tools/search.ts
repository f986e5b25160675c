import { hasCode } from '../../errors.js'
import type { FoundPassage, SearchQuery } from '../../graph/types.js'
import { after, askedGraph, ofGraphs, passedOver, placeOfNext } from '../asking.js'
import { listing } from '../bounds.js'
import { count, needed, text } from '../fields.js'
import { isOfDocument, passagesSchema, plainPassage, textOfPassage } from '../passages.js'
import type { AskedGraph, UserStores } from '../stores.js'
import { ofLists, tool } from '../tool.js'
import { isIri } from '../triples.js'

/** A server gives no more for one question. */
const mostPassages = 1000
const mostOfPage = 50
const mostPassedOver = mostPassages - mostOfPage - 1

export const search = tool({
  name: 'search',
  description:
    'Passages that have these words, best first, with document and offsets. "a phrase", -not, begin*.',
  fields: {
    text: needed(text(1000)),
    k: count(1, mostOfPage, 10, 'passages at most'),
    document: text(2048, 'only of this one'),
    ...ofGraphs,
    after,
  },
  output: { passages: passagesSchema, ...ofLists },
  always: ['passages', 'truncated'],
  async run({ text, k = 10, document, after, ...asked }, { stores, signal }) {
    const skip = passedOver(after, mostPassedOver)
    // One more, to know whether others follow.
    const query = { text, k: skip + k + 1, signal }
    const within = askedGraph(asked)
    const isUri = document === undefined || isIri(document)
    const byUri = isUri ? await stores.graph(within).search({ ...query, document }) : []
    const found =
      document === undefined || byUri.length > 0
        ? byUri
        : await inDocument(document, stores, within, query).catch((error: unknown) => {
            if (isUri && hasCode(error, 'LK_CORE_NOT_FOUND')) return []
            throw error
          })
    const page = found.slice(skip, skip + k)
    return listing({
      name: 'passages',
      items: page.map((passage, at) => plainPassage(passage, skip + at + 1)),
      textOf: textOfPassage,
      heading: 'Passages, best first:',
      nothing: 'No passage has these words. The tool list shows what there is.',
      next: (shown) => placeOfNext(skip + shown, found.length, mostPassedOver),
    })
  },
})

/** Of an id that is no IRI, or one that RDF cannot carry: flows write the document, and no other, into the core of that name. */
async function inDocument(
  id: string,
  stores: UserStores,
  { cores, ...within }: AskedGraph,
  query: SearchQuery,
): Promise<FoundPassage[]> {
  if (cores !== undefined && !cores.includes(id)) return []
  const found = await stores.graph({ ...within, cores: [id] }).search(query)
  return found.filter(({ document }) => document !== undefined && isOfDocument(document.v, id))
}
