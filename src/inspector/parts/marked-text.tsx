// A text with places in it lit up.

import type { ComponentChildren } from 'preact'
import { closedUp, unwrapped } from './unwrapped.js'

/** From and to, in UTF-16 code units. */
export interface Mark {
  readonly start: number
  readonly end: number
  /** What was found there: a word of the question, a name, or what a statement joins that somebody chose. */
  readonly kind: 'word' | 'name' | 'said'
}

export function MarkedText({
  text,
  marks,
}: {
  readonly text: string
  readonly marks: readonly Mark[]
}) {
  const parts: ComponentChildren[] = []
  const shown = unwrapped(text)
  const between = (start: number, end?: number) => {
    const part = closedUp(shown.slice(start, end))
    return start === 0 ? part.replace(/^(?:[^\S\n]*\n)+/, '') : part
  }
  let at = 0
  const sorted = marks.toSorted((a, b) => a.start - b.start || b.end - a.end)
  for (const { start, end, kind } of sorted) {
    if (start < at || end > text.length) continue
    parts.push(
      between(at, start),
      <mark key={start} class={kind}>
        {shown.slice(start, end)}
      </mark>,
    )
    at = end
  }
  return (
    <p class="passage free" dir="auto">
      {parts}
      {between(at).trimEnd()}
    </p>
  )
}

/** Where a name stands in a text. */
export function marksOf(text: string, name: string): readonly Mark[] {
  const marks: Mark[] = []
  if (name === '') return marks
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    marks.push({ start: at, end: at + name.length, kind: 'name' })
  }
  return marks
}
