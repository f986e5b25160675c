// What a text is about: the thing that its title names, where its first sentence says what that is.

import type { Chunk, NounPhrase } from './chunks.js'
import { collapseSpace } from '../names.js'
import { mention, overlaps, type Mention } from './mention.js'
import { isPersonNoun } from './person-nouns.js'
import type { Sentence } from './tagger.js'

/** Undefined where the text does not begin with what it is about. */
export function topicOf(
  title: string,
  sentences: readonly Sentence[],
  names: readonly (readonly Mention[])[],
): Topic | undefined {
  const whole = title.toLowerCase()
  const isTitle = (sentence: Sentence) => titleEndAt(sentence, 0, whole) === sentence.length
  const first = sentences.findIndex((sentence) => !isTitle(sentence))
  const sentence = sentences[first]
  if (sentence === undefined) return undefined
  const begin = sentence.findIndex(({ pos, text }) => pos !== 'DET' && !isQuote(text))
  const spellings = spellingsOf(title)
  const bare = spellings[0] ?? title
  for (const spelling of spellings) {
    const end = titleEndAt(sentence, begin, spelling.toLowerCase())
    if (end === undefined) continue
    const longer = names[first]?.find(({ from, to }) => from === begin && to > end)
    const name = longer ?? mention(sentence, begin, subtitleEnd(sentence, end))
    return new Topic(name, { sentences, names, first, spelling })
  }
  const [opening] = names[first] ?? []
  const isNamed = opening !== undefined && opening.from <= begin + 1
  if (isNamed && areAlike(bare, opening.name))
    return new Topic(opening, { sentences, names, first })
  // `A film by Hideo Nakata.`
  const isFragment = /^(?:an?|is|was)$/.test(sentence[0]?.lower ?? '') && isWithoutVerb(sentence)
  const isPronoun = /^(?:it|he|she)$/.test(sentence[0]?.lower ?? '')
  if (!isFragment && !isPronoun) return undefined
  const name = { from: -1, to: -1, name: bare }
  return new Topic(name, { sentences, names, first, isUnnamed: true })
}

