// JSON, and lines of it: each value on a line with the path to it, as people would say it. Read without
// a tree of it: a list of a million numbers is one piece of memory, and where that is more than a
// thread has left, V8 ends the process and not the thread.

import { JsonTokens } from './json-tokens.js'
import { TextBuilder, type StructuredText } from './structured-text.js'
import type { ReadLimits } from './types.js'
import { Unreadable } from './unreadable.js'

const maxPath = 300
const maxDepth = 100_000
/** Of the elements of a list that stand on one line. */
const maxLineLength = 10_000

/** An object or a list that is open. */
interface Open {
  readonly isList: boolean
  readonly path: string
  /** Of an object: where the next value is. */
  inner: string
  /** Of a list: its last elements, which are no objects and no lists. */
  said: string
}

export function readJson(text: string, { maxTextLength }: ReadLimits): StructuredText {
  const builder = new TextBuilder(maxTextLength)
  const tokens = new JsonTokens(text)
  let title: string | undefined
  let count = 0
  while (!tokens.isAtEnd) {
    // Lines of JSON: one value for each.
    if (count > 0 && !tokens.isOnNewLine) throw tokens.unexpected()
    const said = addValue(builder, tokens)
    title = ++count === 1 ? said : undefined
  }
  if (count === 0) throw new Unreadable('empty', 'it has no text')
  return builder.finish(title)
}

/**
 * `address › city: London`. What belongs together, the elements of a list that are objects, are
 * paragraphs. Its title, where it has one.
 */
function addValue(builder: TextBuilder, tokens: JsonTokens): string | undefined {
  const open: Open[] = []
  const titles = new Map<string, string>()
  let isNew = true
  do {
    const parent = open.at(-1)
    if (parent !== undefined && tokens.closes(parent.isList ? ']' : '}')) {
      tellElements(parent)
      open.pop()
      continue
    }
    if (parent?.isList === false) {
      const name = tokens.key()
      const inner = [parent.path, name].filter((part) => part !== '').join(' › ')
      parent.inner = inner.slice(-maxPath)
      if (open.length === 1 && (name === 'title' || name === 'name')) {
        const said = tokens.peekString()
        if (said !== undefined) titles.set(name, said)
      }
    }
    const path = parent?.inner ?? ''
    const opened = tokens.opened()
    if (opened === undefined) {
      addPlain(parent, path, tokens.plain())
      continue
    }
    if (open.length === maxDepth) {
      throw new Unreadable('damaged', `it is nested more than ${maxDepth} deep`)
    }
    if (parent?.isList) tellElements(parent)
    if (opened === '{' && parent?.isList !== false) isNew = true
    open.push({ isList: opened === '[', path, inner: path, said: '' })
  } while (open.length > 0)
  return titles.get('title') ?? titles.get('name')

  function addPlain(parent: Open | undefined, path: string, said: string): void {
    if (said === '') return
    if (parent?.isList !== true) return say(path, said)
    parent.said += parent.said === '' ? said : `, ${said}`
    if (parent.said.length > maxLineLength) tellElements(parent)
  }

  function tellElements(list: Open): void {
    if (list.said !== '') say(list.path, list.said)
    list.said = ''
  }

  function say(path: string, said: string): void {
    const plain = said.replace(/[^\S\n]+/gu, ' ').trim()
    const line = path === '' ? plain : `${path}: ${plain}`
    if (isNew) builder.paragraph(line)
    else builder.line(line)
    isNew = false
  }
}
