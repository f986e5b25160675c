// Questions by what is rare, made by rule: each has one passage that answers it, as what it asks for stands nowhere
// else, or is what a text is called.

import type { Random } from '../test/fixtures/random.js'
import type { RareText } from './rare-texts.js'

export interface RareQuestion {
  readonly kind: string
  readonly text: string
  /** What the right passage has. */
  readonly target: string
  /** Its document, as a number among the texts. */
  readonly document: number
}

/** A piece of a text that becomes a passage, or part of one. */
interface Piece {
  readonly document: number
  readonly text: string
  /** With the title before it. */
  readonly whole: string
  readonly words: readonly string[]
}

const perKind = 25

const frames: readonly ((what: string) => string)[] = [
  (what) => what,
  (what) => `What is said of ${what}?`,
  (what) => `Tell me about ${what}`,
  (what) => `Where is ${what} mentioned?`,
]

/** Some of each kind, the same for one seed. */
export function rareQuestions(texts: readonly RareText[], random: Random): RareQuestion[] {
  const pieces = texts.flatMap(piecesOf)
  const corpus = new Corpus(pieces)
  const prose = random.shuffle(pieces.filter(({ words }) => words.length > 30))
  return [
    ...some('a word', prose, (piece) => {
      const word = random.pick(rareWords(piece, corpus))
      return word && { target: word, asked: framed(word) }
    }),
    ...some('two words', prose, (piece) => {
      const [one, other] = random.shuffle(rareWords(piece, corpus, 3))
      if (one === undefined || other === undefined) return undefined
      if (corpus.havingWords([one, other]) > 1) return undefined
      return { target: one, asked: () => `${one} ${other}` }
    }),
    ...some('a quotation', prose, (piece) => {
      const run = runOf(piece, 5, random)
      return run && corpus.having(run) === 1 ? { target: run, asked: () => `"${run}"` } : undefined
    }),
    ...some('a quotation without quotation marks', prose, (piece) => {
      const run = runOf(piece, 8, random)
      return run && corpus.having(run) === 1 ? { target: run, asked: () => run } : undefined
    }),
    ...some('a name', prose, (piece) => {
      const name = random.pick(namesIn(piece.text, /\b\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+){1,2}\b/gu))
      return name && corpus.having(name) === 1 ? { target: name, asked: framed(name) } : undefined
    }),
    ...some('a name with a possessive', prose, (piece) => {
      const name = random.pick(
        namesIn(piece.text, /\b\p{Lu}\p{Ll}{4,}(?: \p{Lu}\p{Ll}{3,})?(?=\W)/gu),
      )
      if (!name || corpus.having(name) !== 1) return undefined
      return { target: name, asked: () => `What of ${name}’s story?` }
    }),
    ...some('a name with a title or initials', prose, (piece) => {
      const pattern =
        /\b(?:(?:Dr|Mr|Mrs|St|Sir|Lord|Lady|Captain|General|President|Prof)\.? (?:\p{Lu}\p{Ll}+ ?){1,2}|[A-HJ-Z]\. (?:\p{Lu}\. )?\p{Lu}\p{Ll}{4,})\b/gu
      const name = random.pick(namesIn(piece.text, pattern))
      return name && corpus.having(name) === 1 ? { target: name, asked: framed(name) } : undefined
    }),
    ...some('a name without its accents', prose, (piece) => {
      const names = namesIn(piece.text, /(?<!\p{L})\p{Lu}\p{L}+(?: \p{Lu}\p{L}+)*/gu)
      const name = random.pick(names.filter((name) => /[à-ž]/.test(name)))
      if (!name || corpus.having(name) !== 1) return undefined
      const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
      return { target: name, asked: framed(plain) }
    }),
    ...some('a hyphenated word', prose, (piece) => {
      const words = namesIn(piece.text, /\b[a-z]{3,}(?:-[a-z]{3,})+\b/g)
      const word = random.pick(words)
      return word && corpus.having(word) === 1 ? { target: word, asked: framed(word) } : undefined
    }),
    ...ofTexts('what a text is called', 'encyclopedia', ({ title }) => [title]),
    ...ofTexts('an identifier of a vocabulary', 'vocabulary', ({ identifiers }) => identifiers),
    ...ofTexts('a number or address of a record', 'record', ({ identifiers }) => identifiers),
    ...ofTexts('a code, version, path or URL', 'manual', ({ identifiers }) => identifiers, 4),
  ]

  function framed(what: string): (n: number) => string {
    return (n) => (frames[n % frames.length] as (what: string) => string)(what)
  }

  function some(
    kind: string,
    from: readonly Piece[],
    make: (piece: Piece) => { target: string; asked: (n: number) => string } | undefined | '',
  ): RareQuestion[] {
    const made: RareQuestion[] = []
    for (const piece of from) {
      if (made.length === perKind) break
      const question = make(piece)
      if (!question) continue
      const { target, asked } = question
      made.push({ kind, text: asked(made.length), target, document: piece.document })
    }
    return made
  }

  function ofTexts(
    kind: string,
    of: RareText['kind'],
    names: (text: RareText) => readonly string[],
    times = 1,
  ): RareQuestion[] {
    const all = texts.flatMap((text, document) =>
      text.kind === of ? names(text).map((target) => ({ target, document })) : [],
    )
    const known = new Map<string, number>()
    for (const { target } of all) {
      const name = compared(target)
      known.set(name, (known.get(name) ?? 0) + 1)
    }
    const chosen = random.shuffle(all.filter(({ target }) => known.get(compared(target)) === 1))
    return chosen.slice(0, times * perKind).map(({ target, document }, n) => {
      return { kind, text: framed(target)(n), target, document }
    })
  }
}

