import type { Subgraph } from '../../graph/types.js'
import { vocabulary } from '../../vocabulary.js'
import { after, askedGraph, ofGraphs, passedOver } from '../asking.js'
import { listing } from '../bounds.js'
import { needed, text } from '../fields.js'
import { onOneLine, passagesSchema, plainPassage, quoted, textOfPassage } from '../passages.js'
import { aText, listOf, ofLists, tool } from '../tool.js'

/** Passages that one question finds. */
const mostPassages = 50
/** One for so many tokens beside the passages of the first page: passages say more, and can be cited. */
const tokensOfFact = 150
const longestFact = 160
const mostEntities = 5

export const answerContext = tool({
  name: 'answer_context',
  description:
    'What the library has about a question: passages to cite as [n], facts, entities to describe. Answer from it alone.',
  fields: { question: needed(text(1000)), ...ofGraphs, after },
  output: {
    passages: passagesSchema,
    facts: { type: 'array', items: aText },
    entities: listOf({ entity: aText, label: aText }),
    ...ofLists,
  },
  always: ['passages', 'truncated'],
  async run({ question, after, ...asked }, { stores, signal }, tokens) {
    const skip = passedOver(after, mostPassages)
    const found = await stores
      .graph(askedGraph(asked))
      .retrieve({ text: question, entities: mostPassages, signal })
    const sources = found.sources.filter(({ text }) => text !== undefined && text.trim() !== '')
    const facts = skip > 0 ? [] : factsOf(found, Math.floor(tokens / tokensOfFact))
    return listing({
      name: 'passages',
      items: sources.slice(skip).map((source, at) => plainPassage(source, skip + at + 1)),
      textOf: textOfPassage,
      beside: skip > 0 ? {} : { facts, entities: entitiesOf(found) },
      heading: [
        ...(facts.length > 0 ? ['Facts:', ...facts.map(quoted)] : []),
        'Passages, best first:',
      ].join('\n'),
      nothing: 'Nothing was found for this question: say so. The tool list shows what there is.',
      next: (shown) => (skip + shown < sources.length ? String(skip + shown) : undefined),
    })
  },
})

/** That two things stand near each other says nothing. */
function factsOf({ triples, labels }: Subgraph, most: number): string[] {
  const lines = triples
    .filter(({ p }) => p.v !== vocabulary.related)
    .map((triple) =>
      [triple.s, triple.p, triple.o].map(({ v, e }) => (e ? nameOf(v, labels) : v)).join(' – '),
    )
  return lines
    .map(onOneLine)
    .filter((line) => line.length <= longestFact)
    .slice(0, most)
}

/** The first few, by which `describe` goes on. */
function entitiesOf({ entities, labels }: Subgraph) {
  return entities
    .filter(({ entity }) => entity.e && entity.v.length <= longestFact)
    .slice(0, mostEntities)
    .map(({ entity }) => ({ entity: entity.v, label: nameOf(entity.v, labels) }))
}

/** The label, else the end of an IRI: `lives-in`. */
function nameOf(iri: string, labels: Subgraph['labels']): string {
  if (Object.hasOwn(labels, iri)) return labels[iri] as string
  return /[/#:]([^/#:]+)$/.exec(iri)?.[1] ?? iri
}
