/**
 * What a ranking weighs. Chosen on the even questions of HotpotQA's sample and of Cranfield's (benchmarks/retrieval.ts),
 * where half or twice of most changes little.
 */
export const weights = {
  /** What each word of a name in the question adds to what is called so, in words of average worth. */
  name: 1,
  /** No more words of a name count. */
  nameWords: 3,
  /** The passages from which names lead on: the first so far. */
  firsts: 10,
  /** How often they do, each time from those that are the first then. */
  rounds: 2,
  /** What a passage that is led to gets of the score of the one that leads there. */
  carried: 0.4,
  /**
   * Of that score so much is taken off of the score of the first passage that leads nowhere. Where all are as good as
   * that, as a long question has it, none of them is what the question begins with.
   */
  others: 0.5,
  /** What it gets of the words that it has and the other one has not. */
  added: 1.25,
  /** To what a name is the title of. */
  title: 1,
  /** To what has the name as well, by how many those are. */
  having: 0.5,
  /** By a name that the question has: what it leads to was found by it. */
  asked: 0.5,
  /** Passages with a name of the question that are looked at for what else that is called. */
  aliased: 3,
  /** A name that is the title of more documents leads nowhere, */
  mostTitled: 50,
  /** nor does one that is in more passages lead from one of these to another. */
  mostHaving: 20,
} as const
