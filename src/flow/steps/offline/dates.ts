// Dates, months and years, as literals of XML Schema.

import { xsd } from '../../../terms.js'
import type { Term } from '../../../types.js'
import type { Sentence } from './tagger.js'

/** A date where it stands: the words of its sentence from `from` up to, not with, `to`. */
export interface DateMention {
  readonly from: number
  readonly to: number
  readonly value: string
  readonly type: 'date' | 'gYearMonth' | 'gYear'
}

const names =
  'january february march april may june july august september october november december'
const months = new Map(
  names.split(' ').flatMap((name, i): [string, number][] => {
    const [short, number] = [name.slice(0, 3), i + 1]
    return [name, short, `${short}.`, ...(i === 8 ? ['sept', 'sept.'] : [])].map((n) => [n, number])
  }),
)
const dayPattern = /^(\d{1,2})(?:st|nd|rd|th)?$/
const yearPattern = /^(?:1\d|20)\d\d$/
const isoPattern = /^(?:1\d|20)\d\d-\d\d-\d\d$/
const beforeChrist = /^b\.?c\.?(?:e\.?)?$/
const about = new Set(['c.', 'ca.', 'circa', 'about', 'around', 'approximately', 'nearly', 'over'])

/** All of a sentence, in its order. What is said to be near a date, or before Christ, is none. */
export function dates(sentence: Sentence): DateMention[] {
  const found: DateMention[] = []
  for (let i = 0; i < sentence.length; i++) {
    const date = dateAt(sentence, i)
    if (date === undefined) continue
    const isExact =
      !about.has(sentence[i - 1]?.lower ?? '') &&
      !beforeChrist.test(sentence[date.to]?.lower ?? '') &&
      sentence[i - 1]?.text !== 'c'
    if (isExact) found.push(date)
    i = date.to - 1
  }
  return found
}

export function dateTerm({ value, type }: Pick<DateMention, 'value' | 'type'>): Term {
  return { v: value, e: false, dt: `${xsd}${type}` }
}

function dateAt(sentence: Sentence, from: number): DateMention | undefined {
  const first = sentence[from]
  const initial = first?.text.charCodeAt(0) ?? 0
  const isDigit = initial >= 48 && initial <= 57
  if (first === undefined || (!isDigit && first.shape !== 'capital')) return undefined
  if (isDigit) {
    if (isoPattern.test(first.text))
      return dateOf(from, from + 1, ...first.text.split('-').map(Number))
    if (yearPattern.test(first.text)) return yearAt(sentence, from)
  }
  const day = isDigit ? dayIn(first.text) : undefined
  if (day !== undefined) {
    // 13 June 1877, 13th of June, 1877
    const at = sentence[from + 1]?.lower === 'of' ? from + 2 : from + 1
    const month = months.get(sentence[at]?.lower ?? '')
    const year = yearBehind(sentence, at + 1)
    if (month === undefined || year === undefined) return undefined
    return dateOf(from, year.to, year.value, month, day)
  }
  const month = isDigit ? undefined : months.get(first.lower)
  if (month === undefined) return undefined
  const second = dayIn(sentence[from + 1]?.text ?? '')
  const year = yearBehind(sentence, second === undefined ? from + 1 : from + 2)
  if (year === undefined) return undefined
  if (second !== undefined) return dateOf(from, year.to, year.value, month, second)
  return { from, to: year.to, value: `${year.value}-${padded(month)}`, type: 'gYearMonth' }
}

function dayIn(text: string): number | undefined {
  const day = Number(dayPattern.exec(text)?.[1] ?? 0)
  return day > 0 && day <= 31 ? day : undefined
}

function yearBehind(sentence: Sentence, at: number): { value: number; to: number } | undefined {
  const from = sentence[at]?.text === ',' || sentence[at]?.lower === 'of' ? at + 1 : at
  const text = sentence[from]?.text ?? ''
  return yearPattern.test(text) ? { value: Number(text), to: from + 1 } : undefined
}

/** `1500 people` and `2000 metres` are none. */
function yearAt(sentence: Sentence, from: number): DateMention | undefined {
  const next = sentence[from + 1]
  const isMany = next?.pos === 'NOUN' && next.shape === undefined && next.lemma !== next.lower
  const isPart = next !== undefined && !next.spaced && /^[%°$€£/\p{L}\d]/u.test(next.text)
  if (isMany || isPart || next?.lower === 'people' || next?.text === '%') return undefined
  return { from, to: from + 1, value: sentence[from]?.text ?? '', type: 'gYear' }
}

/** Undefined where the month has no such day. */
function dateOf(from: number, to: number, year = 0, month = 0, day = 0): DateMention | undefined {
  const date = new Date(Date.UTC(year, month - 1, day))
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  return { from, to, value: `${year}-${padded(month)}-${padded(day)}`, type: 'date' }
}

function padded(number: number): string {
  return String(number).padStart(2, '0')
}
