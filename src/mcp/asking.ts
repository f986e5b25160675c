// Arguments that several tools have.

import { LorekeepError } from '../errors.js'
import { mostAfter } from './bounds.js'
import { text, texts } from './fields.js'
import type { AskedGraph } from './stores.js'

export const ofGraphs = {
  cores: texts(100, 1024, 'ids; default: all'),
  collection: text(1024),
}

export const after = text(2048, 'next of the answer before')

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

/**
 * Of lists that have no cursors, `after` is how many to pass over.
 * @throws LorekeepError `LK_TOOL_ARGUMENTS`
 */
export function passedOver(after: string | undefined, most = mostAfter): number {
  if (after === undefined) return 0
  if (/^\d{1,9}$/.test(after) && Number(after) <= most) return Number(after)
  const message = `must be the next of an answer of this tool, a number up to ${most}: narrow the question to see others`
  throw new LorekeepError('LK_TOOL_ARGUMENTS', `after ${message}`, {
    details: { errors: [{ path: 'after', message }] },
  })
}
