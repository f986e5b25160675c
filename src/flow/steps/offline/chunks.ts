// A sentence as a row of phrases: what stands in it, before anything is said of it.

import type { DateMention } from './dates.js'
import type { Mention } from './mention.js'
import { mention } from './mention.js'
import type { Sentence, Word } from './tagger.js'
import { negations } from './word-lists.js'

export interface NounPhrase {
  readonly kind: 'noun'
  readonly from: number
  readonly to: number
  /** The article, or `his` and the like, in lower case. */
  readonly determiner: string | undefined
  /** The name that it ends with: `DeepSound` of `the London startup DeepSound`. */
  readonly name: Mention | undefined
  /** The common noun that it is about, right before the name or at the end: `startup`. */
  readonly noun: Mention | undefined
  /** The last word of `noun`. */
  readonly head: Word | undefined
  /** Whose it is, or of what: `Disney` of `Disney's film`, `South Park` of `South Park creators`. */
  readonly owner: Mention | undefined
  /** Of `Disney's`. */
  readonly isOwned: boolean
  /** The year of `the 1998 film`. */
  readonly year: DateMention | undefined
  /** What stands in brackets behind it: from word to word. */
  brackets: readonly [from: number, to: number] | undefined
}

export interface VerbPhrase {
  readonly kind: 'verb'
  readonly from: number
  readonly to: number
  readonly verb: Word
  /** `be`: it is nothing but a form of be. `passive` and `part` are `was made` and `made`. */
  readonly form: 'active' | 'passive' | 'part' | 'gerund' | 'be' | 'infinitive'
  /** Denied, or only possible. */
  readonly isUnsure: boolean
}

interface Small {
  readonly kind: 'preposition' | 'pronoun' | 'relative' | 'and' | 'comma' | 'clause' | 'other'
  readonly from: number
  readonly to: number
  readonly word: Word
}

interface DatePhrase {
  readonly kind: 'date'
  readonly from: number
  readonly to: number
  readonly date: DateMention
}

export type Chunk = NounPhrase | VerbPhrase | Small | DatePhrase

const determiners = new Set(['a', 'an', 'the', 'this', 'that', 'these', 'those', 'another'])
const possessives = new Set(['my', 'your', 'his', 'her', 'its', 'our', 'their'])
const pronouns = new Set(['he', 'she', 'it', 'they'])
const relatives = new Set(['who', 'which', 'whom', 'whose', 'where'])
const clauses = new Set([
  'when',
  'while',
  'if',
  'because',
  'although',
  'though',
  'whether',
  'whilst',
])
const unsure = new Set(['could', 'would', 'should', 'may', 'might', 'can', 'must', 'shall', 'will'])
/** `could perhaps not have been made`. */
const maxVerbWords = 16
const participle =
  /(?:ed|wn|en|ung|ught|lt|ound|born|made|held|set|cut|won|led|sold|told|shot|run|read|hit|put|paid|laid|said|lost|built|sent|spent|begun|become|overseen)$/

/** Made once for a sentence: each of its brackets is read by itself. */
export class Chunker {
  readonly #sentence: Sentence
  readonly #names = new Map<number, Mention>()
  readonly #dates = new Map<number, DateMention>()

  constructor(sentence: Sentence, names: readonly Mention[], dates: readonly DateMention[]) {
    this.#sentence = sentence
    for (const name of names) this.#names.set(name.from, name)
    for (const date of dates) this.#dates.set(date.from, date)
  }

  /** In their order; brackets are part of the noun phrase that they follow, and quotes of nothing. */
  all(from = 0, to = this.#sentence.length): Chunk[] {
    const found: Chunk[] = []
    let i = from
    while (i < to) {
      const word = this.#sentence[i] as Word
      if (word.text === '(' || word.text === '[') {
        const close = this.#closing(i, to)
        const before = found.at(-1)
        if (before?.kind === 'noun') before.brackets = [i + 1, close]
        i = close + 1
        continue
      }
      const chunk = this.#chunkAt(i, to)
      if (chunk === undefined) i++
      else if (this.#isHonour(found, chunk)) {
        found.pop()
        i = chunk.to
      } else {
        found.push(chunk)
        i = chunk.to
      }
    }
    return found
  }

