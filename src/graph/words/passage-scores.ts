import { saturated } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import type { Form } from './forms.js'
import { PassageNumbers } from './passage-numbers.js'
import {
  takePhrase,
  takePlaced,
  type Phrase,
  type PhraseTaker,
  type PlacedForm,
} from './phrases.js'
import type { FieldWeights } from './scoring.js'
import { eachSpan, widest, type SpanWork } from './spans.js'
import type { TopPassages } from './top-passages.js'
import type { PassageSet } from './types.js'
import { entries } from './word-entries.js'
import type { FieldCounts } from './word-list.js'
import { addWords, type WordAndWorth } from './word-scores.js'

/** Numbers that a search needs for the passages of a set. */
class Scratch {
  /** Scores, 0 of those that are not to be found. */
  readonly scores: PassageNumbers
  #frequencies: PassageNumbers | undefined

  constructor(room: number) {
    this.scores = new PassageNumbers(room)
  }

  /** How often the phrase or beginning in hand is in passages that are seen, by field and length. */
  get frequencies(): PassageNumbers {
    return (this.#frequencies ??= new PassageNumbers(this.room))
  }

  get room(): number {
    return this.scores.values.length
  }

  clear(): void {
    this.scores.clear()
    this.#frequencies?.clear()
  }
}

/** Passages for which there is room in all that is kept: 24 MiB, or 48. */
const mostKept = 2 ** 21
const leastRoom = 2 ** 10

/** For the next search, whatever it is about: of a million passages they take longer to make than it takes. */
const free: Scratch[] = []

function takeScratch(passages: number): Scratch {
  const room = Math.max(leastRoom, 2 ** Math.ceil(Math.log2(passages)))
  const at = free.findIndex((scratch) => scratch.room === room)
  return at < 0 ? new Scratch(room) : (free.splice(at, 1)[0] as Scratch)
}

/** The one that was not used for the longest time goes first. */
function giveBack(scratch: Scratch): void {
  scratch.clear()
  if (scratch.room > mostKept) return
  free.push(scratch)
  let kept = free.reduce((sum, { room }) => sum + room, 0)
  while (kept > mostKept) kept -= (free.shift() as Scratch).room
}

/** The scores of the passages of a set, word by word. Methods with a Miss change nothing before it. */
export class PassageScores {
  readonly #set: PassageSet
  readonly #weights: FieldWeights
  readonly #scratch: Scratch
  /** How many phrases were required, and by passage how many of these it has, up to one that it lacks. */
  #required = 0
  #had: Uint16Array | undefined

  constructor(set: PassageSet, weights: FieldWeights) {
    this.#set = set
    this.#weights = weights
    this.#scratch = takeScratch(set.count)
  }

  /** Passages that are seen and have the phrase or beginning in hand. */
  get having(): number {
    return this.#scratch.frequencies.count
  }

