// Sizes and times as a person reads them.

import { texts } from '../texts.js'

/** In powers of 1,000, with three digits at the most. */
export function bytesText(bytes: number): string {
  const { units } = texts
  let at = 0
  let value = bytes
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000
    at++
  }
  const digits = at === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return texts.size(value, digits, units[at] as string)
}

/** How long ago that was, of a time in ISO 8601. */
export function agoText(iso: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000)
  const { ago } = texts
  if (seconds < 2) return ago.now
  if (seconds < 90) return ago.seconds(Math.round(seconds))
  if (seconds < 90 * 60) return ago.minutes(Math.round(seconds / 60))
  if (seconds < 36 * 3600) return ago.hours(Math.round(seconds / 3600))
  return ago.days(Math.round(seconds / 86_400))
}

/** A time in ISO 8601, to the second. */
export function timeText(iso: string): string {
  return texts.utc(iso.replace('T', ' ').replace(/\.\d+Z$/, ''))
}
