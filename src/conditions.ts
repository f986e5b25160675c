// Changes on condition: they are made only where a thing still is what somebody knows of it. A store looks
// in the same step in which it makes the change, so that of two who know the same one alone succeeds.

import { createHash } from 'node:crypto'
import { aRule } from './door/rules.js'
import { LorekeepError } from './errors.js'

/** What has to hold for a change to be made; otherwise it is refused with `LK_PRECONDITION`. */
export interface ChangeConditions {
  /**
   * The thing is there, in this version or one of these. `'*'`: in whatever version. `null`: it is
   * not there.
   */
  readonly ifVersion?: string | readonly string[] | null
  /** It is not there, or in another version than this or these. `'*'`: it is not there. */
  readonly ifNotVersion?: string | readonly string[]
  /** It is there, and was not changed after this time. Of what has such a time, which versions do not need. */
  readonly ifUnmodifiedSince?: Date
}

/** A thing as it is now. */
export interface Known {
  readonly version: string
  /** ISO 8601. */
  readonly updatedAt?: string | undefined
}

const isVersions = (value: unknown) =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.every((version) => typeof version === 'string'))

/** Among the rules of options. */
export const conditionRules = {
  ifVersion: aRule<string | readonly string[] | null>(
    "a version, an array of versions, '*' or null",
    (value) => value === null || isVersions(value),
  ),
  ifNotVersion: aRule<string | readonly string[]>(
    "a version, an array of versions or '*'",
    isVersions,
  ),
  ifUnmodifiedSince: aRule<Date>(
    'a Date',
    (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  ),
}

type Given = { readonly [Name in keyof ChangeConditions]: ChangeConditions[Name] | undefined }

/** Those among options that were checked; `undefined` where there are none. Who changes a list later changes nothing. */
export function conditionsIn(options: Given): ChangeConditions | undefined {
  const { ifVersion, ifNotVersion, ifUnmodifiedSince } = options
  if (ifVersion === undefined && ifNotVersion === undefined && ifUnmodifiedSince === undefined) {
    return undefined
  }
  return structuredClone({
    ...(ifVersion !== undefined && { ifVersion }),
    ...(ifNotVersion !== undefined && { ifNotVersion }),
    ...(ifUnmodifiedSince !== undefined && { ifUnmodifiedSince }),
  })
}

/**
 * Looks at all of them. `what` names the thing.
 * @param now what there is; `undefined` where it is not there
 * @throws LorekeepError `LK_PRECONDITION`, with the version that there is in its details
 */
export function checkConditions(
  conditions: ChangeConditions | undefined,
  now: Known | undefined,
  what: string,
): void {
  if (conditions === undefined) return
  const { ifVersion, ifNotVersion, ifUnmodifiedSince } = conditions
  if (ifVersion === null) {
    if (now !== undefined) refuse(`${what} is there already`, now)
  } else if (ifVersion !== undefined) {
    if (now === undefined) refuse(`${what} is not there`, now)
    if (!names(ifVersion, now.version)) refuse(`${what} has another version`, now)
  }
  if (ifNotVersion !== undefined && now !== undefined && names(ifNotVersion, now.version)) {
    refuse(ifNotVersion === '*' ? `${what} is there already` : `${what} has that version`, now)
  }
  if (ifUnmodifiedSince === undefined) return
  if (now === undefined) refuse(`${what} is not there`, now)
  // What has no such time is not known to be unchanged.
  if (!(Date.parse(now.updatedAt ?? '') <= ifUnmodifiedSince.getTime())) {
    refuse(`${what} was changed after ${ifUnmodifiedSince.toISOString()}`, now)
  }
}

/**
 * The time of a change, ISO 8601: later than that of what was there, also within one millisecond and by a clock that
 * was set back. Else who knows what was there would be told that it has not changed.
 */
export function timeAfter(before: string | undefined, now: string): string {
  if (before === undefined || before < now) return now
  return new Date(Date.parse(before) + 1).toISOString()
}

function names(versions: string | readonly string[], version: string): boolean {
  return typeof versions === 'string'
    ? versions === '*' || versions === version
    : versions.includes(version)
}

function refuse(detail: string, now: Known | undefined): never {
  const details = now === undefined ? {} : { version: now.version }
  throw new LorekeepError('LK_PRECONDITION', detail, { details })
}

/** Of what is small, and plain JSON: a digest of all that it says. */
export function versionOf(definition: object): string {
  return createHash('sha256').update(JSON.stringify(definition)).digest('hex').slice(0, 32)
}
