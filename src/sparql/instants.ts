// Dates, times and durations of XML Schema 1.1 Part 2, in the parts that the engine reads them into: what they are
// compared by, what months make of a date, and how those that are computed are written, in any locale.

import { daysIn } from '../graph/value/literal-value.js'

/** What is not there is undefined: a time has no year. A duration has no time zone, and `day` are its days. */
export interface Instant {
  readonly year?: number
  readonly month?: number
  readonly day?: number
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
  readonly zoneHours?: number
  readonly zoneMinutes?: number
}

/** Of the Gregorian calendar, which begins anew with them. */
const eraYears = 400
const eraMs = 146_097 * 86_400_000

/** As in UTC where it has no time zone. A time is one of the last day of 1972 (XQuery 1.0 Functions, 10.4). */
export function millisecondsOf(instant: Instant): number {
  const { year = 1972, month = 12, day = 31, hours = 0, minutes = 0, seconds = 0 } = instant
  const { zoneHours = 0, zoneMinutes = 0 } = instant
  // Date knows 270,000 years, and Date.UTC() takes those before 100 for others.
  const era = Math.floor(year / eraYears)
  const date = new Date(0)
  date.setUTCFullYear(year - era * eraYears, month - 1, day)
  const time = ((hours - zoneHours) * 60 + minutes - zoneMinutes) * 60_000 + seconds * 1000
  return era * eraMs + date.getTime() + time
}

/** Of a duration. */
export const monthsOf = ({ year = 0, month = 0 }: Instant): number => year * 12 + month

/** Of a duration. */
export function secondsOf({ day = 0, hours = 0, minutes = 0, seconds = 0 }: Instant): number {
  return ((day * 24 + hours) * 60 + minutes) * 60 + seconds
}

type Day = Required<Pick<Instant, 'year' | 'month' | 'day'>>

/** A month may be shorter than the day is in it: that is its last day then (E.3.3). */
export function dayAfterMonths({ year, month, day }: Day, months: number): Day {
  const all = year * 12 + month - 1 + months
  const to = { year: Math.floor(all / 12), month: (((all % 12) + 12) % 12) + 1 }
  return { ...to, day: Math.min(day, daysIn(to.year, to.month)) }
}

/** 24:00 is the first instant of the day behind (3.3.7). A time is read without it. */
export function withoutHour24(instant: Instant): Instant {
  const { year, month = 1, day = 1, hours } = instant
  if (hours !== 24 || year === undefined) return instant
  if (day < daysIn(year, month)) return { ...instant, day: day + 1, hours: 0 }
  return { ...instant, ...dayAfterMonths({ year, month, day: 1 }, 1), hours: 0 }
}

/** To the second, as the engine has it. */
export function instantOf(date: Date): Required<Instant> {
  return {
    ...{ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() },
    ...{ hours: date.getUTCHours(), minutes: date.getUTCMinutes(), seconds: date.getUTCSeconds() },
    ...{ zoneHours: 0, zoneMinutes: 0 },
  }
}

/** By appendix E of the standard. */
export function writtenDateTime(instant: Instant): string {
  return `${dayOf(instant)}T${hoursOf(instant)}${zoneOf(instant)}`
}

export const writtenDate = (instant: Instant): string => dayOf(instant) + zoneOf(instant)

export const writtenTime = (instant: Instant): string => hoursOf(instant) + zoneOf(instant)

function dayOf({ year = 0, month = 1, day = 1 }: Instant): string {
  const sign = year < 0 ? '-' : ''
  return `${sign}${digits(Math.abs(year), 4)}-${digits(month)}-${digits(day)}`
}

/** To a thousandth of a second, as the engine has it, but never to 60. */
function hoursOf({ hours = 0, minutes = 0, seconds = 0 }: Instant): string {
  const ms = Math.min(Math.round(seconds * 1000), 59_999)
  return `${digits(hours)}:${digits(minutes)}:${ms < 10_000 ? '0' : ''}${ms / 1000}`
}

function zoneOf({ zoneHours, zoneMinutes }: Instant): string {
  if (zoneHours === undefined && zoneMinutes === undefined) return ''
  const minutes = (zoneHours ?? 0) * 60 + (zoneMinutes ?? 0)
  if (minutes === 0) return 'Z'
  const ahead = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${digits(Math.trunc(ahead / 60))}:${digits(ahead % 60)}`
}

const digits = (number: number, least = 2) => String(number).padStart(least, '0')
