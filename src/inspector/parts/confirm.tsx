// Asks before something cannot be undone.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { useDoing } from '../asking.js'
import { texts } from '../texts.js'
import { useModal } from './modal.js'
import { Failure } from './states.js'

interface ConfirmProps {
  readonly title: string
  readonly text: string
  /** What it is about, where its name is not enough. */
  readonly children?: ComponentChildren
  readonly button: string
  readonly act: () => Promise<void>
  /** It was done, or was not wanted after all. */
  readonly onClose: () => void
}

export function Confirm({ title, text, children, button, act, onClose }: ConfirmProps) {
  const { isBusy, error, start } = useDoing()
  // It stays to say whether that was done.
  const { dialog, onCancel } = useModal(isBusy)
  const id = useId()
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose} onCancel={onCancel}>
      <h2 id={id} class="free">
        {title}
      </h2>
      <p>{text}</p>
      {children}
      {error !== undefined && <Failure error={error} />}
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={() => dialog.current?.close()}>
          {texts.cancel}
        </button>
        <button
          type="button"
          class="danger"
          disabled={isBusy}
          onClick={() =>
            start(async () => {
              await act()
              dialog.current?.close()
            })
          }
        >
          {button}
        </button>
      </div>
    </dialog>
  )
}
