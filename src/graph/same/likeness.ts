// How alike two names are, and by which keys likely ones come together.

import { formOf, wordsOf } from '../../text/name-form.js'
import type { DuplicateReason } from '../types.js'

/** More words are a sentence. */
const mostWords = 12
/** In UTF-16 code units. */
const mostLength = 256

const small = new Set('of the and for in on at to de la le del di da und y et'.split(' '))

export interface NameOfThing {
  readonly text: string
  readonly form: string
  /** In small letters. */
  readonly words: readonly string[]
  /** Those that tell something. */
  readonly telling: readonly string[]
  readonly isAcronym: boolean
  /** Not what the thing is called most. */
  readonly isOther: boolean
}

/** Undefined where it is none. */
export function readName(text: string, isOther = false): NameOfThing | undefined {
  if (text.length > mostLength) return undefined
  const words = wordsOf(text).map((word) => word.toLowerCase())
  if (words.length === 0 || words.length > mostWords) return undefined
  const telling = words.filter((word) => !small.has(word))
  const isAcronym = /^\p{Lu}[\p{Lu}\p{N}&.]{1,11}$/u.test(text)
  return { text, form: formOf(text), words, telling, isAcronym, isOther }
}

/** Names that are alike have one of these in common. */
export function keysOf({ form, words, telling, isAcronym }: NameOfThing): string[] {
  const keys = [`form ${form}`]
  if (isAcronym) keys.push(`letters ${form}`)
  if (telling.length > 1) {
    keys.push(`letters ${initialsOf(telling)}`, `words ${[...telling].sort().join(' ')}`)
    if (words.length > telling.length) keys.push(`letters ${initialsOf(words)}`)
  }
  const last = telling.at(-1)
  if (last !== undefined && !isAcronym) keys.push(`last ${last}`)
  return keys
}

/** What speaks for it that two names are of one thing, and how much, from 0 to 1. Other names are those of many. */
export function likenessOf(
  a: NameOfThing,
  b: NameOfThing,
): { readonly reason: DuplicateReason; readonly score: number } | undefined {
  if (a.form === b.form) {
    const score = !a.isOther && !b.isOther ? 0.95 : a.words.length > 1 ? 0.85 : 0.55
    return { reason: 'form', score }
  }
  if (a.isAcronym !== b.isAcronym) {
    const [short, long] = a.isAcronym ? [a, b] : [b, a]
    const isOf = short.form === initialsOf(long.telling) || short.form === initialsOf(long.words)
    // Two letters are those of many.
    if (isOf && long.words.length > 1) {
      return { reason: 'acronym', score: short.form.length > 2 ? 0.75 : 0.6 }
    }
  }
  const [short, long] = a.telling.length <= b.telling.length ? [a, b] : [b, a]
  if (short.telling.length === 0) return undefined
  if (short.telling.length > 1 && short.telling.length === long.telling.length) {
    const [one, other] = [a, b].map(({ telling }) => [...telling].sort().join(' '))
    if (one === other) return { reason: 'words', score: 0.8 }
  }
  if (short.telling.at(-1) !== long.telling.at(-1)) return undefined
  if (short.telling.length > 1 && agree(short.telling, long.telling)) {
    return { reason: 'initials', score: 0.8 }
  }
  const has = new Set(long.telling)
  const isPart = short.telling.every((word) => has.has(word))
  if (!isPart) return undefined
  return { reason: 'part', score: short.telling.length > 1 ? 0.55 : 0.4 }
}

function initialsOf(words: readonly string[]): string {
  return words.map((word) => word.slice(0, 1)).join('')
}

/** `J. K. Rowling` and `Joanne Rowling`. */
function agree(short: readonly string[], long: readonly string[]): boolean {
  const [a, b] = [short.slice(0, -1), long.slice(0, -1)]
  let initials = 0
  for (const [n, word] of a.entries()) {
    const other = b[n] as string
    if (word === other) continue
    if (word[0] !== other[0] || Math.min(word.length, other.length) > 1) return false
    initials++
  }
  const more = b.slice(a.length)
  return more.every((word) => word.length === 1) && initials + more.length > 0
}