/** Without what stands in brackets, without an article, and without a place behind a comma. */
function spellingsOf(title: string): string[] {
  const bracket = title.search(/\s\(/)
  const bare = collapseSpace(bracket > 0 ? title.slice(0, bracket) : title)
  const named = bare.replace(/^(?:the|an?) (?=.)/i, '')
  const comma = named.indexOf(', ')
  return comma > 0 ? [named, named.slice(0, comma)] : [named]
}

/** `Barry Wesson` and `Barry Jarvis Wesson`: all words of the shorter are in the longer. */
function areAlike(title: string, name: string): boolean {
  const [a, b] = [title.toLowerCase().split(/[\s:]+/), name.toLowerCase().split(/[\s:]+/)]
  const [short, long] = a.length < b.length ? [a, new Set(b)] : [b, new Set(a)]
  return short.every((word) => long.has(word))
}

/** `Big Hero 6: The Series is` has more of a name than its title. */
function subtitleEnd(sentence: Sentence, end: number): number {
  if (sentence[end]?.text !== ':') return end
  const verb = sentence.findIndex(({ pos }, i) => i > end && pos === 'AUX')
  const words = sentence.slice(end + 1, Math.max(verb, 0))
  const isName = words.length > 0 && words.length < 9 && words.some(({ shape }) => shape)
  return isName && !words.some(({ text }) => /^[,;.]$/.test(text)) ? verb : end
}

function isWithoutVerb(sentence: Sentence): boolean {
  const verbs = sentence.slice(1).findIndex(({ pos }) => pos === 'AUX')
  const relative = sentence.findIndex(({ lower }) => /^(?:that|which|who)$/.test(lower))
  return verbs < 0 || (relative > 0 && relative <= verbs)
}

export function isQuote(text: string): boolean {
  return /^["“„«]$/.test(text)
}

/**
 * Where the words of a title end that begin at a word of a sentence, in any case; undefined where
 * other words stand there.
 */
function titleEndAt(sentence: Sentence, from: number, title: string): number | undefined {
  let place = 0
  for (let i = from; i < sentence.length; i++) {
    const lower = sentence[i]?.lower ?? ''
    if (title.charAt(place) === ' ') place++
    if (!title.startsWith(lower, place)) return undefined
    place += lower.length
    if (place === title.length) return i + 1
  }
  return undefined
}

interface TopicText {
  readonly sentences: readonly Sentence[]
  readonly names: readonly (readonly Mention[])[]
  /** The sentence that says what the topic is. Those before it are titles. */
  readonly first: number
  /** How the text spells it; not there where another name stands for it. */
  readonly spelling?: string
  /** The first sentence goes without a name for it. */
  readonly isUnnamed?: boolean
}

/**
 * Who `he` and `the film` are. A pronoun stands for the topic as long as each sentence since then
 * had it for its subject.
 */
export class Topic {
  readonly name: Mention
  readonly #nouns = new Set<string>()
  #isPerson: boolean | undefined
  #isPlural = false
  #isInFocus = false
  readonly #text: TopicText

  constructor(name: Mention, text: TopicText) {
    this.name = name
    this.#text = text
  }

  isTitle(sentence: number): boolean {
    return sentence < this.#text.first
  }

  /** Whether a sentence says what the topic is, and leaves out its name. */
  isUnnamedIn(sentence: Sentence): boolean {
    return this.#text.isUnnamed === true && this.#text.sentences[this.#text.first] === sentence
  }

  /** The names in a sentence, those of the topic as its title has them. */
  namesIn(index: number): readonly Mention[] {
    const { sentences, names, first, spelling } = this.#text
    const [sentence, found] = [sentences[index] ?? [], names[index] ?? []]
    if (spelling === undefined) return found
    const lower = spelling.toLowerCase()
    const isLarge = /^[^\p{Ll}]/u.test(this.name.name)
    const own: Mention[] = []
    for (let i = 0; i < sentence.length; i++) {
      const text = sentence[i]?.text ?? ''
      if (isLarge ? !/^[^\p{Ll}]/u.test(text) : index > first) continue
      const isOpening = index === first && i === this.name.from
      const end = isOpening ? this.name.to : titleEndAt(sentence, i, lower)
      if (end === undefined) continue
      own.push(mention(sentence, i, end))
      i = end - 1
    }
    if (own.length === 0) return found
    // A longer name that the topic's is part of stays: `Walt Disney Pictures` of `Walt Disney`.
    const others = found.filter((name) => !overlaps(name, own, (other) => isLonger(other, name)))
    const kept = own.filter((name) => !overlaps(name, others, () => true))
    return [...others, ...kept].sort((a, b) => a.from - b.from)
  }

  /** It was said to be a `noun`, singular. */
  learn({ head, noun }: NounPhrase, isPlural: boolean): void {
    if (head === undefined || noun === undefined) return
    this.#nouns.add(head.lower)
    this.#isPerson ??= isPersonNoun(isPlural ? head.lemma : head.lower)
    this.#isPlural ||= isPlural
    this.#isInFocus = true
  }

  /** The one that a subject stands for, in place of a name. */
  meantBy(chunk: Chunk): Mention | undefined {
    if (chunk.kind === 'pronoun') return this.#isMeantBy(chunk.word.lower) ? this.name : undefined
    if (chunk.kind !== 'noun' || chunk.name !== undefined || chunk.owner !== undefined)
      return undefined
    const isPointed = chunk.determiner === 'the' || chunk.determiner === 'this'
    const isAlone = chunk.noun !== undefined && chunk.noun.to - chunk.noun.from === 1
    const isKnown = chunk.head !== undefined && this.#nouns.has(chunk.head.lower)
    return isPointed && isAlone && isKnown ? this.name : undefined
  }

  /** `his`, `its`. */
  isOwner(determiner: string | undefined): boolean {
    if (determiner === 'his' || determiner === 'her') return this.#isMeantBy('he')
    return determiner === 'its' && this.#isMeantBy('it')
  }

  /** What the subject of a sentence was. */
  follow(subject: Chunk | undefined, meant: Mention | undefined): void {
    if (meant?.name === this.name.name) this.#isInFocus = true
    else if (meant !== undefined || (subject?.kind === 'noun' && subject.name !== undefined)) {
      this.#isInFocus = false
    }
  }

  #isMeantBy(pronoun: string): boolean {
    if (!this.#isInFocus || this.#isPerson === undefined) return false
    if (pronoun === 'they') return this.#isPlural
    return (pronoun === 'it') === !this.#isPerson && !(this.#isPlural && pronoun !== 'it')
  }
}

function isLonger(one: Mention, other: Mention): boolean {
  return one.to - one.from >= other.to - other.from
}
