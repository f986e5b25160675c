// Entities and relations without a model to ask: by an English tagger and a few rules.

import { checkNoMore } from '../../door/options.js'
import { vocabulary } from '../../vocabulary.js'
import type { Term, Triple } from '../../types.js'
import { coOccurrences } from './offline/co-occurrence.js'
import type { Mention } from './offline/mention.js'
import { read } from './offline/reading.js'
import { dateTerm } from './offline/dates.js'
import { definition } from './offline/definitions.js'
import { isA, isDate } from './offline/statement.js'
import { loadTagger } from './offline/tagger.js'
import type { Extraction, Extractor, ExtractorTools } from './types.js'

const related: Term = { v: vocabulary.related, e: true }
const type: Term = { v: vocabulary.type, e: true }

// For each 2,000 characters: the core grows with the text, and not with the square of it.
const pageLength = 2000
const namesPerPage = 60
const phrasesPerPage = 5
const statementsPerPage = 80
const relatedPerPage = 16

/**
 * Finds names, key phrases, `subject verb object` and `X is a Y` in English, and relates
 * (skos:related) what stands in one sentence or in the next two. Of a text in another language it
 * takes the words with capitals inside of sentences, and relates those. Every name stands in its
 * chunk as it is. The language model is loaded at first use.
 */
export function offlineExtractor(...surplus: never[]): Extractor {
  checkNoMore('offlineExtractor()', surplus)
  return async (chunk, tools): Promise<Extraction> => {
    const { sentences, topic } = read(chunk, tools.document, await loadTagger())
    const uriOf = uris(tools)
    const pages = Math.ceil(chunk.text.length / pageLength)

    const mentions = sentences.map(({ names, phrases }) => [...names, ...phrases])
    const defined = sentences.flatMap(({ sentence }, i) => definition(sentence, mentions[i] ?? []))
    const stated = sentences
      .flatMap(({ statements }) => statements)
      .slice(0, statementsPerPage * pages)

    const names = new Map<string, string>()
    const keep = ({ name }: Mention, most: number) => {
      const uri = uriOf(name)
      if (!names.has(uri) && names.size < most) names.set(uri, name)
    }
    // One that the text leaves out, as a title does it.
    const isSaid =
      topic && topic.name.from < 0 && stated.some(({ subject }) => subject.name === topic.name.name)
    if (topic && isSaid) keep(topic.name, Infinity)
    for (const { names } of sentences) {
      for (const name of names) keep(name, namesPerPage * pages)
    }
    const kinds = stated.flatMap(({ relation, object }) => {
      return relation === isA && !isDate(object) ? [object] : []
    })
    for (const kind of kinds) keep(kind, namesPerPage * pages)

    const telling = [
      ...defined.map(({ of }) => of),
      ...stated.flatMap(({ subject, object }) => (isDate(object) ? subject : [subject, object])),
    ]
    const phrases = sentences.flatMap(({ phrases }) => phrases)
    const ranked = rank(phrases, telling, uriOf).filter(([uri]) => !names.has(uri))
    const chosen = new Map([...names, ...ranked.slice(0, phrasesPerPage * pages)])

    const definitions = new Map<string, string>()
    for (const { of, text } of defined) {
      if (!definitions.has(uriOf(of.name))) definitions.set(uriOf(of.name), text)
    }
    const entities = [...chosen].map(([uri, name]) => {
      const definition = definitions.get(uri)
      return definition === undefined ? { name } : { name, definition }
    })

    const entity = (name: string): Term | undefined => {
      const v = uriOf(name)
      return chosen.has(v) ? { v, e: true } : undefined
    }
    const statements = new Map<string, Triple>()
    for (const { subject, relation, object } of stated) {
      const s = entity(subject.name)
      const o = isDate(object) ? dateTerm(object) : entity(object.name)
      if (s === undefined || o === undefined || s.v === o.v) continue
      const p = relation === isA ? type : tools.relation(relation)
      statements.set(`${s.v} ${p.v} ${o.v}`, { s, p, o })
    }
    const places = mentions.map((all) => {
      return all.map(({ name }) => uriOf(name)).filter((uri) => chosen.has(uri))
    })
    const pairs = coOccurrences(places, relatedPerPage * pages).map(([a, b]): Triple => {
      return { s: { v: a, e: true }, p: related, o: { v: b, e: true } }
    })
    return { entities, triples: [...statements.values(), ...pairs] }
  }
}

/**
 * Key phrases with their URIs, the best first: those that the text says something of, then the
 * most frequent. A noun alone has to come three times.
 */
function rank(
  phrases: readonly Mention[],
  telling: readonly Mention[],
  uriOf: (name: string) => string,
): [uri: string, name: string][] {
  const isLong = ({ from, to }: Mention) => to - from > 1
  const preferred = new Set(telling.filter(isLong).map(({ name }) => uriOf(name)))
  const found = new Map<string, { name: string; score: number }>()
  for (const phrase of phrases) {
    const uri = uriOf(phrase.name)
    const { name, score } = found.get(uri) ?? {
      name: phrase.name,
      score: preferred.has(uri) ? 2 : 0,
    }
    found.set(uri, { name, score: score + (isLong(phrase) ? 3 : 1) / 3 })
  }
  return [...found]
    .filter(([, { score }]) => score > 0.99)
    .sort(([, a], [, b]) => b.score - a.score)
    .map(([uri, { name }]) => [uri, name])
}

/** The names of one chunk come again and again. */
function uris({ entity }: ExtractorTools): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    const uri = known.get(name) ?? entity(name).v
    known.set(name, uri)
    return uri
  }
}
