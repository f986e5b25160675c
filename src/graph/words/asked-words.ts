// What a person types, as words that a search goes by.

import { isUpperAt } from '../../text/letters.js'
import { isStopWord } from '../../text/stop-words.js'
import type { SearchText, SearchWord, WordSequence } from '../../text/search-text.js'
import { eachAskedWord } from '../../text/words.js'
import { ideograph, wordClass } from '../../text/word-classes.js'
import type { AskedWord, CountedWord } from './forms.js'
import type { Phrase, PlacedForm } from './phrases.js'
import type { WordQuestion } from './question.js'

/** UTF-16 code units of a question, which is taken apart at once: each of its words is looked up. */
export const mostText = 16_384
/** Words of a phrase: each is looked up in every passage that has all of them. */
export const mostInPhrase = 64

/** Words of a question in natural language: what has more is a text, of which the beginning is looked at. */
const mostWords = 512
const mostJoined = 64
const mostPairs = 32
/** Phrases that end in what words begin with: for each the list of every such word is read. */
export const mostOpen = 64
/** What is between two words that stand beside each other, in UTF-16 code units: as in `J. Smith`. */
const mostBetween = 2
/** What parts words, and stands in no name: a full stop does, as above. */
const parting = /[,;:!?()[\]{}،؛、，；：！？（）]/u
/** Words in quotes that are a quotation: fewer are rather a name, or meant with a smile. */
const leastQuoted = 4

/** Words that say little between two of a name, as in *the Friends of the Order*. */
const mostSmall = 2

type Asked = Pick<
  WordQuestion,
  'words' | 'phrases' | 'joined' | 'pairs' | 'apart' | 'whole' | 'excluded'
>

/** Words that say little are passed over where there are others. */
export function searchedWords(
  { words, phrases, joined, excluded, text }: SearchText,
  languages: readonly string[],
): Asked {
  const telling = words.filter((word) => tells(word, languages))
  const chosen = telling.length > 0 || phrases.length > 0 ? telling : words
  return {
    words: distinctWords(chosen),
    phrases: distinct(phrases),
    joined: withFewOpen(distinct(joined.filter(({ forms }) => forms.length <= mostInPhrase))),
    pairs: pairsOf(telling, joined, text),
    apart: apartIn(words, text, languages),
    whole: phrases.length + excluded.length > 0 ? undefined : wholeOf(words, text),
    excluded: distinct(excluded),
  }
}

/**
 * The same of a question in natural language, which requires nothing: a title in quotes need not be what it asks
 * for, and a dash leaves nothing out.
 */
export function questionWords(
  { words, phrases, joined, excluded, text }: SearchText,
  languages: readonly string[],
): Asked & { readonly quoted: readonly Phrase[] } {
  const all = [...words, ...phrases.flatMap(wordsOf), ...excluded.flatMap(wordsOf)]
  const telling = all.filter((word) => tells(word, languages))
  const together = [...phrases, ...joined].filter(
    ({ forms }) => forms.length > 1 && forms.length <= mostInPhrase,
  )
  return {
    words: distinctWords(telling.length > 0 ? telling : all).slice(0, mostWords),
    phrases: [],
    joined: distinct(together).slice(0, mostJoined),
    pairs: pairsOf(
      words.filter((word) => tells(word, languages)),
      together,
      text,
    ),
    apart: apartIn(words, text, languages),
    whole: phrases.length + excluded.length > 0 ? undefined : wholeOf(words, text),
    excluded: [],
    quoted: distinct(
      phrases.filter(({ forms }) => forms.length >= leastQuoted && forms.length <= mostInPhrase),
    ),
  }
}

/** Words that stand beside each other with nothing that parts them, and are not joined. */
function pairsOf(words: readonly SearchWord[], joined: readonly Phrase[], text: string): Phrase[] {
  const known = new Set(joined.map(({ forms }) => forms.join(' ')))
  const pairs = words.slice(1).flatMap((second, n) => {
    const first = words[n] as SearchWord
    const isPair = !first.isPrefix && !second.isPrefix && isBeside(first, second, text)
    if (!isPair || isParted(first, second, text) || known.has(`${first.form} ${second.form}`))
      return []
    return [{ forms: [first.form, second.form], isPrefix: false }]
  })
  return distinct(pairs).slice(0, mostPairs)
}

