// Acronyms where a text says what they stand for: `World Health Organization (WHO)`, `WHO (World Health Organization)`.

import type { Turns } from '../../turns.js'

const acronym = /^\p{Lu}[\p{L}\p{N}&./-]{1,11}$/u

/** In UTF-16 code units: no expansion is longer. */
const mostExpansion = 120

/** Words that an acronym may leave out. */
const small = new Set(
  'of the and for in on at to de du des la le del di da von der und y et &'.split(' '),
)

/** By acronym its expansion; without those that a text has several expansions of. */
export async function acronymsIn(text: string, turns: Turns): Promise<Map<string, string>> {
  const found = new Map<string, string | undefined>()
  const add = (short: string, long: string | undefined) => {
    if (long === undefined) return
    found.set(short, !found.has(short) || found.get(short) === long ? long : undefined)
  }
  let close = -1
  for (let open = text.indexOf('('); open >= 0; open = text.indexOf('(', open + 1)) {
    if (turns.isLong) await turns.pass()
    if (close < open) close = text.indexOf(')', open)
    if (close < 0) break
    if (close - open > mostExpansion) continue
    const [first = ''] = text.slice(open + 1, close).split(/[(,;:]/)
    const inside = first.replace(/^or\s+/, '').trim()
    const before = text.slice(Math.max(0, open - mostExpansion), open).trimEnd()
    if (acronym.test(inside)) {
      add(inside, expansionBefore(before, inside))
      continue
    }
    const short = before.split(/\s/).at(-1) ?? ''
    if (acronym.test(short) && startOf(inside.split(/\s+/), lettersOf(short)) === 0) {
      add(short, inside)
    }
  }
  return withoutUnclear(found)
}

function withoutUnclear(found: ReadonlyMap<string, string | undefined>): Map<string, string> {
  const clear = new Map<string, string>()
  for (const [short, long] of found) if (long !== undefined) clear.set(short, long)
  return clear
}

function expansionBefore(before: string, short: string): string | undefined {
  // A sentence that ends, or a comma, ends an expansion before it begins.
  const last = before.split(/[;:()"“”]|,\s|[.!?]\s+(?=\p{Lu}\p{Ll}+\s+\p{Ll})/u).at(-1) ?? ''
  const words = last.trim().split(/\s+/)
  const from = startOf(words, lettersOf(short))
  return from === undefined ? undefined : words.slice(from).join(' ')
}

/** Its capitals and digits; there have to be two. */
function lettersOf(short: string): string {
  const letters = short.replace(/[^\p{Lu}\p{N}]/gu, '')
  return letters.length < 2 ? '' : letters.toLowerCase()
}

/** Where the words begin whose initials an acronym is, to the last one. */
function startOf(words: readonly string[], letters: string): number | undefined {
  if (letters === '') return undefined
  const parts = words.flatMap((word, place) => {
    return word
      .split(/[-–/]/)
      .filter((part) => part !== '')
      .map((part) => ({ part: part.toLowerCase(), place, isLarge: /^\P{Ll}/u.test(part) }))
  })
  const from = matched({ parts, letters, failed: new Set() }, parts.length - 1, letters.length - 1)
  if (from === undefined) return undefined
  const { place, isLarge } = parts[from] as (typeof parts)[number]
  return isLarge && parts.length - from > 1 && parts[from - 1]?.place !== place ? place : undefined
}

interface Part {
  readonly part: string
  readonly place: number
  readonly isLarge: boolean
}

interface Matching {
  readonly parts: readonly Part[]
  readonly letters: string
  /** Places from which there is no way, each asked once: `of of of` has one for each choice of words. */
  readonly failed: Set<number>
}

/** Goes back from the last word and the last letter. */
function matched(matching: Matching, at: number, letter: number): number | undefined {
  const { parts, letters, failed } = matching
  const word = parts[at]
  const place = at * letters.length + letter
  if (word === undefined || failed.has(place)) return undefined
  if (word.part.startsWith(letters[letter] as string)) {
    const found = letter === 0 ? at : matched(matching, at - 1, letter - 1)
    if (found !== undefined) return found
  }
  const isLast = letter === letters.length - 1
  if (small.has(word.part) && !isLast) {
    const found = matched(matching, at - 1, letter)
    if (found !== undefined) return found
  }
  failed.add(place)
  return undefined
}
