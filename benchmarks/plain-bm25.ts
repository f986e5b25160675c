// A word search to be better than: BM25F over title and text, in memory, with a stemmer and stop words. It
// shares nothing with ours but the stemmer's package.

import { stemmer } from '@orama/stemmers/english'
import type { Passage } from './retrieval-data.js'

const stopWords = new Set(
  `a about after all an and any are as at be been but by can did do does for from had has have he her his how
  i if in into is it its more most no not of on one or other out over she so some such than that the their
  them then there these they this those to up was were what when where which while who whom whose why will
  with would`.split(/\s+/),
)

const k1 = 1.2
const b = 0.75
const titleWeight = 2

interface Counted {
  readonly id: string
  readonly counts: ReadonlyMap<string, number>
}

export class PlainBm25 {
  readonly #passages: readonly Counted[]
  readonly #having = new Map<string, number>()

  constructor(passages: readonly Passage[]) {
    const read = passages.map(({ id, title, text }) => {
      return { id, fields: [[titleWeight, wordsOf(title)] as const, [1, wordsOf(text)] as const] }
    })
    const means = [0, 1].map(
      (n) => read.reduce((sum, { fields }) => sum + (fields[n]?.[1].length ?? 0), 0) / read.length,
    )
    this.#passages = read.map(({ id, fields }) => {
      const counts = new Map<string, number>()
      for (const [n, [weight, words]] of fields.entries()) {
        const share = weight / (1 - b + (b * words.length) / (means[n] as number))
        for (const word of words) counts.set(word, (counts.get(word) ?? 0) + share)
      }
      for (const word of counts.keys()) this.#having.set(word, (this.#having.get(word) ?? 0) + 1)
      return { id, counts }
    })
  }

  search(question: string, k: number): string[] {
    const words = [...new Set(wordsOf(question))]
    const all = this.#passages.length
    const scored = this.#passages.map(({ id, counts }) => {
      let score = 0
      for (const word of words) {
        const count = counts.get(word)
        if (count === undefined) continue
        const having = this.#having.get(word) ?? 0
        score += (Math.log(1 + (all - having + 0.5) / (having + 0.5)) * count) / (k1 + count)
      }
      return { id, score }
    })
    const found = scored.filter(({ score }) => score > 0).sort((x, y) => y.score - x.score)
    return found.slice(0, k).map(({ id }) => id)
  }
}

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter((word) => !stopWords.has(word)).map((word) => stemmer(word))
}
