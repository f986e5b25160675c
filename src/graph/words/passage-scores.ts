import { saturated } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import { patience, withBlocks } from '../miss.js'
import type { Form } from './forms.js'
import { takePhrase, type Phrase, type PhraseTaker } from './phrases.js'
import type { FieldWeights } from './scoring.js'
import type { TopPassages } from './top-passages.js'
import type { PassageSet } from './types.js'
import type { WordList } from './word-list.js'

/** Numbers of the passages of a set, all of them zeros between two searches, and which of them are not. */
class PassageNumbers {
  readonly values: Float64Array
  readonly changed: Uint32Array
  count = 0

  constructor(passages: number) {
    this.values = new Float64Array(passages)
    this.changed = new Uint32Array(passages)
  }

  /** Adds a number above 0. */
  add(passage: number, number: number): void {
    const { values } = this
    const before = values[passage] as number
    if (before === 0) this.changed[this.count++] = passage
    values[passage] = before + number
  }

  clear(): void {
    for (let n = 0; n < this.count; n++) this.values[this.changed[n] as number] = 0
    this.count = 0
  }
}

/** Numbers that a search needs for the passages of a set. */
class Scratch {
  /** Scores, 0 of those that are not to be found. */
  readonly scores: PassageNumbers
  /** How often the word in hand is in passages that are seen, by field, length and form. */
  readonly frequencies: PassageNumbers
  /** The same of the form alone that was asked for. */
  readonly exact: PassageNumbers

  constructor(room: number) {
    this.scores = new PassageNumbers(room)
    this.frequencies = new PassageNumbers(room)
    this.exact = new PassageNumbers(room)
  }

  get room(): number {
    return this.scores.values.length
  }
}

/** Passages for which there is room in all that is kept: 72 MiB. */
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
  scratch.scores.clear()
  scratch.frequencies.clear()
  scratch.exact.clear()
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

  /** Passages that are seen and have the word in hand. */
  get having(): number {
    return this.#scratch.frequencies.count
  }

  /** Those that have it as it was asked for. */
  get havingExactly(): number {
    return this.#scratch.exact.count
  }

  /** Adds a form of the word in hand. Rejects with the signal's reason. */
  async addForm({ word, weight }: Form, turns: Turns): Promise<void> {
    const found = withBlocks(() => this.#set.counts(word))
    const list = found instanceof Promise ? await found : found
    for (;;) {
      const added = withBlocks(() => this.#addSome(list, weight))
      const isMore = added instanceof Promise ? await added : added
      if (turns.isLong) await turns.pass()
      if (!isMore) return
    }
  }

  /** False at the end. May throw a Miss before it has added any: others may have taken blocks. */
  #addSome(list: WordList, weight: number): boolean {
    const weights = this.#weights
    const { frequencies } = this.#scratch
    weights.begin(this.#set)
    const seen = this.#set.isWhole ? undefined : this.#set.seen()
    for (let left = patience.passages; left > 0; left--) {
      if (!list.next()) return false
      const { passage } = list
      if (seen?.has(passage) === false) continue
      frequencies.add(passage, weight * weights.frequency(passage, list))
    }
    return true
  }

  /** What was added of the word in hand is all that is as it was asked for. */
  keepExact(): void {
    const { frequencies, exact } = this.#scratch
    const { values, changed, count } = frequencies
    for (let n = 0; n < count; n++) {
      const passage = changed[n] as number
      exact.add(passage, values[passage] as number)
    }
  }

  /** Adds a phrase, which is the word in hand. Rejects with the signal's reason. */
  async addPhrase(phrase: Phrase, turns: Turns): Promise<void> {
    const weights = this.#weights
    const { frequencies } = this.#scratch
    const begin = () => weights.begin(this.#set)
    const take: PhraseTaker['take'] = (passage, counts) => {
      frequencies.add(passage, weights.frequency(passage, counts))
    }
    await takePhrase(this.#set, phrase, turns, { begin, take })
  }

  /** Only passages are to be found that have the word in hand, and all of which that was said before. */
  require(): void {
    const had = (this.#had ??= new Uint16Array(this.#set.count))
    const { changed, count } = this.#scratch.frequencies
    for (let n = 0; n < count; n++) {
      const passage = changed[n] as number
      if (had[passage] === this.#required) had[passage] = this.#required + 1
    }
    this.#required++
  }

  /** Ends the word in hand, in all that have it. Gives how often it is in passages that are asked for. */
  endWord(idf: number, asked: readonly number[] = []): number[] {
    return this.#end(this.#scratch.frequencies, idf, asked)
  }

  /** The same of what was kept. */
  endExact(idf: number, asked: readonly number[] = []): number[] {
    return this.#end(this.#scratch.exact, idf, asked)
  }

  #end(frequencies: PassageNumbers, idf: number, asked: readonly number[]): number[] {
    const { scores } = this.#scratch
    const { values, changed, count } = frequencies
    if (idf > 0) {
      for (let n = 0; n < count; n++) {
        const passage = changed[n] as number
        scores.add(passage, idf * saturated(values[passage] as number))
      }
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

  /** `set` is the number of the set. */
  addTo(top: TopPassages, set: number): void {
    const { values, changed, count } = this.#scratch.scores
    for (let n = 0; n < count; n++) {
      const passage = changed[n] as number
      const score = values[passage] as number
      if (score > 0 && score >= top.least) top.add({ set, passage, score })
    }
  }

  /** Whoever made it calls this at the end. */
  end(): void {
    giveBack(this.#scratch)
  }
}
