// Words and their parts of speech, by wink-nlp and its English model.

import type { ItsFunction, ItsHelpers, PartOfSpeech, Tokens, WinkMethods } from 'wink-nlp'

export interface Word {
  readonly text: string
  readonly pos: PartOfSpeech
  readonly lemma: string
  /** One of those that make up half of any English text: the, of, was. */
  readonly stop: boolean
  /** White space stands before it. */
  readonly spaced: boolean
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

/** Some words (`http://a.http://a.`) take the engine time in the cube of their length. */
const maxWordLength = 80

/**
 * The engine keeps every word that it has ever seen, and numbers them in 20 bits. A fresh one
 * takes 0.1 seconds; the analysis of this much takes 2.
 */
const maxCharactersPerEngine = 2_000_000

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
    const document = readDoc(piece)
    const tokens = document.tokens()
    const tags = list<PartOfSpeech>(tokens.out(its.pos))
    const lemmas = lemmasOf(tokens, its)
    const stops = list<boolean>(tokens.out(its.stopWordFlag))
    const spaces = tokens.out(its.precedingSpaces)
    const words = tokens.out(its.value).map((text, i): Word => {
      const pos = tags[i] ?? 'X'
      const plain = /^\p{L}[\p{L}\p{M}.&'’]*$/u.test(text)
      const stop = stops[i] === true
      const known = !document.isOOV(text)
      const spaced = spaces[i] !== '' && !/^['’]s$/.test(text)
      return { text, pos, lemma: lemmas[i] ?? text, stop, spaced, plain, known }
    })
    const spans = document.sentences().out(its.span) as [number, number][]
    return spans.map(([first, last]) => joinHyphens(words.slice(first, last + 1)))
  }

  #engineFor(text: string): WinkMethods {
    this.#characters += text.length
    if (this.#characters > maxCharactersPerEngine) {
      this.#characters = text.length
      this.#common.clear()
      this.#engine = this.#create()
    }
    return this.#engine
  }
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
  for (const paragraph of parted.split(/(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)/)) {
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
      lemma: `${before.text.toLowerCase()}-${after.lemma}`,
      stop: false,
      spaced: before.spaced,
    }
    i++
  }
  return joined
}
