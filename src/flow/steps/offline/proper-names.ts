// Names of people, places, organisations and whatever else is written with a capital.

import { mention, type Mention } from './mention.js'
import { numberBefore, numberBehind } from './numbered-names.js'
import { titleEnd, withoutTitles } from './person-titles.js'
import { quotedTitles } from './quoted-titles.js'
import type { Dictionary, Sentence, Word } from './tagger.js'
import {
  connectors,
  honorifics,
  institutions,
  noNames,
  openingConnectors,
  shortNames,
  titles,
} from './word-lists.js'

const maxWords = 8
const romanNumeral = /^[IVXLCDM]+\.?$/
const opener = /^[^\p{L}\p{N},;&]+$/u
const notOfNames = new Set(['PRON', 'DET', 'INTJ', 'ADP', 'AUX', 'CCONJ', 'SCONJ'])
const ofThings = new Set(['NOUN', 'PROPN', 'ADJ'])

/**
 * The names in the sentences of one chunk. A capital says nothing where a sentence begins: there a
 * word of the dictionary counts only as part of a longer name, before a verb (`Apple buys`), or if
 * another sentence, or the title, has it with a capital as well.
 */
export function properNames(
  sentences: readonly Sentence[],
  dictionary: Dictionary,
  isEnglish: boolean,
  title = '',
): Mention[][] {
  const reader = new NameReader(sentences, dictionary, isEnglish)
  if (isEnglish) reader.learn(title)
  return sentences.map((sentence) => (isHeading(sentence) ? [] : reader.names(sentence)))
}

class NameReader {
  readonly #elsewhere = new Set<string>()
  readonly #dictionary: Dictionary
  readonly #isEnglish: boolean

