// What the score of a passage is the sum of.

import { saturated } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import type { QuestionParts } from './parts.js'
import { PassageScores } from './passage-scores.js'
import type { PartOfSearch } from './question.js'
import { FieldWeights } from './scoring.js'
import type { ScoredPassage } from './top-passages.js'
import type { PassageSet } from './types.js'

/** What a word or a phrase of a question adds to the score of a passage. */
export interface ScoreOfPart extends PartOfSearch {
  /** How often it is in the passage, by field, length and form. */
  readonly frequency: number
  readonly score: number
}

/** The parts of a question that some passages have, by passage. Rejects with the signal's reason. */
export async function explained(
  sets: readonly PassageSet[],
  parts: QuestionParts,
  found: readonly Pick<ScoredPassage, 'set' | 'passage'>[],
  turns: Turns,
): Promise<ScoreOfPart[][]> {
  const fields = new FieldWeights(parts.statistics)
  const all: ScoreOfPart[][] = found.map(() => [])
  const asked = sets.map((_, n) => found.map(({ set, passage }) => (set === n ? passage : -1)))
  const tell = (part: PartOfSearch, frequencies: readonly number[], weight = 1) => {
    for (const [n, frequency = 0] of frequencies.entries()) {
      if (!(frequency > 0) || part.idf === 0) continue
      all[n]?.push({ ...part, frequency, score: weight * part.idf * saturated(frequency) })
    }
  }
  const scores = sets.map((set) => new PassageScores(set, fields))
  try {
    await parts.each(scores, {
      words: async (words) => {
        for (const { all, exact, weight, inSets } of words) {
          for (const [n, word] of inSets.entries()) {
            const told = await word.told(asked[n] as readonly number[], fields, turns)
            tell(all, told.all, weight)
            tell(exact, told.exact, weight)
          }
        }
      },
      part: (taken) => {
        for (const [n, each] of scores.entries()) tell(taken, each.endPart(taken.idf, asked[n]))
      },
    })
    return all
  } finally {
    for (const each of scores) each.end()
  }
}
