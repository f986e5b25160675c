// Vectors without a model: feature hashing (Weinberger et al. 2009, "Feature hashing for large scale
// multitask learning"). What is counted is words, pairs of words and runs of three characters in
// words. So texts are near to each other that share words and parts of words: this finds lexical
// likeness, in any language, and knows nothing of meaning.
//
// The same text has the same bits on every machine: whole numbers, and square roots, which are
// exactly rounded, as Math.log is not. Character classes are ours, not those of the engine.

import type { Embedder } from './types.js'
import { checkOptions } from '../../door/options.js'
import { aCount } from '../../door/rules.js'

export interface HashingEmbedderOptions {
  /** Length of the vectors. 384 by default. */
  readonly dimensions?: number
}

/**
 * Every vector has length 1, to about three digits. A text that has no word (or whose words cancel each other out) has no
 * direction of its own, and gets that of the first axis.
 */
export function hashingEmbedder(options: HashingEmbedderOptions = {}): Embedder {
  const { dimensions = 384 } = checkOptions('hashingEmbedder()', options, hashingOptions)
  const features = new Features()
  const embedder: Embedder = (texts) =>
    texts.map((text) => {
      count(folded(text), features)
      const vector = new Float64Array(dimensions)
      features.addTo(vector)
      return rounded(normalized(vector))
    })
  made.add(embedder)
  return embedder
}

const made = new WeakSet<Embedder>()

/** Whether an embedder is of this kind: it costs less than to record what it gives. */
export function isHashing(embedder: Embedder): boolean {
  return made.has(embedder)
}

const hashingOptions = { dimensions: aCount(1) }

// What NFKC makes of an upper-case letter may be one again, and the other way round.
function folded(text: string): string {
  return bounded(text).normalize('NFKC').toLowerCase().normalize('NFKC')
}

/**
 * Without most of a long run of combining marks: putting one into its canonical order takes the
 * square of its length (ICU 74: 80,000 marks 4.4 s).
 */
function bounded(text: string): string {
  return mayHaveRun(text) ? text.replace(/(\p{M}{64})\p{M}+/gu, '$1') : text
}

/** A long run is at one of these places. To look at all would take thrice as long as to normalize. */
function mayHaveRun(text: string): boolean {
  for (let i = 63; i < text.length; i += 64) {
    if (text.charCodeAt(i) >= 0x300 && /\p{M}/u.test(text.slice(i - 1, i + 2))) return true
  }
  return false
}

function normalized(vector: Float64Array): Float64Array {
  let squares = 0
  for (let i = 0; i < vector.length; i++) squares += (vector[i] as number) ** 2
  if (squares === 0) vector[0] = squares = 1
  const length = Math.sqrt(squares)
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) / length
  return vector
}

/**
 * To multiples of a power of two, of which the largest component is 2,048 to 4,095. A double of twelve
 * digits is mostly zeros, and the same ones come again: compressed, a core takes a tenth less (of a
 * passage of 100 words), a fifth less (of 200). Cosines move in the fifth decimal.
 */
function rounded(vector: Float64Array): Float64Array {
  let largest = 0
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i] as number))
  // Not by Math.log2, which is not the same on every machine.
  let step = 1
  while (step > largest) step /= 2
  step /= 2048
  // Never minus zero.
  for (let i = 0; i < vector.length; i++) {
    vector[i] = Math.round((vector[i] as number) / step) * step + 0
  }
  return vector
}

// ── features ─────────────────────────────────────────────────────────────────

const WORD = 1
const PAIR = 2
const TRIGRAM = 3
/** A word has about as many runs of characters as letters: together they weigh about what it does. */
const weights = [0, 1, 0.5, 0.4]

// Hot: one pass over the code units, no objects made. Code units, not characters: the halves of a
// pair of surrogates stay next to each other in any run that matters.
function count(text: string, features: Features): void {
  let word = 0
  let wordBefore = 0
  let last = 0
  let beforeLast = 0
  for (let i = 0; i <= text.length; i++) {
    const unit = i < text.length ? text.charCodeAt(i) : 0
    const kind = kinds[unit]
    if (kind === LETTER) {
      word = Math.imul(word ^ unit, 0x01000193) + 0x3c6ef372
      if (last !== 0) features.add(runOfThree(beforeLast, last, unit), TRIGRAM)
      beforeLast = last
      last = unit
      continue
    }
    if (last !== 0) {
      features.add(runOfThree(beforeLast, last, 0), TRIGRAM)
      wordBefore = end(word, wordBefore, features)
      word = last = beforeLast = 0
    }
    // Written without spaces: each is a word, and the pairs are the runs.
    if (kind === IDEOGRAPH) wordBefore = end(unit, wordBefore, features)
  }
}

