// Words and their parts of speech, by wink-nlp and its English model.

import type { Document, ItsFunction, ItsHelpers, PartOfSpeech, Tokens, WinkMethods } from 'wink-nlp'
import { withPlainLetters, type PlainText } from './letters.js'

export interface Word extends Form {
  readonly text: string
  readonly pos: PartOfSpeech
  readonly lemma: string
  /** One of those that make up half of any English text: the, of, was. */
  readonly stop: boolean
  /** White space stands before it. */
  readonly spaced: boolean
}

/** What a word is wherever it stands. */
interface Form {
  /** In lower case. */
  readonly lower: string
  /** `Capital`, `ACRONYM` or `U.S.`, `camelCase`; of all else undefined. */
  readonly shape: 'capital' | 'acronym' | 'camel' | undefined
  /** Of letters: no number, mark or address. */
  readonly plain: boolean
  /** In the dictionary of the model. */
  readonly known: boolean
}

export type Sentence = readonly Word[]

/** What the model knows of a word by itself. */
export interface CommonWord {
  readonly pos: PartOfSpeech
  readonly lemma: string
}

/** Looks a lower-case word up. */
export type Dictionary = (word: string) => CommonWord | undefined

/** Some words (`http://a.http://a.`) take the engine time in the cube of their length. */
const maxWordLength = 80

/**
 * The engine keeps every word that it has ever seen, and numbers them in 20 bits. A fresh one
 * takes 0.1 seconds; the analysis of this much takes 2.
 */
const maxCharactersPerEngine = 2_000_000

