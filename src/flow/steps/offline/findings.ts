// What a passage speaks of and says, by names: of all that stands in it, what is worth to be kept.

import { entityUri } from '../names.js'
import { coOccurrences } from './co-occurrence.js'
import type { DateMention } from './dates.js'
import { definition } from './definitions.js'
import type { Mention } from './mention.js'
import type { Passage } from './passage.js'
import { read } from './reading.js'
import { isA, isDate } from './statement.js'
import type { Tagger } from './tagger.js'

/** Plain data, as it goes from one thread to another. */
export interface Findings {
  readonly entities: readonly { readonly name: string; readonly definition?: string }[]
  /** Of entities, each once; in the place of a second one a date may stand. */
  readonly statements: readonly FoundStatement[]
  /** Pairs of names of entities that belong together somehow. */
  readonly related: readonly (readonly [string, string])[]
  /** The entity that the document is about, where it has no title and its beginning says it. */
  readonly about?: string
}

export interface FoundStatement {
  readonly subject: string
  /** A verb, or `isA`. */
  readonly relation: string
  readonly object: string | Pick<DateMention, 'value' | 'type'>
}

// For each 2,000 characters: the core grows with the text, and not with the square of it.
const pageLength = 2000
const namesPerPage = 60
const phrasesPerPage = 5
const statementsPerPage = 80
const relatedPerPage = 16

export function findingsIn(passage: Passage, tagger: Tagger): Findings {
  const { sentences, topic } = read(passage, tagger)
  const uriOf = uris()
  const pages = Math.ceil(passage.text.length / pageLength)

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

  const statements = new Map<string, FoundStatement>()
  for (const { subject, relation, object } of stated) {
    const s = uriOf(subject.name)
    if (!chosen.has(s)) continue
    const p = relation === isA ? isA : uriOf(relation)
    if (isDate(object)) {
      const { value, type } = object
      statements.set(`${s} ${p} ${value}`, {
        subject: subject.name,
        relation,
        object: { value, type },
      })
      continue
    }
    const o = uriOf(object.name)
    if (s === o || !chosen.has(o)) continue
    statements.set(`${s} ${p} ${o}`, { subject: subject.name, relation, object: object.name })
  }
  const places = mentions.map((all) => {
    return all.map(({ name }) => uriOf(name)).filter((uri) => chosen.has(uri))
  })
  const nameOf = (uri: string) => chosen.get(uri) as string // those of places are chosen
  const related = coOccurrences(places, relatedPerPage * pages).map(([a, b]) => {
    return [nameOf(a), nameOf(b)] as const
  })
  // A title says it better than the longer name that it is short for.
  const about = passage.title === undefined && topic && chosen.get(uriOf(topic.name.name))
  return {
    ...{ entities, statements: [...statements.values()], related },
    ...(about && { about }),
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

/** What of a name makes its URI; the names of one passage come again and again. */
function uris(): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    const uri = known.get(name) ?? entityUri(name, '')
    known.set(name, uri)
    return uri
  }
}