function end(word: number, before: number, features: Features): number {
  features.add(mixed(word), WORD)
  if (before !== 0) features.add(mixed(Math.imul(before, 0x9e3779b1) + word), PAIR)
  return word
}

function runOfThree(a: number, b: number, c: number): number {
  return mixed(Math.imul(Math.imul(a, 0x85ebca6b) ^ b, 0xc2b2ae35) ^ c)
}

/** The end of MurmurHash3: each bit of the result depends on each of the number. */
function mixed(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** How often each feature occurs: an open hash table that is emptied and used again. */
class Features {
  #keys = new Int32Array(8192)
  #counts = new Int32Array(8192)
  /** The slots in use, in the order of their first use, which makes sums repeatable. */
  #used = new Int32Array(4096)
  #size = 0

  add(hash: number, family: number): void {
    // Never 0, which is a free slot.
    const key = (hash & ~3) | family
    const mask = this.#keys.length - 1
    let slot = (hash >>> 2) & mask
    for (;;) {
      const found = this.#keys[slot]
      if (found === key) {
        this.#counts[slot] = (this.#counts[slot] as number) + 1
        return
      }
      if (found === 0) break
      slot = (slot + 1) & mask
    }
    if (this.#size === this.#used.length) {
      this.#grow()
      return this.add(hash, family)
    }
    this.#keys[slot] = key
    this.#counts[slot] = 1
    this.#used[this.#size++] = slot
  }

  /** A feature that occurs n times counts as the root of n. Empties the table. */
  addTo(vector: Float64Array): void {
    for (let i = 0; i < this.#size; i++) {
      const slot = this.#used[i] as number
      const key = this.#keys[slot] as number
      const weight = (weights[key & 3] as number) * Math.sqrt(this.#counts[slot] as number)
      // The sign, from a bit that the place does not depend on, keeps collisions from adding up.
      const place = (key >>> 3) % vector.length
      vector[place] = (vector[place] as number) + (key & 4 ? weight : -weight)
      this.#keys[slot] = 0
    }
    this.#size = 0
  }

  #grow(): void {
    const keys = this.#keys
    const counts = this.#counts
    const used = this.#used
    this.#keys = new Int32Array(keys.length * 2)
    this.#counts = new Int32Array(keys.length * 2)
    this.#used = new Int32Array(used.length * 2)
    const mask = this.#keys.length - 1
    for (let i = 0; i < this.#size; i++) {
      const from = used[i] as number
      let slot = ((keys[from] as number) >>> 2) & mask
      while (this.#keys[slot] !== 0) slot = (slot + 1) & mask
      this.#keys[slot] = keys[from] as number
      this.#counts[slot] = counts[from] as number
      this.#used[i] = slot
    }
  }
}

// ── characters ───────────────────────────────────────────────────────────────

const LETTER = 1
const IDEOGRAPH = 2

/**
 * Blocks of punctuation and signs (0: between words), and of what is written without spaces. All
 * else beyond ASCII is a letter; NFKC has taken wide forms and the like away before.
 */
const blocks: readonly (readonly [from: number, to: number, kind: number])[] = [
  [0x80, 0xa9, 0],
  [0xab, 0xb4, 0],
  [0xb6, 0xb9, 0],
  [0xbb, 0xbf, 0],
  [0xd7, 0xd7, 0],
  [0xf7, 0xf7, 0],
  [0x2000, 0x206f, 0],
  [0x2190, 0x2bff, 0],
  [0x2e00, 0x2e7f, 0],
  [0x3000, 0x303f, 0],
  [0x3005, 0x3005, IDEOGRAPH],
  [0x3040, 0x30ff, IDEOGRAPH],
  [0x3400, 0x9fff, IDEOGRAPH],
  [0xf900, 0xfaff, IDEOGRAPH],
  [0xfe10, 0xfe6f, 0],
]

/** The kind of each code unit; 0 for what is between words. */
const kinds = new Uint8Array(0x10000).fill(LETTER, 0x80)
for (const unit of 'abcdefghijklmnopqrstuvwxyz0123456789') kinds[unit.charCodeAt(0)] = LETTER
for (const [from, to, kind] of blocks) kinds.fill(kind, from, to + 1)