const plainWord = /^\p{L}[\p{L}\p{M}.&'’]*$/u
const capital = /^\p{Lu}[\p{L}\p{M}\p{N}.'’&-]*$/u
const acronym = /^\p{Lu}[\p{Lu}&.]+$/u
const camelCase = /^\p{Ll}+\p{Lu}[\p{L}\p{N}]*$/u
const genitive = /^['’]s$/
/** Paragraphs end there. */
export const blankLine = /(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)/

let shared: Promise<Tagger> | undefined

/** One for the process: the model takes 60 MB and a quarter of a second, so it is loaded late. */
export function loadTagger(): Promise<Tagger> {
  shared ??= Promise.all([import('wink-nlp'), import('wink-eng-lite-web-model')]).then(
    ([{ default: wink }, { default: model }]) => new Tagger(() => wink(model, ['sbd', 'pos'])),
  )
  return shared
}

export class Tagger {
  readonly #create: () => WinkMethods
  readonly #common = new Map<string, CommonWord | undefined>()
  readonly #forms = new Map<string, Form>()
  #engine: WinkMethods
  #characters = 0

  constructor(create: () => WinkMethods) {
    this.#create = create
    this.#engine = create()
  }

  /** Ends of paragraphs end sentences, too; any other white space is a space. */
  sentences(text: string): Sentence[] {
    return pieces(text).flatMap((piece) => this.#tag(piece))
  }

  /** `undefined` for a word that is not in the model, as most names are. */
  common(word: string): CommonWord | undefined {
    if (this.#common.has(word)) return this.#common.get(word)
    const { readDoc, its } = this.#engineFor(word)
    const document = readDoc(word)
    const tokens = document.tokens()
    const pos = list<PartOfSpeech>(tokens.out(its.pos)).at(-1)
    const lemma = lemmasOf(tokens, its).at(-1)
    const isKnown = !tokens.out().some((part) => document.isOOV(part))
    const found = isKnown && pos && lemma ? { pos, lemma } : undefined
    this.#common.set(word, found)
    return found
  }

  #tag(piece: string): Sentence[] {
    const { readDoc, its } = this.#engineFor(piece)
    const plain = withPlainLetters(piece)
    const document = readDoc(plain?.text ?? piece)
    const tokens = document.tokens()
    const tags = list<PartOfSpeech>(tokens.out(its.pos))
    const lemmas = lemmasOf(tokens, its)
    const stops = list<boolean>(tokens.out(its.stopWordFlag))
    const spaces = tokens.out(its.precedingSpaces)
    const values = tokens.out(its.value)
    const texts = plain === undefined ? values : asWritten(values, plain, piece)
    const words = texts.map((text, i): Word => {
      const { lower, shape, plain, known } = this.#formOf(text, values[i] ?? text, document)
      const [pos, lemma, stop] = [tags[i] ?? 'X', lemmas[i] ?? text, stops[i] === true]
      const spaced = spaces[i] !== '' && !genitive.test(text)
      return { text, lower, pos, lemma, shape, stop, spaced, plain, known }
    })
    const spans = document.sentences().out(its.span) as [number, number][]
    return spans.map(([first, last]) => joinHyphens(words.slice(first, last + 1)))
  }

  /** `value` is how the engine sees the word. */
  #formOf(text: string, value: string, document: Document): Form {
    const before = this.#forms.get(text)
    if (before !== undefined) return before
    const form: Form = {
      lower: text.toLowerCase(),
      shape: shapeOf(text),
      plain: plainWord.test(text),
      known: !document.isOOV(value),
    }
    this.#forms.set(text, form)
    return form
  }

  #engineFor(text: string): WinkMethods {
    this.#characters += text.length
    if (this.#characters > maxCharactersPerEngine) {
      this.#characters = text.length
      this.#common.clear()
      this.#forms.clear()
      this.#engine = this.#create()
    }
    return this.#engine
  }
}

function shapeOf(text: string): Form['shape'] {
  if (acronym.test(text)) return 'acronym'
  if (capital.test(text)) return 'capital'
  return camelCase.test(text) ? 'camel' : undefined
}

/** What stood where the engine saw each of these. */
function asWritten(values: readonly string[], plain: PlainText, text: string): string[] {
  let end = 0
  return values.map((value) => {
    const from = plain.text.startsWith(value, end) ? end : end + 1
    if (plain.text.startsWith(value, from)) {
      end = from + value.length
      return text.slice(plain.places[from], plain.places[end])
    }
    // It spells a few words in its own way.
    const space = plain.text.indexOf(' ', from)
    if (space >= 0) end = space
    return value
  })
}

/** The engine's types say that any list may be one of strings. */
function list<T>(values: readonly T[] | readonly string[]): readonly T[] {
  return values as readonly T[]
}

/** The engine's types ask for one parameter more than they give. */
function lemmasOf(tokens: Tokens, { lemma }: ItsHelpers): readonly string[] {
  return list<string>(tokens.out(lemma as unknown as ItsFunction<string>))
}

/** Paragraphs without white space runs, split at what is too long for a word. */
function pieces(text: string): string[] {
  const found: string[] = []
  // Whether the engine sees a genitive depends on what it has read before; a space tells it.
  const parted = text.replace(/(?<=\p{L})(?=['’]s(?!\p{L}))/gu, ' ')
  for (const paragraph of parted.split(blankLine)) {
    let words: string[] = []
    for (const word of paragraph.split(/\s+/)) {
      if (word.length <= maxWordLength) {
        if (word !== '') words.push(word)
        continue
      }
      if (words.length > 0) found.push(words.join(' '))
      words = []
    }
    if (words.length > 0) found.push(words.join(' '))
  }
  return found
}

/** The engine takes `solid-state` for three words. */
function joinHyphens(words: readonly Word[]): Word[] {
  const joined: Word[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as Word
    const before = joined.at(-1)
    const after = words[i + 1]
    const isHyphen = word.text === '-' && !word.spaced
    if (!isHyphen || !before?.plain || !after?.plain || after.spaced) {
      joined.push(word)
      continue
    }
    const text = `${before.text}-${after.text}`
    joined[joined.length - 1] = {
      ...after,
      text,
      lower: text.toLowerCase(),
      shape: shapeOf(text),
      lemma: `${before.text.toLowerCase()}-${after.lemma}`,
      stop: false,
      spaced: before.spaced,
    }
    i++
  }
  return joined
}