  /** The matching bracket; without one the end. */
  #closing(at: number, to: number): number {
    const [open, close] = this.#sentence[at]?.text === '(' ? ['(', ')'] : ['[', ']']
    let depth = 0
    for (let i = at; i < to; i++) {
      const { text } = this.#sentence[i] as Word
      if (text === open) depth++
      else if (text === close && --depth === 0) return i
    }
    return to
  }

  /** `OBE` and `KC` of `Ada Byron, OBE, KC (born 1963) was`. */
  #isHonour(found: readonly Chunk[], chunk: Chunk): boolean {
    const [first, comma] = found
    if (found.length !== 2 || first?.kind !== 'noun' || comma?.kind !== 'comma') return false
    if (first.name === undefined || first.name.to - first.name.from < 2) return false
    if (chunk.kind !== 'noun' || chunk.to !== chunk.from + 1 || !chunk.name) return false
    const [word, next] = [this.#sentence[chunk.from], this.#sentence[chunk.to]]
    return word?.shape === 'acronym' && (next?.pos === 'AUX' || /^[,([]$/.test(next?.text ?? ''))
  }

  /** Undefined for adverbs, quotes and the like, which nothing depends on. */
  #chunkAt(at: number, end: number): Chunk | undefined {
    const word = this.#sentence[at] as Word
    if (clauses.has(word.lower)) return { kind: 'clause', from: at, to: at + 1, word }
    const noun = this.#names.has(at) ? this.#nounPhrase(at, end) : undefined
    if (noun) return noun
    const date = this.#dates.get(at)
    if (date) return { kind: 'date', from: at, to: date.to, date }
    const kind = smallKind(word)
    if (kind !== undefined) return { kind, from: at, to: at + 1, word }
    return this.#verbPhrase(at, end) ?? this.#nounPhrase(at, end) ?? this.#other(at, word)
  }

  #other(at: number, word: Word): Chunk | undefined {
    if (word.pos === 'ADV' || /^["“”„«»'’‘]+$/.test(word.text)) return undefined
    return { kind: 'other', from: at, to: at + 1, word }
  }

  #verbPhrase(at: number, end: number): VerbPhrase | undefined {
    let verb: Word | undefined
    let [to, isUnsure, isInfinitive, hasBe, hasAux] = [at, false, false, false, false]
    const most = Math.min(end, at + maxVerbWords)
    for (let i = at; i < most; i++) {
      const word = this.#sentence[i] as Word
      if (this.#names.has(i)) break
      if (negations.has(word.lower)) isUnsure = true
      else if (word.pos === 'VERB' && !this.#modifies(i, verb ?? undefined, hasAux)) {
        verb = word
        to = i + 1
      } else if (word.pos === 'AUX') {
        if (verb !== undefined) break
        if (unsure.has(word.lower)) isUnsure = true
        hasBe = word.lemma === 'be'
        hasAux = true
        to = i + 1
      } else if (word.lower === 'to' && word.pos === 'PART') {
        isInfinitive ||= i === at
        if (this.#sentence[i + 1]?.pos !== 'VERB' && this.#sentence[i + 1]?.pos !== 'AUX') break
      } else if (word.pos !== 'ADV') break
    }
    if (to === at) return undefined
    const last = verb ?? (this.#sentence[to - 1] as Word)
    return { kind: 'verb', from: at, to, verb: last, form: formOf(), isUnsure }

    function formOf(): VerbPhrase['form'] {
      if (isInfinitive) return 'infinitive'
      if (verb === undefined) return hasBe ? 'be' : 'active'
      if (hasBe) return verb.lower.endsWith('ing') ? 'active' : 'passive'
      if (hasAux) return 'active'
      if (verb.lower.endsWith('ing')) return 'gerund'
      return participle.test(verb.lower) ? 'part' : 'active'
    }
  }

  /** `an animated series`: the verb is an adjective. */
  #modifies(at: number, before: Word | undefined, hasAux: boolean): boolean {
    if (before !== undefined || !/(?:ed|ing|wn|en)$/.test(this.#sentence[at]?.lower ?? ''))
      return false
    const previous = this.#sentence[at - 1]
    if (hasAux && previous?.pos === 'AUX') return false
    const isInPhrase =
      /^(?:DET|ADJ|PROPN)$/.test(previous?.pos ?? '') || possessives.has(previous?.lower ?? '')
    return isInPhrase && /^(?:NOUN|ADJ)$/.test(this.#sentence[at + 1]?.pos ?? '')
  }

  #nounPhrase(at: number, end: number): NounPhrase | undefined {
    const first = this.#sentence[at] as Word
    const isPossessive = possessives.has(first.lower)
    const isDeterminer = isPossessive || determiners.has(first.lower) || first.pos === 'DET'
    const determiner = isDeterminer ? first.lower : undefined
    let i = isDeterminer ? at + 1 : at
    let name: Mention | undefined
    let owner: Mention | undefined
    let isOwned = false
    let year: DateMention | undefined
    let noun: [from: number, to: number] | undefined
    let named: [from: number, to: number] | undefined
    while (i < end) {
      const word = this.#sentence[i] as Word
      const known = this.#names.get(i)
      if (known !== undefined) {
        // A name behind a name is another phrase, unless a noun stands between them.
        if (name !== undefined && noun === undefined) break
        if (noun !== undefined && (name ?? owner) !== undefined && !isLinking(noun, known)) break
        if (name !== undefined) [owner, isOwned] = [name, false]
        name = known
        named = noun
        noun = undefined
        i = known.to
        if (this.#sentence[i]?.text === '"' || this.#sentence[i]?.text === '”') i++
        continue
      }
      if (isGenitive(word)) {
        if (name === undefined && noun === undefined) break
        // `Disney's film`, `a children's author`
        owner = noun === undefined ? name : undefined
        noun = undefined
        isOwned = owner !== undefined
        name = undefined
        named = undefined
        i++
        continue
      }
      if (word.pos === 'PUNCT' && this.#names.has(i + 1) && /^["“„«]$/.test(word.text)) {
        i++
        continue
      }
      if (word.pos === 'NOUN' && word.plain) {
        // `the film Psycho's director`: what was named before is gone.
        noun = noun === undefined ? [i, i + 1] : [noun[0], i + 1]
        i++
        continue
      }
      // Nothing goes on behind a noun but nouns and names.
      if (noun !== undefined) break
      if (word.pos === 'NUM' && name === undefined) year ??= this.#dates.get(i)
      else if (!this.#describes(i, at, name !== undefined)) break
      i++
    }
    if (name === undefined && noun === undefined) {
      return i > at + 1 || (i > at && first.pos !== 'DET')
        ? this.#empty(at, i, determiner)
        : undefined
    }
    // `South Park creators`: the name is not what it is about.
    const about = noun ?? named
    if (name !== undefined && noun !== undefined) [owner, name, isOwned] = [name, undefined, false]
    return {
      ...{ kind: 'noun', from: at, to: i, determiner, name, owner, isOwned, year },
      noun: about && this.#commonNoun(at, about),
      head: about && this.#sentence[about[1] - 1],
      brackets: undefined,
    }
  }

  /** Whether a word is a modifier in a noun phrase; behind a name only where a noun follows. */
  #describes(i: number, first: number, isNamed: boolean): boolean {
    const [word, next] = [this.#sentence[i] as Word, this.#sentence[i + 1]]
    const isFollowed = next?.pos === 'NOUN' || isAdjective(next)
    if (isAdjective(word)) return !isNamed || isFollowed
    if (word.pos === 'ADV') return isAdjective(next)
    return word.pos === 'VERB' && i > first && this.#modifies(i, undefined, false)
  }

  /** The noun with adjectives before it. */
  #commonNoun(first: number, [from, to]: readonly [number, number]): Mention {
    let start = from
    while (start > first && this.#sentence[start - 1]?.pos === 'ADJ') start--
    return mention(this.#sentence, start, to)
  }

  #empty(from: number, to: number, determiner: string | undefined): NounPhrase {
    return {
      ...{ kind: 'noun', from, to, determiner, name: undefined, noun: undefined },
      ...{
        head: undefined,
        owner: undefined,
        isOwned: false,
        year: undefined,
        brackets: undefined,
      },
    }
  }
}

function smallKind({ lower, pos, text }: Word): Small['kind'] | undefined {
  if (text === ',' || text === ';' || text === ':' || /^[–—-]$/.test(text)) {
    return text === ',' ? 'comma' : 'other'
  }
  if (lower === 'and' || lower === '&') return 'and'
  if (lower === 'but') return 'clause'
  if (relatives.has(lower)) return 'relative'
  if (pos === 'SCONJ') return lower === 'that' ? 'relative' : 'clause'
  if (pronouns.has(lower)) return 'pronoun'
  if (pos === 'ADP' || (lower === 'to' && pos !== 'PART')) return 'preposition'
  if (pos === 'PRON' && !possessives.has(lower)) return lower === 'that' ? 'relative' : 'other'
  return undefined
}

/** The noun right between two names. */
function isLinking(noun: readonly [number, number], name: Mention): boolean {
  return noun[1] === name.from || noun[1] + 1 === name.from
}

function isGenitive({ text }: Word): boolean {
  return text === "'s" || text === '’s' || text === "'" || text === '’'
}

function isAdjective(word: Word | undefined): boolean {
  return word?.pos === 'ADJ' || word?.pos === 'PROPN' || word?.text.includes('-') === true
}
