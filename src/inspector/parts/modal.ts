// A dialog above the page.

import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { hold } from '../place.js'

interface Modal {
  readonly dialog: RefObject<HTMLDialogElement | null>
  readonly onCancel: (event: Event) => void
}

/**
 * Opens as it is drawn.
 *
 * @param isHeld whether no key closes it, and the page asks before it goes elsewhere: something would be lost
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
    addEventListener('keydown', stay, true)
    const letGo = hold(() => latest.current)
    return () => {
      removeEventListener('keydown', stay, true)
      letGo()
    }
  }, [])
  return { dialog, onCancel: (event) => isHeld && event.preventDefault() }
}
