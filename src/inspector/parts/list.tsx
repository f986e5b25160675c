// A table of what there are pages of.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { More } from './more.js'
import type { Pages } from './paging.js'
import { Answered, Empty } from './states.js'

interface ListProps<T> {
  /** Of the table, for readers of screens. */
  readonly name: string
  readonly pages: Pages<T>
  readonly empty: { readonly title: string; readonly hint: string }
  /** The cells of its head. */
  readonly head: ComponentChildren
  /** A row, with a key. */
  readonly row: (item: T) => ComponentChildren
}

export function List<T>({ name, pages, empty, head, row }: ListProps<T>) {
  const region = useRef<HTMLDivElement>(null)
  const held = useRef<EventTarget | null>(null)
  useEffect(() => {
    // A row may go with what had the focus, and who came by the keyboard is not to begin anew.
    const isLost = held.current instanceof Element && !held.current.isConnected
    if (!isLost) return
    held.current = null
    if (document.activeElement === document.body) {
      ;(region.current ?? document.getElementById('content'))?.focus({ preventScroll: true })
    }
  }, [pages.value])
  return (
    <>
      <Answered asked={pages}>
        {(items) =>
          items.length === 0 ? (
            <Empty {...empty} />
          ) : (
            <div
              ref={region}
              class="scroll"
              tabIndex={0}
              role="region"
              aria-label={name}
              onFocusIn={({ target }) => {
                held.current = target
              }}
              onFocusOut={({ relatedTarget }) => {
                // Without a next one the window lost it, or what had it is gone.
                if (relatedTarget !== null) held.current = null
              }}
            >
              <table>
                <thead>
                  <tr>{head}</tr>
                </thead>
                <tbody>{items.map(row)}</tbody>
              </table>
            </div>
          )
        }
      </Answered>
      {pages.more !== undefined && <More shown={region} onMore={pages.more} />}
    </>
  )
}

interface RowButtonProps {
  readonly label: string
  /** What the row is about: heard, and not seen again. */
  readonly of: string | number
  readonly onClick: () => void
}

export function RowButton({ label, of, onClick }: RowButtonProps) {
  return (
    <button type="button" class="small" onClick={onClick}>
      {label}
      <span class="hidden"> {of}</span>
    </button>
  )
}
