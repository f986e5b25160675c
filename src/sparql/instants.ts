// How dates and times that are computed are written (XML Schema 1.1 Part 2, appendix E), in any locale.

import type { Instant } from './order.js'

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
