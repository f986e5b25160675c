// Why a file cannot be read. It crosses from the thread that reads as plain data.

import { LorekeepError } from '../../errors.js'

/**
 * `damaged` is not what its type says, `encrypted` needs a password, `empty` has no text; the others
 * are the limits that it came to.
 */
export type UnreadableReason =
  'damaged' | 'encrypted' | 'empty' | 'pages' | 'text' | 'memory' | 'time'

export class Unreadable extends Error {
  readonly reason: UnreadableReason

  constructor(reason: UnreadableReason, message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.reason = reason
  }
}

/** A package that is needed for a type of files, and not installed. */
export class PackageMissing extends Error {
  readonly package: string

  constructor(name: string, message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.package = name
  }
}

/** A package that is there, and could not be loaded: for want of descriptors, say, or in the middle of an update. */
export class PackageBroken extends Error {}

/** What a thread says of an error. */
export type Fault =
  | { readonly reason: UnreadableReason; readonly message: string }
  | { readonly missing: string; readonly message: string }
  | { readonly isBroken: true; readonly message: string }

export function faultOf(error: unknown): Fault {
  if (error instanceof Unreadable) return { reason: error.reason, message: error.message }
  if (error instanceof PackageMissing) return { missing: error.package, message: error.message }
  if (error instanceof PackageBroken) return { isBroken: true, message: error.message }
  // The parsers' own errors: their files are not what they should be.
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1)
  return { reason: 'damaged', message: `it is damaged: ${message}` }
}

export function errorOf(fault: Fault): LorekeepError {
  if ('missing' in fault) {
    const details = { package: fault.missing }
    return new LorekeepError('LK_PEER_MISSING', fault.message, { details })
  }
  // Of the file it says nothing: it is tried again.
  if ('isBroken' in fault) return new LorekeepError('LK_INTERNAL', fault.message)
  const { reason, message } = fault
  return new LorekeepError('LK_DOCUMENT_UNREADABLE', message, { details: { reason } })
}
