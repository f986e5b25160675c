// What stands in brackets behind a name: when somebody lived, when a work appeared, who it is.

import type { Chunk, NounPhrase } from './chunks.js'
import type { DateMention } from './dates.js'
import { describe } from './descriptions.js'
import type { Mention } from './mention.js'
import { dated, type Statement } from './statement.js'
import type { Sentence } from './tagger.js'

/** `isPerson` where the sentence says so. */
export function saidInBrackets(
  sentence: Sentence,
  inner: readonly Chunk[],
  subject: Mention,
  isPerson: boolean | undefined,
): Statement[] {
  const lifetime = lifetimeIn(inner, subject, isPerson)
  if (lifetime.length > 0) return lifetime
  const [first] = inner
  if (first?.kind === 'date' && inner.length === 1) {
    return first.date.type === 'gYear' ? [{ subject, relation: 'year', object: first.date }] : []
  }
  const isDescription = first?.kind === 'noun' && isRelation(first, inner[1])
  return isDescription ? [...describe(sentence, inner, 0, subject).statements] : []
}

/** `born May 5, 1960`, `1877 – 1946`, `born 1960; died 2001`. */
function lifetimeIn(
  inner: readonly Chunk[],
  subject: Mention,
  isPerson: boolean | undefined,
): Statement[] {
  const found: Statement[] = []
  let [verb, first]: [string | undefined, DateMention | undefined] = [undefined, undefined]
  for (const [i, chunk] of inner.entries()) {
    if (chunk.kind === 'verb' && /^(?:born|died)$/.test(chunk.verb.lower)) verb = chunk.verb.lower
    if (chunk.kind === 'noun' && chunk.head?.lower === 'd.') verb = 'died'
    if (chunk.kind !== 'date') continue
    if (verb !== undefined) {
      found.push(dated(subject, verb, chunk.date))
      ;[verb, first] = [undefined, verb === 'born' ? chunk.date : undefined]
      continue
    }
    const before = inner[i - 1]
    const isEnd = before?.kind === 'other' && /^[–—-]$/.test(before.word.text)
    if (isEnd && first !== undefined) {
      const isLife = found.length > 0 || (isPerson ?? chunk.date.type === 'date')
      if (found.length === 0) {
        found.push(
          isLife ? dated(subject, 'born', first) : { subject, relation: 'from', object: first },
        )
      }
      found.push(
        isLife
          ? dated(subject, 'died', chunk.date)
          : { subject, relation: 'until', object: chunk.date },
      )
      return found
    }
    first = chunk.date
  }
  return found
}

/** `designer of Dragon Dice`. */
function isRelation(phrase: NounPhrase, next: Chunk | undefined): boolean {
  return phrase.name === undefined && next?.kind === 'preposition'
}
