// What a core stream may claim. Each limit is checked when a length is read, before its content.

import { limit, limitsOf, type LimitTable } from '../door/limits.js'

export interface CodecLimits {
  /** The bytes of one message. */
  readonly maxMessageBytes: number
  /** The UTF-8 bytes of one string. */
  readonly maxStringBytes: number
  /** Arrays and maps inside each other; a message itself needs 6. */
  readonly maxDepth: number
  /** The components of one vector. */
  readonly maxVectorLength: number
  /** The entries of one map; only maps with fields of other makers come near it. */
  readonly maxMapEntries: number
  /**
   * The values in fields of other makers, over one message. They cost one byte each on the wire
   * and some fifty as objects: 60 MB of empty maps would end a process that reads messages.
   */
  readonly maxExtraValues: number
}

export const codecLimits: LimitTable<CodecLimits> = {
  maxMessageBytes: limit(64 * 1024 * 1024),
  maxStringBytes: limit(1024 * 1024),
  maxDepth: limit(32, 6, 1024),
  maxVectorLength: limit(65_536),
  maxMapEntries: limit(1024),
  maxExtraValues: limit(65_536),
}

export const defaultLimits: CodecLimits = limitsOf(codecLimits)

/**
 * The vectors of one message: those that mean anything take 64 bytes and more, an empty one takes one, and some fifty as
 * an object.
 */
export function mostVectors({ maxMessageBytes }: CodecLimits): number {
  return Math.max(65_536, Math.floor(maxMessageBytes / 64))
}

export function tooManyVectors(most: number): string {
  return `more than ${most} vectors in a message (one for every 64 bytes of maxMessageBytes)`
}

/** What was accepted once is read, also where the limits of imports were lowered since. */
export const noLimits: CodecLimits = {
  maxMessageBytes: Number.MAX_SAFE_INTEGER,
  maxStringBytes: Number.MAX_SAFE_INTEGER,
  maxDepth: 1024,
  maxVectorLength: Number.MAX_SAFE_INTEGER,
  maxMapEntries: Number.MAX_SAFE_INTEGER,
  maxExtraValues: Number.MAX_SAFE_INTEGER,
}
