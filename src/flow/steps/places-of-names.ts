// Where a text has names, found for all of them in one go: to look through it for each is quadratic.

import type { Turns } from '../../turns.js'

/** So many places are looked at before the time is. */
const atOnce = 1024
/** So much of a name chooses which lengths are tried; a place in a text begins few names. */
const mostPrefix = 3

/**
 * Tells each name that a text has, and where, in the order of the text: inside of words and of each other, too. No name
 * is empty.
 */
export async function findNames(
  text: string,
  names: ReadonlySet<string>,
  found: (name: string, at: number) => void,
  turns: Turns,
): Promise<void> {
  if (names.size === 0) return
  let prefix = mostPrefix
  for (const { length } of names) prefix = Math.min(prefix, length)
  const firsts = new Set<number>()
  const lengths = new Map<string, number[]>()
  for (const name of names) {
    firsts.add(name.charCodeAt(0))
    const beginning = name.slice(0, prefix)
    const those = lengths.get(beginning)
    if (those === undefined) lengths.set(beginning, [name.length])
    else if (!those.includes(name.length)) those.push(name.length)
  }
  for (let at = 0; at < text.length; at++) {
    if (at % atOnce === 0 && turns.isLong) await turns.pass()
    if (!firsts.has(text.charCodeAt(at))) continue
    for (const length of lengths.get(text.slice(at, at + prefix)) ?? []) {
      const name = text.slice(at, at + length)
      if (name.length === length && names.has(name)) found(name, at)
    }
  }
}

const title = /\b(?:(OLD|YOUNG|ELDER|YOUNGER)|(MR|SIR|LORD)|(MRS|MS|MISS|LADY|DAME))\.? /g

/** Of names, with one space between words, those that the text has a man and a woman of, or an old or a young one. */
export async function sharedNames(
  text: string,
  names: ReadonlySet<string>,
  turns: Turns,
): Promise<Set<string>> {
  const shared = new Set<string>()
  if (names.size === 0) return shared
  const byForm = new Map<string, { readonly names: string[]; man: boolean; woman: boolean }>()
  for (const name of names) {
    const form = inCapitals(name)
    const those = byForm.get(form)
    if (those === undefined) byForm.set(form, { names: [name], man: false, woman: false })
    else those.names.push(name)
  }
  const lengths = new Set([...byForm.keys()].map(({ length }) => length))
  const capitals = await textInCapitals(text.replace(/\s\s+|[^\S ]/g, ' '), turns)
  for (const { 0: all, 1: age, 2: man, 3: woman, index } of capitals.matchAll(title)) {
    if (turns.isLong) await turns.pass()
    const at = index + all.length
    for (const length of lengths) {
      if (!isBoundary(capitals, at + length)) continue
      const those = byForm.get(capitals.slice(at, at + length))
      if (those === undefined) continue
      those.man ||= man !== undefined
      those.woman ||= woman !== undefined
      const isShared = age !== undefined || (those.man && those.woman)
      if (isShared) for (const name of those.names) shared.add(name)
    }
  }
  return shared
}

async function textInCapitals(text: string, turns: Turns): Promise<string> {
  const piece = 64 * atOnce
  let capitals = ''
  for (let at = 0; at < text.length; at += piece) {
    capitals += inCapitals(text.slice(at, at + piece))
    if (turns.isLong) await turns.pass()
  }
  return capitals
}

/** What regular expressions that ignore case see: one code unit for each, and no ASCII for others. */
function inCapitals(text: string): string {
  return text.replace(/[a-z]+|[^\0-\x7F]/g, (some) => {
    const capitals = some.toUpperCase()
    return capitals.length === some.length && capitals < '\x80' === some < '\x80' ? capitals : some
  })
}

/** `\b` */
function isBoundary(text: string, at: number): boolean {
  return isOfWord(text.charCodeAt(at - 1)) !== isOfWord(text.charCodeAt(at))
}

/** `\w` in capitals; behind a text there is none. */
function isOfWord(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
}
