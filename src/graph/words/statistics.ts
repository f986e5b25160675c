// What scores of words go by: how many passages there are, and how long they are.

import { withBlocks } from '../miss.js'
import type { Turns } from '../../turns.js'
import type { PassageSet } from './types.js'
import type { FieldCounts } from './word-list.js'

/** Of all passages that a question sees. */
export interface Statistics {
  readonly passages: number
  /** Words of a passage on average, by field. */
  readonly average: FieldCounts
}

interface Sums extends FieldCounts {
  passages: number
}

/** Of sets that are seen in part; they live as long as their version. */
const known = new WeakMap<PassageSet, Sums>()

const atOnce = 4096

export async function statisticsOf(sets: readonly PassageSet[], turns: Turns): Promise<Statistics> {
  const all: Sums = { passages: 0, title: 0, heading: 0, text: 0 }
  for (const set of sets) add(all, await sumsOf(set, turns))
  const { passages } = all
  const average = (words: number) => (passages === 0 ? 0 : words / passages)
  return {
    passages,
    average: { title: average(all.title), heading: average(all.heading), text: average(all.text) },
  }
}

async function sumsOf(set: PassageSet, turns: Turns): Promise<Sums> {
  if (set.isWhole) return { passages: set.count, ...set.lengths }
  const before = known.get(set)
  if (before !== undefined) return before
  const sums: Sums = { passages: 0, title: 0, heading: 0, text: 0 }
  for (let from = 0; from < set.count; from += atOnce) {
    const to = Math.min(set.count, from + atOnce)
    // Begun anew after each Miss.
    const some = await withBlocks(() => {
      const some: Sums = { passages: 0, title: 0, heading: 0, text: 0 }
      const seen = set.seen()
      const titles = set.column('titleWords')
      const headings = set.column('headingWords')
      const texts = set.column('textWords')
      for (let n = from; n < to; n++) {
        if (!seen.has(n)) continue
        some.passages++
        some.title += titles.at(n)
        some.heading += headings.at(n)
        some.text += texts.at(n)
      }
      return some
    })
    add(sums, some)
    await turns.pass()
  }
  known.set(set, sums)
  return sums
}

function add(sums: Sums, { passages, title, heading, text }: Sums): void {
  sums.passages += passages
  sums.title += title
  sums.heading += heading
  sums.text += text
}
