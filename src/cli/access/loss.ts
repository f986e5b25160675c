// What became of something that was sent, where the connection broke or somebody pressed Ctrl-C.

import { connectionErrorIn, interruptions } from '../output/connection-error.js'
import type { Phase } from '../output/connection-error.js'
import { CutShort, describe } from '../output/failure.js'

/** What the end of a connection means before all was sent, and after that. */
export interface Loss {
  readonly sending: string
  readonly sent: string
}

/** Of a store here no error is one of a connection. */
export async function telling<T>(loss: Loss, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const broken = connectionErrorIn(error)
    if (broken === undefined) throw error
    const { phase, message } = broken
    const outcome = phase === 'connecting' ? '' : `: ${meaning(loss, phase)}`
    throw new Error(`${message}${outcome}`, { cause: broken })
  }
}

/** telling(), of an interrupt too. */
export async function tellingAll<T>(
  loss: Loss,
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await telling(loss, work)
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason) throw error
    const phase = interruptions.get(error as object) ?? 'connecting'
    throw new CutShort(`${describe(error)}: ${meaning(loss, phase)}`, error)
  }
}

function meaning({ sending, sent }: Loss, phase: Phase): string {
  return phase === 'sent' ? sent : sending
}
