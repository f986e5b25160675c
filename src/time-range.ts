// Times to filter by. Apart from the pages whose cursors need node:crypto, which takes a command 8 ms to load.

import { aRule } from './door/rules.js'

const timePattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

/** A time to filter by. A date is its beginning, UTC. */
export const aTime = aRule<string>('a date, or a time with its zone, of ISO 8601', (value) => {
  return typeof value === 'string' && timePattern.test(value) && !Number.isNaN(Date.parse(value))
})

/** From one time, and before another, in milliseconds since 1970. */
export interface TimeRange {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export function timeRange(from?: string, to?: string): TimeRange | undefined {
  if (from === undefined && to === undefined) return undefined
  return {
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(to !== undefined && { to: Date.parse(to) }),
  }
}

export function isWithin(range: TimeRange | undefined, at: number): boolean {
  if (range === undefined) return true
  return at >= (range.from ?? -Infinity) && at < (range.to ?? Infinity)
}
