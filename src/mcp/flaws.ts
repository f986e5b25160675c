// What is wrong with a message before anything of the SDK has seen it, as both doors answer it.

import { isRecord } from '../door/wording.js'
import type { Sdk } from './peer.js'

/** An answer that is none to a call. */
export interface Flaw {
  readonly id: string | number | null
  readonly error: { readonly code: number; readonly message: string }
}

/**
 * The SDK looks at each value of a message but those inside the arguments of tools and prompts, and tells of each that
 * is wrong: 600 kB of `clientInfo.icons` took it 12 s and gave an answer of 73 MB. Whoever means well has some dozens.
 */
export const mostValues = 500

/** What a message of more values has. Whatever it is, no more of it is looked at than shows that. */
export function overfull(sdk: Sdk, message: unknown): Flaw | undefined {
  if (!hasMoreThan(mostValues, message, argumentsOf(message))) return undefined
  const told = `a message has at most ${mostValues} values, without those inside its arguments`
  return flaw(sdk.INVALID_PARAMS, told, idOf(message))
}

/** Of an answer to a message without an id that can be known it is null, as JSON-RPC has it. */
export function flaw(code: number, message: string, id: Flaw['id'] = null): Flaw {
  return { id, error: { code, message } }
}

export function idOf(message: unknown): Flaw['id'] {
  const id = isRecord(message) ? message['id'] : undefined
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

function argumentsOf(message: unknown): unknown {
  const params = isRecord(message) ? message['params'] : undefined
  return isRecord(params) ? params['arguments'] : undefined
}

/** Of what `leaf` has inside, only its own members count. No recursion: it may be nested deeper than any stack. */
function hasMoreThan(most: number, root: unknown, leaf: unknown): boolean {
  const open = [root]
  let count = 0
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    const members: unknown[] = Object.values(value)
    count += members.length
    if (count > most) return true
    if (value !== leaf) open.push(...members)
  }
  return false
}