  constructor(sentences: readonly Sentence[], dictionary: Dictionary, isEnglish: boolean) {
    this.#dictionary = dictionary
    this.#isEnglish = isEnglish
    for (const sentence of sentences) {
      for (const [i, word] of sentence.entries()) {
        if (this.#looksLikeName(word) && !isOpening(sentence, i)) this.#elsewhere.add(word.text)
      }
    }
  }

  /** The words with a capital in a title are names where they begin a sentence, too. */
  learn(title: string): void {
    const words = title.split(/[\s,()]+/)
    if (words.length < 2) return
    for (const word of words) {
      if (this.#dictionary(word.toLowerCase())?.pos !== 'DET') this.#elsewhere.add(word)
    }
  }

  names(sentence: Sentence): Mention[] {
    const quoted = quotedTitles(sentence, this.#dictionary)
    const found: Mention[] = []
    for (let i = 0; i < sentence.length; i++) {
      const [title] = quoted
      if (title?.from === i) {
        found.push(title)
        quoted.shift()
        i = title.to - 1
        continue
      }
      if (!this.#isName(sentence, i)) continue
      const end = title?.from ?? sentence.length
      const to = this.#endOf(sentence, i, end)
      found.push(...this.#parts(sentence, i, to))
      i = to - 1
    }
    return found
  }

  /** Where the name that begins at `from` is over. */
  #endOf(sentence: Sentence, from: number, end: number): number {
    let to = from + 1
    while (to < end) {
      const next = this.#linked(sentence, from, to)
      if (next >= end || !sentence[next]?.spaced || !this.#isName(sentence, next)) break
      to = next + 1
    }
    return numberBehind(sentence, to)
  }

  /** Where a name goes on that has come to `to`: there, or behind small words. */
  #linked(sentence: Sentence, from: number, to: number): number {
    const link = sentence[to]
    if (link === undefined) return to
    // `James "Jim" Mollison`
    if (link.text === '"' && sentence[to + 2]?.text === '"' && this.#isName(sentence, to + 1)) {
      return to + 3
    }
    if (link.text === "'s" || link.text === '’s') {
      return ofPeople.has(sentence[to - 1]?.lower ?? '') ? to + 1 : to
    }
    if (!openingConnectors.has(link.lower)) {
      // `Davis, Jr.`, `Enterprise Holdings, Inc.`
      const next = sentence[to + 1]
      return link.text === ',' && next && suffix.test(next.text) ? to + 1 : to
    }
    let next = to + 1
    while (next < to + 3 && connectors.has(sentence[next]?.lower ?? '')) next++
    if (!this.#isEnglish) return next
    const [before, after] = [sentence[to - 1] as Word, sentence[next]]
    const isInstitution = institutions.has(before.lower)
    if (link.lower === 'for') return isInstitution ? next : to
    if (link.lower === 'and') return this.#areFields(sentence, from, to) ? next : to
    if (link.lower !== 'of' || isInstitution) return next
    // `House of Commons` and `Joan of Arc`, but `Trent Reznor` of `Nine Inch Nails`.
    if (this.#dictionary(before.lower)?.pos === 'NOUN' || titles.has(before.lower)) return next
    const isAlone = to === from + 1 && next === to + 1
    return isAlone && after?.shape === 'capital' && !sentence[next + 1]?.shape ? next : to
  }

  /** `College of Arts and Sciences`: what both are is common, and belongs to an institution. */
  #areFields(sentence: Sentence, from: number, to: number): boolean {
    const [before, after] = [sentence[to - 1], sentence[to + 1]]
    if (to - from > maxWords || !this.#isCommon(before) || !this.#isCommon(after)) return false
    const of = sentence.slice(from, to).findIndex(({ lower }) => lower === 'of' || lower === 'for')
    return of > 0 && institutions.has(sentence[from + of - 1]?.lower ?? '')
  }

  #isCommon(word: Word | undefined): boolean {
    const pos = word && this.#dictionary(word.lower)?.pos
    return pos === 'NOUN' || pos === 'ADJ'
  }

  /** People without their titles, and what stands before these. */
  #parts(sentence: Sentence, from: number, to: number): Mention[] {
    const parts = this.#isEnglish ? withoutTitles(sentence, from, to, this.#dictionary) : undefined
    return (parts ?? [[from, to] as const]).flatMap(([from, to]) => {
      const start = this.#isEnglish ? numberBefore(sentence, from, to) : from
      const part = trim(sentence, start, to)
      return part === undefined ? [] : [part]
    })
  }

  #isName(sentence: Sentence, i: number): boolean {
    const word = sentence[i]
    if (word === undefined || !this.#looksLikeName(word)) return false
    if (!isOpening(sentence, i) || this.#elsewhere.has(word.text)) return true
    // Which words of another language are common, the dictionary does not know.
    if (!this.#isEnglish) return false
    if (word.shape === 'acronym' || word.shape === 'camel') return true
    const common = this.#dictionary(word.lower)
    if (common === undefined) return true
    if (!ofThings.has(common.pos)) return false
    const next = sentence[i + 1]
    if (next === undefined) return false
    if (next.spaced && next.shape !== 'camel' && this.#looksLikeName(next)) return true
    const isSingular = common.lemma === word.lower
    return common.pos === 'PROPN' || (common.pos === 'NOUN' && isSingular && next.pos === 'VERB')
  }

  #looksLikeName({ text, lower, pos, stop, shape }: Word): boolean {
    if (shape === undefined) return false
    if (!this.#isEnglish) return shape === 'acronym' || (shape === 'capital' && text.length > 2)
    if (shape === 'camel') return true
    if (text.includes('-') && ofAdjective.test(lower)) return false
    // `Nine Inch Nails`
    if (pos === 'NUM') return shape === 'capital'
    // US, WHO and IT are names, Us, Who and It are not; nor does `Inc.` tell anything by itself.
    if (stop && !text.endsWith('.')) return shape === 'acronym' && pos === 'PROPN'
    return !notOfNames.has(pos)
  }
}

/** `People's Republic of China`, but `Apple's Macintosh`. */
const ofPeople = new Set(['people', 'men', 'women', 'children'])

const suffix = /^(?:[JS]r|Inc|Ltd|LLC|Co|Corp)\.?$/

/** `Italian-born`, `Boston-based`. */
const ofAdjective =
  /-(?:born|based|speaking|led|style|made|owned|backed|era|type|like|language|winning|nominated|related|trained|educated|only|wide|bound|themed|inspired)$/

function trim(sentence: Sentence, from: number, to: number): Mention | undefined {
  const lower = (i: number) => sentence[i]?.lower ?? ''
  while (from < to - 1 && honorifics.has(lower(from))) from++
  while (from < to && noNames.has(lower(from)) && !isShortName(sentence, from, to)) from++
  while (from < to && noNames.has(lower(to - 1))) to--
  // `Monday of Easter` leaves a connector.
  while (from < to && connectors.has(sentence[from]?.text ?? '')) from++
  while (from < to && connectors.has(sentence[to - 1]?.text ?? '')) to--
  if (from >= to || to - from > maxWords || titleEnd(sentence, from, to) === to) return undefined
  for (let i = from; i < to; i++) {
    if (counts(sentence[i] as Word)) return mention(sentence, from, to)
  }
  return undefined
}

/** `Jun Choi`, but `June 13`. */
function isShortName(sentence: Sentence, from: number, to: number): boolean {
  const isShort = to - from > 1 && shortNames.has(sentence[from]?.lower ?? '')
  return isShort && sentence[from + 1]?.shape !== undefined
}

function counts({ text, lower, pos, shape }: Word): boolean {
  if (shape === undefined || pos === 'NUM' || romanNumeral.test(text) || honorifics.has(lower))
    return false
  return /\p{L}\P{L}*\p{L}/u.test(text)
}

/** At the sentence's begin, or right behind a quote, bracket, dash, colon or stop. */
function isOpening(sentence: Sentence, i: number): boolean {
  const before = sentence[i - 1]
  return before === undefined || (before.shape === undefined && opener.test(before.text))
}

/** Written in capitals throughout, as titles are: its capitals tell nothing. */
function isHeading(sentence: Sentence): boolean {
  let [words, capitals] = [0, 0]
  for (const { text, lower } of sentence) {
    if (!/^\p{L}{2}/u.test(text)) continue
    words++
    if (text !== lower && text === text.toUpperCase()) capitals++
  }
  return capitals > 1 && capitals > words / 2
}
