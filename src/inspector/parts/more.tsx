// The button for more of what is shown.

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts.js'

interface MoreProps {
  /** Rows or paragraphs are in it. */
  readonly shown: RefObject<HTMLElement | null>
  readonly onMore: () => void
}

/** It goes when all is there: the first that came with the last step has the focus then, which would be lost. */
export function More({ shown, onMore }: MoreProps) {
  const button = useRef<HTMLButtonElement>(null)
  const before = useRef(0)
  useLayoutEffect(
    () => () => {
      if (document.activeElement !== button.current) return
      // They are drawn after it has gone.
      queueMicrotask(() => {
        const first = partsOf(shown.current)[before.current]
        if (first === undefined) return
        first.tabIndex = -1
        first.focus({ preventScroll: true })
      })
    },
    [],
  )
  return (
    <button
      type="button"
      ref={button}
      onClick={() => {
        before.current = partsOf(shown.current).length
        onMore()
      }}
    >
      {texts.more}
    </button>
  )
}

function partsOf(shown: HTMLElement | null): readonly HTMLElement[] {
  return [...(shown?.querySelectorAll<HTMLElement>('tbody > tr, p') ?? [])]
}
