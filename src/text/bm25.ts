// How good a text is for a word: BM25. Robertson & Zaragoza, "The Probabilistic Relevance Framework:
// BM25 and Beyond" (2009), section 3.6, with the idf that is never below 0 (as Lucene has it).

export const bm25 = {
  /** Where a word that is more frequent adds little more. */
  k1: 1.5,
  /** How much the length of a text counts. */
  b: 0.75,
  /** What a word counts in another form than the question has. */
  otherForm: 0.9,
  /** What it is worth more that the question has a word twice, or twice as often. */
  again: 0.2,
}

/** `having`: the texts that have the word, of all. */
export function idfOf(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5))
}

export function saturated(frequency: number): number {
  return frequency / (bm25.k1 + frequency)
}

/** What a word counts that a question has so many times. */
export function weightOfTimes(times: number): number {
  return 1 + bm25.again * Math.log2(times)
}

/** What how often a word is in a text is divided by: 1 where it is as long as texts are on average. */
export function norm(length: number, average: number): number {
  return 1 - bm25.b + (bm25.b * length) / average
}
