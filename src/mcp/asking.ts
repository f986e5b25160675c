// Arguments that several tools have.

import { LorekeepError } from '../errors.js'
import { outOfReach, type Following } from './bounds.js'
import { text, texts } from './fields.js'
import type { AskedGraph } from './stores.js'

export const ofGraphs = {
  cores: texts(100, 1024, 'ids; default: all'),
  collection: text(1024),
}

/** Of a list behind an id of 1,024 bytes that JSON has to escape some 8,000. */
export const longestCursor = 10_000

export const after = text(longestCursor, 'next of the answer before')

interface GivenGraph {
  readonly cores: readonly string[] | undefined
  readonly collection: string | undefined
}

export function askedGraph({ cores, collection }: GivenGraph): AskedGraph {
  return {
    ...(cores !== undefined && { cores }),
    ...(collection !== undefined && { collection }),
  }
}

/** Of the last argument of tools whose lists have no cursors. */
const mostAfter = 10_000

/**
 * Of lists that have no cursors, `after` is how many to pass over.
 * @throws LorekeepError `LK_TOOL_ARGUMENTS`
 */
export function passedOver(after: string | undefined, most = mostAfter): number {
  if (after === undefined) return 0
  if (/^\d{1,9}$/.test(after) && Number(after) <= most) return Number(after)
  throw wrongArgument(
    'after',
    `must be the next of an answer of this tool, a number up to ${most}: narrow the question to see others`,
  )
}

/** What passedOver() reads: the place of what follows, of which `known` is how many there are for all that is known. */
export function placeOfNext(at: number, known: number, most = mostAfter): Following {
  if (at >= known) return undefined
  return at <= most ? String(at) : outOfReach
}

export function wrongArgument(path: string, message: string): LorekeepError {
  const details = { errors: [{ path, message }] }
  return new LorekeepError('LK_TOOL_ARGUMENTS', `${path} ${message}`, { details })
}