  /** Rejects with the signal's reason. */
  async addWords(words: readonly WordAndWorth[], turns: Turns): Promise<void> {
    await addWords(this.#scratch.scores, this.#set, words, this.#weights, turns)
  }

  /** Adds a word of the beginning in hand. Rejects with the signal's reason. */
  async addForm({ word, weight }: Form, turns: Turns): Promise<void> {
    const set = this.#set
    const weights = this.#weights
    const { frequencies } = this.#scratch
    const found = withBlocks(() => set.counts(word))
    const cursor = (found instanceof Promise ? await found : found).entries()
    const begin = (from: number, to: number) => {
      weights.begin(set, from, to)
    }
    const add: SpanWork = (_from, to, seen) => {
      for (let read; (read = weights.read(cursor, weight, to, seen)) >= 0;) {
        for (let n = 0; n < read; n++) {
          frequencies.add(entries.passages[n] as number, entries.frequencies[n] as number)
        }
      }
    }
    await eachSpan({ set, cursors: [cursor], begin, works: [add] }, turns)
  }

  /** Adds a phrase, which is the one in hand. Rejects with the signal's reason. */
  async addPhrase(phrase: Phrase, turns: Turns): Promise<void> {
    await takePhrase(this.#set, phrase, turns, this.#adding())
  }

  /** The same of words between which there are others. */
  async addPlaced(forms: readonly PlacedForm[], turns: Turns): Promise<void> {
    await takePlaced(this.#set, forms, turns, this.#adding())
  }

  #adding(): PhraseTaker {
    const set = this.#set
    const weights = this.#weights
    const { frequencies } = this.#scratch
    const found: { readonly passage: number; readonly counts: FieldCounts }[] = []
    const take: PhraseTaker['take'] = (passage, { title, heading, text }) => {
      found.push({ passage, counts: { title, heading, text } })
    }
    let next = 0
    const addSome = () => {
      const from = found[next]?.passage as number
      const to = Math.min(set.count, from + widest)
      weights.begin(set, from, to)
      for (; next < found.length; next++) {
        const { passage, counts } = found[next] as (typeof found)[number]
        if (passage >= to) return
        const { title, heading, text } = counts
        frequencies.add(passage, weights.frequency(passage, title, heading, text))
      }
    }
    const taken = async () => {
      for (next = 0; next < found.length;) await withBlocks(addSome)
      found.length = 0
    }
    return { take, taken }
  }

  /** Only passages are to be found that have what is in hand, and all of which that was said before. */
  require(): void {
    const had = (this.#had ??= new Uint16Array(this.#set.count))
    const { changed, count } = this.#scratch.frequencies
    for (let n = 0; n < count; n++) {
      const passage = changed[n] as number
      if (had[passage] === this.#required) had[passage] = this.#required + 1
    }
    this.#required++
  }

  /** Ends what is in hand, in all that have it. Gives how often it is in passages that are asked for. */
  endPart(idf: number, asked: readonly number[] = []): number[] {
    const { scores, frequencies } = this.#scratch
    const { values, changed, count } = frequencies
    for (let n = 0; n < count; n++) {
      const passage = changed[n] as number
      scores.add(passage, idf * saturated(values[passage] as number))
    }
    const told = asked.map((passage) => values[passage] as number)
    frequencies.clear()
    return told
  }

  /** Only passages are to be found that have all that was required. */
  keepRequired(): void {
    const had = this.#had
    if (had === undefined) return
    const { values, changed, count } = this.#scratch.scores
    for (let n = 0; n < count; n++) {
      const passage = changed[n] as number
      if (had[passage] !== this.#required) values[passage] = 0
    }
  }

  /** Passages with a phrase are not to be found. Rejects with the signal's reason. */
  async drop(phrase: Phrase, turns: Turns): Promise<void> {
    const { values } = this.#scratch.scores
    const take: PhraseTaker['take'] = (passage) => (values[passage] = 0)
    await takePhrase(this.#set, phrase, turns, { take })
  }

  /** Only passages of a document, by the number of its term. May throw a Miss. */
  keepDocument(document: number): void {
    const documents = this.#set.column('document')
    const { values, changed, count } = this.#scratch.scores
    for (let n = 0; n < count; n++) {
      const passage = changed[n] as number
      if (documents.at(passage) !== document + 1) values[passage] = 0
    }
  }

  /** 0 where a passage is not to be found. */
  of(passage: number): number {
    return this.#scratch.scores.values[passage] as number
  }

  /** `set` is the number of the set. */
  addTo(top: TopPassages, set: number): void {
    const { values, changed, count } = this.#scratch.scores
    let { least } = top
    for (let n = 0; n < count; n++) {
      const passage = changed[n] as number
      const score = values[passage] as number
      if (score < least || score === 0) continue
      top.add({ set, passage, score })
      least = top.least
    }
  }

  /** Whoever made it calls this at the end. */
  end(): void {
    giveBack(this.#scratch)
  }
}
