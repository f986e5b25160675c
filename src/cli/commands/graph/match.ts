// `lorekeep match`: the triples of a pattern.

import type { FilterValue, GraphQuery, TriplePattern } from '../../../graph/types.js'
import type { Term } from '../../../types.js'
import { withGraph } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { interruptible, note, UsageError } from '../../output/failure.js'
import { formatCounted } from '../../output/figures.js'
import { jsonText, writeJson, writeOut } from '../../output/output.js'
import { formatTriple } from '../../output/term.js'

/** Which cores are asked. */
export interface GraphFlags extends AccessOptions {
  readonly user: string
  readonly core?: readonly string[]
  readonly collection?: string
  readonly json?: true
}

export function graphOf({ user, core, collection }: GraphFlags): GraphQuery {
  return {
    user,
    ...(core !== undefined && { cores: core }),
    ...(collection !== undefined && { collection }),
  }
}

interface MatchCommandOptions extends GraphFlags {
  readonly s?: Term
  readonly p?: Term
  readonly o?: Term
  readonly g?: string
  readonly defaultGraph?: true
  readonly gt?: FilterValue
  readonly gte?: FilterValue
  readonly lt?: FilterValue
  readonly lte?: FilterValue
  readonly limit?: number
  readonly count?: true
}

/** What is printed at once, in characters: the first line when it is there, then more and more. */
const printedAtOnce = 16 * 1024

export async function matchTriples(options: MatchCommandOptions): Promise<void> {
  const { s, p, o, gt, gte, lt, lte, limit } = options
  const isFiltered = [gt, gte, lt, lte].some((value) => value !== undefined)
  const g = options.defaultGraph ? null : options.g
  const pattern: TriplePattern = {
    s,
    p,
    o,
    ...(g !== undefined && { g }),
    ...(isFiltered && { filter: { gt, gte, lt, lte } }),
  }
  if (options.count) {
    if (limit !== undefined) throw new UsageError('--count cannot be used with --limit')
    return countTriples(options, pattern)
  }
  const count = await withGraph(options, async (access) =>
    interruptible(async (signal) => {
      let count = 0
      let text = ''
      let step = 1
      for await (const triple of access.match(graphOf(options), pattern, { limit, signal })) {
        count++
        text += `${options.json ? jsonText(triple) : formatTriple(triple)}\n`
        if (text.length < step) continue
        await writeOut(text)
        text = ''
        step = Math.min(2 * step, printedAtOnce)
      }
      if (text !== '') await writeOut(text)
      return count
    }),
  )
  if (!options.json) note(formatCounted(count, 'triple'))
}

async function countTriples(options: MatchCommandOptions, pattern: TriplePattern): Promise<void> {
  const count = await withGraph(options, (access) =>
    interruptible((signal) => access.count(graphOf(options), pattern, { signal })),
  )
  if (options.json) await writeJson({ count })
  else await writeOut(`${count}\n`)
}
