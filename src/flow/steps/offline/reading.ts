// A chunk, sentence by sentence, with everything in it that could be an entity.

import { collapseSpace } from '../names.js'
import type { FlowDocument } from '../../types.js'
import type { ChunkText } from '../types.js'
import { withHeadingsApart } from './headings-apart.js'
import type { Mention } from './mention.js'
import { phrases } from './phrases.js'
import { properNames } from './proper-names.js'
import type { Sentence, Tagger } from './tagger.js'

interface SentenceReading {
  readonly sentence: Sentence
  readonly names: readonly Mention[]
  readonly phrases: readonly Mention[]
}

export function read(chunk: ChunkText, document: FlowDocument, tagger: Tagger): SentenceReading[] {
  const sentences = tagger.sentences(withHeadingsApart(chunk, document))
  const isEnglish = looksEnglish(sentences)
  const names = properNames(sentences, (word) => tagger.common(word), isEnglish)
  const text = collapseSpace(chunk.text)
  // A promise that does not lean on the tagger, which spells a few words in its own way (`whomst`).
  const isThere = ({ name }: Mention) => name.isWellFormed() && text.includes(name)
  const isCut = cutBy(chunk, document.text, text)
  return sentences.map((sentence, i) => {
    const all = names[i] ?? []
    const found = isEnglish ? phrases(sentence) : []
    return {
      sentence,
      names: all.filter((name) => isThere(name) && !isCut(name)),
      phrases: found.filter((phrase) => isThere(phrase) && !all.some(breaksUp(phrase))),
    }
  })
}

/** True for a name with which the phrase shares words, but for one that is all within the phrase. */
function breaksUp(phrase: Mention): (name: Mention) => boolean {
  return ({ from, to }) => {
    const overlap = from < phrase.to && phrase.from < to
    const within = phrase.from <= from && to <= phrase.to && to - from < phrase.to - phrase.from
    return overlap && !within
  }
}

/** Of the small letters of an English text, the model knows nearly all words; of others few. */
function looksEnglish(sentences: readonly Sentence[]): boolean {
  const words = sentences.flat().filter(({ plain, text }) => plain && text === text.toLowerCase())
  return words.filter(({ known }) => known).length >= words.length * 0.6
}

/** Whether the chunk begins or ends within a name, as far as capitals tell. */
function cutBy({ start, end }: ChunkText, whole: string, text: string): (name: Mention) => boolean {
  const goesBack = /\p{Lu}\S*\s*$/u.test(whole.slice(Math.max(0, start - 40), start))
  const goesOn = /^\s*\p{Lu}/u.test(whole.slice(end, end + 40))
  return ({ name }) => (goesBack && text.startsWith(name)) || (goesOn && text.endsWith(name))
}
