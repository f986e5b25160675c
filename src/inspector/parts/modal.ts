// A dialog above the page.

import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface Modal {
  readonly dialog: RefObject<HTMLDialogElement | null>
  readonly onCancel: (event: Event) => void
}

/**
 * Opens as it is drawn.
 *
 * @param isHeld whether no key closes it, nor the page unasked: something would be lost
 */
export function useModal(isHeld: boolean): Modal {
  const dialog = useRef<HTMLDialogElement>(null)
  const latest = useRef(isHeld)
  latest.current = isHeld
  useEffect(() => {
    dialog.current?.showModal()
    // By `cancel` alone browsers let a second press through.
    const stay = (event: KeyboardEvent) => {
      if (latest.current && event.key === 'Escape') event.preventDefault()
    }
    const ask = (event: Event) => latest.current && event.preventDefault()
    addEventListener('keydown', stay, true)
    addEventListener('beforeunload', ask)
    return () => {
      removeEventListener('keydown', stay, true)
      removeEventListener('beforeunload', ask)
    }
  }, [])
  return { dialog, onCancel: (event) => isHeld && event.preventDefault() }
}
