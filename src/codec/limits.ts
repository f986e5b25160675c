// What a core stream may claim. Each limit is checked when a length is read, before its content.

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

export const defaultLimits: CodecLimits = {
  maxMessageBytes: 64 * 1024 * 1024,
  maxStringBytes: 1024 * 1024,
  maxDepth: 32,
  maxVectorLength: 65_536,
  maxMapEntries: 1024,
  maxExtraValues: 65_536,
}

/** Fills in the defaults. @throws TypeError for a limit that is not a positive whole number */
export function resolveLimits(limits: Partial<CodecLimits> = {}): CodecLimits {
  for (const name of Object.keys(limits)) {
    if (!Object.hasOwn(defaultLimits, name)) throw new TypeError(`there is no limit '${name}'`)
  }
  const resolved = { ...defaultLimits, ...limits }
  for (const name of Object.keys(defaultLimits)) {
    checkLimit(name, resolved[name as keyof CodecLimits])
  }
  if (resolved.maxDepth < 6 || resolved.maxDepth > 1024) {
    throw new TypeError(`maxDepth must lie between 6 and 1024, not ${resolved.maxDepth}`)
  }
  return resolved
}

/** @throws TypeError */
export function checkLimit(name: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw new TypeError(`${name} must be a positive whole number, not ${String(value)}`)
  }
}
