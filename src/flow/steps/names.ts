// URIs of what a text names.

import { LorekeepError } from '../../errors.js'

/** More than any name has: a longer one is a text that was taken for a name. */
const maxNameLength = 1000

/** A run of white space, or some that is no space, or at an end. */
const uneven = /\s\s|[^\S ]|^\s|\s$/u

/** White space runs become one space, and go from the ends. */
export function collapseSpace(text: string): string {
  // Most names, and most texts, are as they should be: 126 us a text of 100 words were spent here.
  if (!uneven.test(text)) return text
  return text.replace(/\s+/gu, ' ').trim()
}

/** What is wrong with a name, or nothing. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'a name has to be a string'
  if (name.trim() === '') return 'a name is empty'
  if (name.length > maxNameLength) {
    return `a name has ${name.length} characters, ${maxNameLength} are allowed`
  }
  return name.isWellFormed() ? undefined : 'a name has half of a surrogate pair'
}

/**
 * The URI of an entity in the form of the reference system, so that cores of both meet in one
 * graph: in Python, `base + quote(name.replace(" ", "-").lower())`. A run of any white space is one
 * hyphen here.
 * @throws LorekeepError `LK_STEP_OUTPUT` where it is no name
 */
export function entityUri(name: string, base: string): string {
  const problem = nameProblem(name)
  if (problem !== undefined) throw new LorekeepError('LK_STEP_OUTPUT', problem)
  return base + quote(collapseSpace(name).replaceAll(' ', '-').toLowerCase())
}

/** The URI of a relation: the reference system makes those of predicates in the same way. */
export function relationUri(name: string, base: string): string {
  return entityUri(name, base)
}

/** `urllib.parse.quote`: letters, digits, `_.-~` and `/` stay, other UTF-8 bytes are encoded. */
function quote(text: string): string {
  return encodeURIComponent(text)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}
