// Passages by words, names, and where names lead; and what they speak of.

import { stemmer, type Stemmer } from '../../text/stemming.js'
import { eachWord } from '../../text/words.js'
import { withBlocks } from '../miss.js'
import type { Candidate, Step } from '../ranking/candidates.js'
import { rank, type RankingQuestion } from '../ranking/ranking.js'
import type { LegScore, NameOnTheWay, NearEntity } from '../types.js'
import { ANY, NONE } from '../view.js'
import { mostText } from '../words/asked-words.js'
import type { PassageSet } from '../words/types.js'
import type { Bookkeeping } from './bookkeeping.js'
import type { Row } from '../taking.js'
import type { GraphReader } from './reader.js'
import type { SourceCandidate } from './sources.js'

/** What they speak of is read of so many of the first. */
const readFor = 20
/** Entities that one passage contributes by each predicate. */
const mostOfPassage = 200

/** The best passages, each once, best first. */
export async function rankedPassages(
  reader: GraphReader,
  sets: readonly PassageSet[],
  question: RankingQuestion,
): Promise<SourceCandidate[]> {
  const { view } = reader
  const ranked = await rank(view, sets, question)
  const used = (['words', 'names', 'walk'] as const).filter((leg) => question.legs[leg])
  const ranks = new Map(used.map((leg) => [leg, ranksBy(ranked, leg)]))
  const found = await reader.each(ranked, (candidate) =>
    withBlocks((): SourceCandidate => {
      const { set, passage, chunk, total: score } = candidate
      const legs = Object.fromEntries(
        [...ranks].flatMap(([leg, ofLeg]) => {
          const rank = ofLeg.get(candidate)
          return rank === undefined ? [] : [[leg, { rank, score: candidate[leg] }]]
        }),
      ) as Record<string, LegScore>
      const core = (sets[set] as PassageSet).coreOf(passage)
      const [id, via] = [view.find(chunk), wayTo(candidate, question.legs)]
      return { id, core, from: undefined, score, legs, via, entities: [] }
    }),
  )
  return found.filter(({ id }) => id !== NONE)
}

/** By those that have a score in it: their places, from 1. */
function ranksBy(
  ranked: readonly Candidate[],
  leg: 'words' | 'names' | 'walk',
): Map<Candidate, number> {
  const those = ranked.filter((candidate) => candidate[leg] > 0)
  those.sort((a, b) => b[leg] - a[leg])
  return new Map(those.map((candidate, n) => [candidate, n + 1]))
}

function wayTo(to: Candidate, legs: RankingQuestion['legs']): NameOnTheWay[] {
  const way: NameOnTheWay[] = []
  const passed = new Set<Candidate>()
  for (let at: Candidate | undefined = to; at !== undefined && !passed.has(at);) {
    passed.add(at)
    const { names, walk }: Candidate = at
    const words: number = legs.words ? at.words : 0
    const step: Step | undefined = walk > names ? at.led : at.named
    // What its own words have found most of is where the way begins.
    if (step === undefined || words >= Math.max(names, walk)) break
    way.unshift({ name: step.name, ...(step.from && { from: step.from.chunk }) })
    at = step.from
  }
  return way
}

interface SpokenOf {
  readonly id: number
  readonly core: string
  /** By how much of what was found. */
  share: number
}

/** What the first passages speak of, the best first: by how much of the question its name has, and in how many. */
export async function spokenOf(
  reader: GraphReader,
  books: Bookkeeping,
  passages: readonly SourceCandidate[],
  { text, words }: Pick<RankingQuestion, 'text' | 'words'>,
): Promise<{ readonly id: number; readonly near: NearEntity; readonly passages: number[] }[]> {
  const { label } = books.ids
  const firsts = passages.slice(0, readFor)
  const all = firsts.reduce((sum, { score }) => sum + score, 0)
  const anything = { most: mostOfPassage, accepts: () => true }
  const found = new Map<number, SpokenOf & { readonly passages: number[] }>()
  const rows = await reader.each(firsts, ({ id }) =>
    reader.run((taking) => books.roles.from.flatMap((p) => taking.rows(ANY, p, id, anything))),
  )
  for (const [n, { id: passage, core, score }] of firsts.entries()) {
    for (const id of new Set(rows[n]?.map(({ s }) => s))) {
      const known = found.get(id) ?? { id, core: core ?? '', share: 0, passages: [] }
      known.share += score / all
      known.passages.push(passage)
      found.set(id, known)
    }
  }
  const asked = new Asked(text.slice(0, mostText), await stemmer(words.languages[0] ?? 'en'))
  const isLiteral = ({ o }: Row) => !reader.term(o).e
  const scored = await reader.each([...found.values()], ({ id, core, share, passages }) =>
    reader.run((taking) => {
      const labelled = taking.object(id, label, isLiteral)
      const [entity, name] = [
        reader.term(id),
        labelled === undefined ? '' : reader.term(labelled).v,
      ]
      const score = (asked.shareOf(name) + Math.min(1, share)) / 2
      return { id, near: { entity, score, core }, passages }
    }),
  )
  return scored.sort((a, b) => b.near.score - a.near.score)
}

/** How much of a name a question has. */
class Asked {
  readonly #stemOf: Stemmer
  readonly #stems: ReadonlySet<string>
  /** Forms of a word begin alike, and stemming takes longer than all else. */
  readonly #beginnings: ReadonlySet<string>

  constructor(question: string, stemOf: Stemmer) {
    this.#stemOf = stemOf
    const forms = formsIn(question)
    this.#stems = new Set(forms.map(this.#stemOf))
    this.#beginnings = new Set(forms.map((form) => form.slice(0, 2)))
  }

  /** 0 where they share no word, 1 where the question has all of the name. */
  shareOf(name: string): number {
    const forms = formsIn(name)
    if (forms.length === 0) return 0
    return forms.filter((form) => this.#has(form)).length / forms.length
  }

  #has(form: string): boolean {
    return this.#beginnings.has(form.slice(0, 2)) && this.#stems.has(this.#stemOf(form))
  }
}

function formsIn(text: string): string[] {
  const forms: string[] = []
  eachWord(text, (form) => forms.push(form))
  return forms
}
