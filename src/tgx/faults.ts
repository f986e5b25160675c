// What is said of an archive that cannot be read.

import { catalogue, LorekeepError } from '../errors.js'

type Details = Readonly<Record<string, unknown>> & {
  /** The name of a member. */
  readonly member?: string
  /** In the archive, unpacked. */
  readonly byteOffset?: number
}

/** It is no workspace that is read here. */
export function unreadable(reason: string, details: Details = {}): LorekeepError {
  return fault('LK_WORKSPACE_FORMAT', reason, details)
}

/** It was cut, or is not what was written. */
export function damaged(reason: string, details: Details = {}, cause?: unknown): LorekeepError {
  return fault('LK_WORKSPACE_DAMAGED', reason, details, cause)
}

export function tooLarge(reason: string, details: Details): LorekeepError {
  return fault('LK_WORKSPACE_TOO_LARGE', reason, details)
}

function fault(
  code: 'LK_WORKSPACE_FORMAT' | 'LK_WORKSPACE_DAMAGED' | 'LK_WORKSPACE_TOO_LARGE',
  reason: string,
  details: Details,
  cause?: unknown,
): LorekeepError {
  const { member, byteOffset } = details
  const place = member ?? (byteOffset === undefined ? undefined : `byte ${byteOffset}`)
  const detail = place === undefined ? reason : `${place}: ${reason}`
  return new LorekeepError(code, detail, { details, ...(cause !== undefined && { cause }) })
}

/** An error about what is in a member, with the member's name; all others as they are. */
export function inMember(error: unknown, member: string): unknown {
  if (!(error instanceof LorekeepError) || 'member' in error.details) return error
  const { code, message, details, cause } = error
  const start = `${catalogue[code].message}: `
  const reason = message.startsWith(start) ? message.slice(start.length) : message
  return new LorekeepError(code, `${member}: ${reason}`, {
    details: { ...details, member },
    ...(cause !== undefined && { cause }),
  })
}
