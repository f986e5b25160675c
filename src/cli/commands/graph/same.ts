// `lorekeep duplicates`, `merge` and `split`: what may be one thing, what is, and what is not.

import type { Duplicate } from '../../../graph/types.js'
import type { Term } from '../../../types.js'
import { withGraph } from '../../access/access.js'
import { interruptible, note } from '../../output/failure.js'
import { printList } from '../../output/listing.js'
import { left, right, whole } from '../../output/table.js'
import { formatTerm } from '../../output/term.js'
import { graphOf } from './match.js'
import type { GraphFlags } from './match.js'
import { whyNoCores } from './nearest.js'

interface DuplicatesCommandOptions extends GraphFlags {
  readonly limit: number
  readonly least?: number
}

const columns = [right('SCORE'), left('WHY'), whole('A'), whole('B')]

export async function listDuplicates(options: DuplicatesCommandOptions): Promise<void> {
  const { limit, least } = options
  const { found, why } = await withGraph(options, (access) =>
    interruptible(async (signal) => {
      const found = await access.duplicates(graphOf(options), { limit, least, signal })
      const isNothing = found.length === 0 && !options.json
      const why = isNothing ? await whyNoCores(access, options) : undefined
      return { found, why: isNothing ? (why ?? 'nothing looks like one thing') : undefined }
    }),
  )
  await printList(found, { columns, cellsOf }, options.json)
  if (why !== undefined) note(why)
}

function cellsOf({ score, reasons, a, b }: Duplicate): string[] {
  return [String(score), reasons.join(), formatTerm(a), formatTerm(b)]
}

export const merge = changing('merge', 'are one now')
export const split = changing('split', 'are not one now')

function changing(how: 'merge' | 'split', what: string) {
  return async (a: Term, b: Term, options: GraphFlags): Promise<void> => {
    await withGraph(options, (access) =>
      interruptible((signal) => access.change(how, graphOf(options), [a, b], { signal })),
    )
    note(`${formatTerm(a)} and ${formatTerm(b)} ${what}`)
  }
}
