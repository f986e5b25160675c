// Entities and relations without a model to ask: by an English tagger and a few rules.

import { checkNoMore } from '../../door/options.js'
import { vocabulary } from '../../vocabulary.js'
import type { Term, Triple } from '../../types.js'
import { dateTerm } from './offline/dates.js'
import type { Findings } from './offline/findings.js'
import { passageOf } from './offline/passage.js'
import { findElsewhere } from './offline/reading-thread.js'
import { isA } from './offline/statement.js'
import type { Extraction, Extractor, ExtractorTools } from './types.js'

const related: Term = { v: vocabulary.related, e: true }
const type: Term = { v: vocabulary.type, e: true }
const mainEntity: Term = { v: vocabulary.mainEntity, e: true }

/**
 * Finds names, key phrases, `subject verb object` and `X is a Y` in English, and relates
 * (skos:related) what stands in one sentence or in the next two. Of a text in another language it
 * takes the words with capitals inside of sentences, and relates those. What begins as in an
 * encyclopedia, *Ada Lovelace was a …*, is about that. Every name stands in its
 * chunk as it is. Chunks are read in a thread of their own, which all extractors of a process share
 * and which loads the language model when it is first used.
 */
export function offlineExtractor(...surplus: never[]): Extractor {
  checkNoMore('offlineExtractor()', surplus)
  return async (chunk, tools): Promise<Extraction> => {
    const { signal, document } = tools
    return extractionOf(await findElsewhere(passageOf(chunk, document), signal), tools)
  }
}

function extractionOf(found: Findings, { source, entity, relation }: ExtractorTools): Extraction {
  const term = remembering(entity)
  const termOf = remembering(relation)
  const stated = found.statements.map((statement): Triple => {
    const { subject, relation, object } = statement
    const o = typeof object === 'string' ? term(object) : dateTerm(object)
    return { s: term(subject), p: relation === isA ? type : termOf(relation), o }
  })
  const pairs = found.related.map(([a, b]): Triple => ({ s: term(a), p: related, o: term(b) }))
  const { about } = found
  const topic = about === undefined ? [] : [{ s: source, p: mainEntity, o: term(about) }]
  return { entities: found.entities, triples: [...topic, ...stated, ...pairs] }
}

/** The names of one chunk come again and again. */
function remembering(make: (name: string) => Term): (name: string) => Term {
  const known = new Map<string, Term>()
  return (name) => {
    const term = known.get(name) ?? make(name)
    known.set(name, term)
    return term
  }
}