/**
 * Words in capitals of which small ones stand between, *Friends of Order*, with their places: these alone are looked
 * for. In small letters they are beside each other by chance as often as not.
 */
function apartIn(
  words: readonly SearchWord[],
  text: string,
  languages: readonly string[],
): (readonly [PlacedForm, PlacedForm])[] {
  const found = new Map<string, readonly [PlacedForm, PlacedForm]>()
  let first: SearchWord | undefined
  let small = 0
  let end = 0
  for (const word of words) {
    const isNext = isBeside({ end }, word, text)
    end = word.end
    if (isNext && !tells(word, languages)) {
      small++
      continue
    }
    const isApart = isNext && small > 0 && small <= mostSmall && !word.isPrefix
    if (
      first !== undefined &&
      isApart &&
      isUpperAt(text, first.start) &&
      isUpperAt(text, word.start)
    ) {
      const pair = [
        { form: first.form, at: 0 },
        { form: word.form, at: small + 1 },
      ] as const
      found.set(`${first.form} ${small} ${word.form}`, pair)
    }
    first = tells(word, languages) && !word.isPrefix ? word : undefined
    small = 0
  }
  return [...found.values()].slice(0, mostPairs)
}

/** In *one head, one commit* nobody asks for a head one. */
function isBeside({ end }: { readonly end: number }, { start }: SearchWord, text: string): boolean {
  return start - end <= mostBetween && !parting.test(text.slice(end, start))
}

/** With what no word of the question is, and texts have: a particle, and the last character of a run. */
function wholeOf(words: readonly SearchWord[], text: string): Phrase | undefined {
  if (words.some(({ isPrefix, end }) => isPrefix && text[end] === '*')) return undefined
  const forms: string[] = []
  let isOpen = false
  eachAskedWord(text, (form, _start, _end, isPrefix) => {
    forms.push(form)
    isOpen = isPrefix
  })
  return isOpen || forms.length > mostInPhrase ? undefined : { forms, isPrefix: false }
}

/** Whether words of Han or kana stand between two that no word of the question is. */
function isParted(first: SearchWord, second: SearchWord, text: string): boolean {
  const isAny = [first, second].some(
    ({ start }) => wordClass(text.codePointAt(start) as number) === ideograph,
  )
  if (!isAny) return false
  let count = 0
  eachAskedWord(text.slice(first.start, second.end), () => count++)
  return count > 2
}

function tells({ form, isPrefix }: AskedWord, languages: readonly string[]): boolean {
  return isPrefix || !languages.some((language) => isStopWord(form, language))
}

function wordsOf({ forms, isPrefix }: WordSequence): AskedWord[] {
  return forms.map((form, n) => ({ form, isPrefix: isPrefix && n === forms.length - 1 }))
}

/** Each once, with how often it comes. */
function distinctWords(words: readonly AskedWord[]): CountedWord[] {
  const byName = new Map<string, CountedWord>()
  for (const { form, isPrefix } of words) {
    const name = `${form} ${isPrefix}`
    byName.set(name, { form, isPrefix, times: (byName.get(name)?.times ?? 0) + 1 })
  }
  return [...byName.values()]
}

/** Without those that are open and too many: what is joined is not required. */
function withFewOpen(phrases: readonly Phrase[]): Phrase[] {
  let open = 0
  return phrases.filter(({ isPrefix }) => !isPrefix || ++open <= mostOpen)
}

function distinct(phrases: readonly Phrase[]): Phrase[] {
  const byName = new Map<string, Phrase>()
  for (const { forms, isPrefix } of phrases) {
    byName.set(JSON.stringify([forms, isPrefix]), { forms, isPrefix })
  }
  return [...byName.values()]
}
