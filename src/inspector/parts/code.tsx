// A text that is written by hand, in letters of one width, with places in it lit up.

import { useId, useRef } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { TextPlace } from './json-places.js'

interface CodeProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly marks: readonly TextPlace[]
  readonly isWrong: boolean
  readonly describedBy: string | undefined
}

export function Code({ label, value, onInput, marks, isWrong, describedBy }: CodeProps) {
  const id = useId()
  const behind = useRef<HTMLPreElement>(null)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="code">
        <pre ref={behind} aria-hidden="true">
          {lit(value, marks)}
          {'\n'}
        </pre>
        <textarea
          id={id}
          value={value}
          rows={14}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={isWrong}
          aria-describedby={describedBy}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onScroll={({ currentTarget: { scrollTop, scrollLeft } }) =>
            behind.current?.scrollTo(scrollLeft, scrollTop)
          }
        />
      </div>
    </div>
  )
}

function lit(text: string, marks: readonly TextPlace[]): ComponentChildren {
  const parts: ComponentChildren[] = []
  let at = 0
  for (const { start, end } of marks.toSorted((a, b) => a.start - b.start)) {
    if (start < at) continue
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>)
    at = end
  }
  return [...parts, text.slice(at)]
}