function piecesOf({ text, title }: RareText, document: number): Piece[] {
  return text
    .split(/\r?\n\s*\n/)
    .map((piece) => plain(piece))
    .map((piece) => ({ document, text: piece, whole: `${title} ${piece}` }))
    .map((piece) => ({ ...piece, words: wordsIn(piece.whole) }))
}

/** As words are compared: without accents, case, and what joins them. */
function compared(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/-/g, ' ')
}

/** White space and typographical signs as one types them. */
export function plain(text: string): string {
  return text.replace(/[’‘]/g, "'").replace(/\s+/g, ' ').trim()
}

function wordsIn(text: string): string[] {
  return compared(text).match(/[\p{L}\p{N}]+/gu) ?? []
}

class Corpus {
  readonly #byWord = new Map<string, Set<Piece>>()

  constructor(pieces: readonly Piece[]) {
    for (const piece of pieces) {
      for (const word of piece.words) {
        this.#byWord.set(word, (this.#byWord.get(word) ?? new Set()).add(piece))
      }
    }
  }

  /** Pieces with a text in them, whatever its case. */
  having(text: string): number {
    const asked = compared(text)
    const [first = new Set()] = wordsIn(text)
      .map((word) => this.#byWord.get(word) ?? new Set<Piece>())
      .sort((a, b) => a.size - b.size)
    return [...first].filter((piece) => compared(piece.whole).includes(asked)).length
  }

  havingWords(words: readonly string[]): number {
    const [first = new Set<Piece>(), ...others] = words.map((word) => this.#byWord.get(word))
    return [...first].filter((piece) => others.every((other) => other?.has(piece))).length
  }

  count(word: string): number {
    return this.#byWord.get(word)?.size ?? 0
  }
}

function rareWords({ words, text }: Piece, corpus: Corpus, most = 1): string[] {
  const lower = text.toLowerCase()
  return [...new Set(words)].filter((word) => {
    if (!/^[a-z]{5,}$/.test(word) || corpus.count(word) > most) return false
    // Words of titles alone, and parts of what is written as one, are asked for otherwise.
    return new RegExp(`(?<![\\p{L}\\p{N}_'.-])${word}(?![\\p{L}\\p{N}_'.-]\\S)`, 'u').test(lower)
  })
}

function runOf({ text }: Piece, length: number, random: Random): string | undefined {
  const sentences = text.split(/(?<=[.!?;:]) |["“”_()[\]]/).map((each) => each.split(' '))
  const long = sentences.filter((words) => words.length >= length)
  if (long.length === 0) return undefined
  const words = random.pick(long)
  const at = random.below(words.length - length + 1)
  return words
    .slice(at, at + length)
    .join(' ')
    .replace(/[.,;:!?-]+$/, '')
}

function namesIn(text: string, pattern: RegExp): string[] {
  // What begins a sentence may be a word like any other.
  return [...text.matchAll(pattern)]
    .filter(({ index }) => /[a-z,] $/.test(text.slice(0, index)))
    .map(([name]) => name.trim())
}
