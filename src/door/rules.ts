// What a value has to be, and how a sentence says it: `limit must be ${expected}, not 'x'`.

import type { Vector } from '../types.js'
import { isRecord, shown, type Fields } from './wording.js'

export interface Rule<T> {
  /** After "must be". */
  readonly expected: string
  readonly holds: (value: unknown) => value is T
  /** What is wrong is not shown: it may be a key. */
  readonly isSecret?: boolean
  /** Of what may be a list: what each item of it has to be, so that the one that is not is shown. */
  readonly item?: Rule<unknown>
  /** To be left out, where nothing is meant: it may be the lack of something that was to be there. */
  readonly isNeverUndefined?: boolean
  /** Of an object of options: a rule for each option that there is, which checkOptions() goes by. */
  readonly options?: Rules
}

/** By the names of options. */
export type Rules = Readonly<Record<string, Rule<unknown>>>

/** `must be a string, not 7` */
export function broken(rule: Rule<unknown>, value: unknown): string {
  return `must be ${rule.expected}${rule.isSecret === true ? '' : `, not ${found(rule, value)}`}`
}

function found({ item }: Rule<unknown>, value: unknown): string {
  const wrong = item && Array.isArray(value) ? value.filter((one) => !item.holds(one)) : []
  return shown(value) + (wrong.length > 0 ? ` with ${shown(wrong[0])} in it` : '')
}

/** For a rule of one place, in its own words. */
export function aRule<T>(expected: string, holds: (value: unknown) => boolean): Rule<T> {
  return { expected, holds: holds as Rule<T>['holds'] }
}

export const aString = aRule<string>('a string', (value) => typeof value === 'string')

export const aText = aRule<string>('a string that is not empty', isText)

export const aNumber = aRule<number>('a number', (value) => typeof value === 'number')

export const aSafeNumber = aRule<number>(
  `a number of at most ${Number.MAX_SAFE_INTEGER}, positive or negative`,
  (value) => typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER,
)

export const aFlag = aRule<boolean>('true or false', (value) => typeof value === 'boolean')

export const aFunction = aRule<(...args: never[]) => unknown>(
  'a function',
  (value) => typeof value === 'function',
)

export const aSignal = aRule<AbortSignal>('an AbortSignal', (value) => value instanceof AbortSignal)

export const aList = aRule<readonly unknown[]>('an array', Array.isArray)

/** Not a text, which is an iterable of its characters. */
export const anIterable = aRule<Iterable<unknown> | AsyncIterable<unknown>>(
  'an iterable or an async iterable',
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    (Symbol.iterator in value || Symbol.asyncIterator in value),
)

export const aListOfTexts = {
  ...aRule<readonly string[]>(
    'an array of strings that are not empty',
    (value) => Array.isArray(value) && value.every(isText),
  ),
  item: aText,
}

/** Options among options. */
export function optionsOf<T extends object>(options: {
  readonly [Name in keyof T]-?: Rule<NonNullable<T[Name]>>
}): Rule<T> {
  const names = Object.keys(options).join(', ')
  return { ...aRule<T>(`an object of ${names}`, isRecord), options }
}

/** An option that restricts: what it is read from may lack it, and that must not mean all. */
export function neverUndefined<T>(rule: Rule<T>): Rule<T> {
  return { ...rule, isNeverUndefined: true }
}

export const anObject = aRule<Fields>('an object', isRecord)

/** One number at least, all of them finite. */
export const aVector = aRule<Vector>('an array of finite numbers, one at least', (value) => {
  const isList =
    Array.isArray(value) || value instanceof Float64Array || value instanceof Float32Array
  if (!isList || value.length === 0) return false
  // Not every(), which passes over holes.
  for (let i = 0; i < value.length; i++) if (!Number.isFinite(value[i])) return false
  return true
})

export const anyValue = aRule<unknown>('anything', () => true)

/** The longest wait that a timer takes: a longer one would end at once. */
export const longestTimer = 2 ** 31 - 1

/** Of something that is stored under it. */
export function aName(maxBytes: number): Rule<string> {
  return aRule(
    `a string of 1 to ${maxBytes} bytes of UTF-8`,
    (value) => wrongName(value, maxBytes) === undefined,
  )
}

/** Why a value is no name, or nothing. */
export function wrongName(value: unknown, maxBytes: number): string | undefined {
  if (typeof value !== 'string') return `must be a string, not ${shown(value)}`
  if (value === '') return 'must not be empty'
  if (!value.isWellFormed()) return 'has half of a surrogate pair'
  // No character has more than three bytes for each of its code units.
  if (value.length * 3 <= maxBytes) return undefined
  const bytes = Buffer.byteLength(value)
  return bytes > maxBytes ? `has ${bytes} bytes; at most ${maxBytes} are accepted` : undefined
}

/** A whole number, 0 and safe ones beyond unless it is said otherwise. */
export function aCount(least = 0, most = Number.MAX_SAFE_INTEGER): Rule<number> {
  const range =
    most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`
  return aRule(
    `a whole number${range}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  )
}

/** How long to wait for something, in milliseconds. */
export const aTimeout = aRule<number>(
  `a whole number from 0 to ${longestTimer}, or Infinity`,
  (value) => value === Infinity || aCount(0, longestTimer).holds(value),
)

/** One of a few words. */
export function oneOf<Word extends string>(...words: readonly Word[]): Rule<Word> {
  const [last, ...others] = words.map((word) => `'${word}'`).reverse()
  const expected = others.length === 0 ? `${last}` : `${others.reverse().join(', ')} or ${last}`
  return aRule(expected, (value) => words.includes(value as Word))
}

/** Something that has these methods; `what` it is, and maybe where to get it. */
export function withMethods<T>(what: string, ...names: readonly (keyof T & string)[]): Rule<T> {
  const [last = '', ...others] = names.map((name) => `${name}()`).reverse()
  const methods = others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`
  return aRule(`${what}, with ${methods}`, (value) => {
    if (typeof value !== 'object' || value === null) return false
    return names.every((name) => typeof (value as T)[name] === 'function')
  })
}

/** As aRule(), for what nobody else may read. */
export function secret<T>(expected: string, holds: (value: unknown) => boolean): Rule<T> {
  return { ...aRule<T>(expected, holds), isSecret: true }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}
