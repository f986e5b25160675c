// A chunk, sentence by sentence, with everything in it that could be an entity, and what it says.

import { collapseSpace, nameProblem } from '../names.js'
import { dates, type DateMention } from './dates.js'
import { overlaps, type Mention } from './mention.js'
import type { Passage } from './passage.js'
import { phrases } from './phrases.js'
import { properNames } from './proper-names.js'
import { relations } from './relations.js'
import { isDate, type Statement } from './statement.js'
import { blankLine, type Sentence, type Tagger } from './tagger.js'
import { definedName } from './opening.js'
import { topicOf, type Topic } from './topic.js'

interface SentenceReading {
  readonly sentence: Sentence
  readonly names: readonly Mention[]
  readonly phrases: readonly Mention[]
  readonly statements: readonly Statement[]
}

export interface Reading {
  readonly sentences: readonly SentenceReading[]
  /** What the title names, or the text defines, where that is what the chunk is about. */
  readonly topic: Topic | undefined
}

export function read(passage: Passage, tagger: Tagger): Reading {
  const sentences = tagger.sentences(passage.parted)
  const isEnglish = looksEnglish(sentences)
  const isName = (name: string) => nameProblem(name) === undefined
  const called = isEnglish ? titleIn(passage, sentences, tagger) : undefined
  const title = isName(called ?? '') ? called : undefined
  const found = properNames(sentences, (word) => tagger.common(word), isEnglish, title)
  const topic = title === undefined ? undefined : topicOf(title, sentences, found)
  const text = collapseSpace(passage.text)
  // A promise that does not lean on the tagger, which spells a few words in its own way (`whomst`).
  const isThere = ({ name }: Mention) => isName(name) && text.includes(name)
  const isCut = cutBy(passage, sentences)
  const isUsable = (end: Mention | DateMention) =>
    isDate(end) || end.name === topic?.name.name || isThere(end)
  return {
    topic,
    sentences: sentences.map((sentence, i) => {
      const all = topic?.namesIn(i) ?? found[i] ?? []
      const names = all.filter((name) => isThere(name) && !isCut(name, sentence))
      if (!isEnglish) return { sentence, names, phrases: [], statements: [] }
      const kept = phrases(sentence).filter((phrase) => {
        return isThere(phrase) && !overlaps(phrase, all, (name) => !isWithin(name, phrase))
      })
      const parts = { names, phrases: kept, dates: dates(sentence) }
      const said = topic?.isTitle(i) ? [] : relations(sentence, parts, topic)
      const statements = said.filter(({ subject, object }) => isUsable(subject) && isUsable(object))
      return { sentence, names, phrases: kept, statements }
    }),
  }
}

/** Of a text without one the name that it begins with and defines. */
function titleIn(
  { title, isFirst }: Passage,
  sentences: readonly Sentence[],
  tagger: Tagger,
): string | undefined {
  if (title !== undefined || !isFirst) return title
  return definedName(sentences, (word) => tagger.common(word))
}

/** True for a name that is all within the phrase, and shorter. */
function isWithin({ from, to }: Mention, phrase: Mention): boolean {
  return phrase.from <= from && to <= phrase.to && to - from < phrase.to - phrase.from
}

/** Of the small letters of an English text, the model knows nearly all words; of others few. */
function looksEnglish(sentences: readonly Sentence[]): boolean {
  let [words, known] = [0, 0]
  for (const sentence of sentences) {
    for (const word of sentence) {
      if (!word.plain || word.text !== word.lower) continue
      words++
      if (word.known) known++
    }
  }
  return known >= words * 0.6
}

/** Whether the chunk begins or ends within a name that stands there, as far as capitals tell. */
function cutBy(
  { text, before, after }: Passage,
  sentences: readonly Sentence[],
): (name: Mention, sentence: Sentence) => boolean {
  const goesBack = /\p{Lu}\S*\s*$/u.test(before) && isWithinSentence(before, text)
  const goesOn = /^\s*\p{Lu}/u.test(after) && isWithinSentence(text, after)
  return ({ from, to }, sentence) =>
    (goesBack && from === 0 && sentence === sentences[0]) ||
    (goesOn && to === sentence.length && sentence === sentences.at(-1))
}

/** Whether a sentence goes on from one text to the next; behind an initial it does. */
function isWithinSentence(before: string, after: string): boolean {
  const said = before.trimEnd()
  const gap = before.slice(said.length) + after.slice(0, after.length - after.trimStart().length)
  if (blankLine.test(gap)) return false
  const end = said.slice(-10)
  return !/[.!?…]["'”’»)\]]*$/.test(end) || /(?<!\p{L})\p{Lu}\.$/u.test(end)
}
