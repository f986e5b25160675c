// All of a question as it stands in passages, and other words in their places.

import { eachWord } from '../../text/words.js'
import type { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import { bounds } from './bounds.js'
import { takePlaced, type Phrase, type PlacedForm } from './phrases.js'
import type { PassageOfSet } from './passage-order.js'
import type { PassageSet } from './types.js'

/** The title, the heading and the text of a passage. */
export type FieldsOf = (set: PassageSet, passage: number) => Promise<readonly string[]>

interface WholeReading {
  /** How many passages have a word; undefined of those that nobody has counted. */
  readonly havingExactly: (form: string) => number | undefined
  readonly fieldsOf: FieldsOf
}

/**
 * The passages in which all of a question stands as it is. Its rarest words are looked for first, each in its
 * place: where a few passages have them so, these are read, and not the lists of words that are everywhere.
 */
export async function havingWhole(
  sets: readonly PassageSet[],
  whole: Phrase,
  { havingExactly, fieldsOf }: WholeReading,
  turns: Turns,
): Promise<PassageOfSet[]> {
  const counted = whole.forms.flatMap((form, at) => {
    const count = havingExactly(form)
    return count === undefined ? [] : [{ form, at, count }]
  })
  counted.sort((a, b) => a.count - b.count)
  const [rarest] = counted
  if (rarest === undefined || rarest.count === 0 || rarest.count > bounds.mostPaired) return []
  const placed = counted.slice(0, bounds.mostPlaced).sort((a, b) => a.at - b.at)
  const start = placed[0]?.at ?? 0
  const forms = placed.map(({ form, at }) => ({ form, at: at - start }))
  const found: PassageOfSet[] = []
  for (const [n, set] of sets.entries()) {
    const take = (passage: number) => found.push({ set: n, passage })
    await takePlaced(set, forms, turns, { take })
  }
  if (found.length === 0) return []
  if (!(await areShort(sets, found))) {
    return [...(await having(sets, placedIn(whole), turns)).values()]
  }
  const those: PassageOfSet[] = []
  for (const each of found) {
    const fields = await fieldsOf(sets[each.set] as PassageSet, each.passage)
    if (fields.some((field) => stands(whole, field))) those.push(each)
    await turns.pass()
  }
  return those
}

/** Whether passages are few, and have few words together. */
async function areShort(
  sets: readonly PassageSet[],
  passages: readonly PassageOfSet[],
): Promise<boolean> {
  if (passages.length > bounds.mostRead) return false
  let words = 0
  for (const { set, passage } of passages) {
    const some = await withBlocks(() => wordsOf(sets[set] as PassageSet, passage))
    words += some
  }
  return words <= bounds.mostReadWords
}

function wordsOf(set: PassageSet, passage: number): number {
  const names = ['titleWords', 'headingWords', 'textWords'] as const
  const counts = names.map((name) => set.column(name, passage, passage + 1).at(passage))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Whether a text has the words of a phrase one behind the other. */
function stands({ forms }: Phrase, text: string): boolean {
  const words: string[] = []
  eachWord(text, (form) => words.push(form))
  return words.some((_, at) => forms.every((form, n) => words[at + n] === form))
}

export async function having(
  sets: readonly PassageSet[],
  forms: readonly PlacedForm[],
  turns: Turns,
): Promise<Map<string, PassageOfSet>> {
  const found = new Map<string, PassageOfSet>()
  for (const [n, set] of sets.entries()) {
    const take = (passage: number) => found.set(`${n} ${passage}`, { set: n, passage })
    await takePlaced(set, forms, turns, { take })
  }
  return found
}

export function placedIn({ forms }: Phrase): PlacedForm[] {
  return forms.map((form, at) => ({ form, at }))
}
