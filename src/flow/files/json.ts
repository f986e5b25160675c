// JSON, and lines of it: each value on a line with the path to it, as people would say it.

import { parseJson } from '../../json-text.js'
import { TextBuilder, type StructuredText } from './structured-text.js'
import type { ReadLimits } from './types.js'
import { Unreadable } from './unreadable.js'

interface Visit {
  readonly value: unknown
  readonly path: string
  /** An element of a list, or all there is. */
  readonly isApart: boolean
}

const maxPath = 300

export function readJson(text: string, { maxTextLength }: ReadLimits): StructuredText {
  const builder = new TextBuilder(maxTextLength)
  const values = valuesOf(text.replace(/^\uFEFF/, ''))
  let title: string | undefined
  for (const value of values) {
    if (values.length === 1) title = titleIn(value)
    add(builder, value)
  }
  return builder.finish(title)
}

/** One, or one of each line. */
function valuesOf(text: string): readonly unknown[] {
  try {
    return [parseJson(text)]
  } catch (cause) {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
    try {
      if (lines.length > 1) return lines.map((line) => parseJson(line) as unknown)
    } catch {
      // What is wrong with it as a whole says more.
    }
    throw new Unreadable('damaged', `it is no JSON: ${(cause as Error).message}`, { cause })
  }
}

/**
 * `address › city: London`. What belongs together, the elements of a list that are objects, are
 * paragraphs.
 */
function add(builder: TextBuilder, root: unknown): void {
  const waiting: Visit[] = [{ value: root, path: '', isApart: true }]
  let isNew = true
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    const { value, path, isApart } = visit
    if (value === null || value === '') continue
    if (typeof value === 'object') {
      const isList = Array.isArray(value)
      if (isList && value.every(isPlain)) {
        const said = value.filter((each) => each !== null && each !== '').join(', ')
        if (said !== '') say(path, said)
        continue
      }
      if (isApart && !isList) isNew = true
      const entries = isList ? value.map((each) => ['', each] as const) : Object.entries(value)
      for (let n = entries.length - 1; n >= 0; n--) {
        const [name, each] = entries[n] as readonly [string, unknown]
        const inner = [path, name].filter((part) => part !== '').join(' › ')
        waiting.push({ value: each, path: inner.slice(-maxPath), isApart: isList })
      }
    } else say(path, String(value as string | number | boolean))
  }

  function say(path: string, said: string): void {
    const plain = said.replace(/[^\S\n]+/gu, ' ').trim()
    const line = path === '' ? plain : `${path}: ${plain}`
    if (isNew) builder.paragraph(line)
    else builder.line(line)
    isNew = false
  }
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== 'object'
}

function titleIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { title, name } = value as { readonly title?: unknown; readonly name?: unknown }
  const found = title ?? name
  return typeof found === 'string' ? found : undefined
}
