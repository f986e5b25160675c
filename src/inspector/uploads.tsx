// Files on their way, with what has gone of each, and what became of it. One at a time: two would share the line.

import { useRef, useState } from 'preact/hooks'
import { bytesText } from './parts/figures.js'
import { Failure } from './parts/states.js'
import { texts } from './texts.js'

export interface TransferOptions {
  readonly signal: AbortSignal
  readonly onProgress: (sent: { readonly bytes: number }) => void
}

/** Resolves with what is to be said of it. */
type Work = (options: TransferOptions) => Promise<string>

interface Transfer {
  readonly key: number
  readonly name: string
  readonly size: number
  readonly bytes: number
  readonly outcome?: { readonly text?: string; readonly error?: unknown }
  readonly leave: () => void
}

export interface UploadList {
  readonly list: readonly Transfer[]
  readonly add: (file: File, work: Work) => void
  readonly run: (name: string, size: number, work: Work) => void
  readonly dismiss: (key: number) => void
}

/** @param onDone told after each that was done */
export function useUploads(onDone: () => void): UploadList {
  const [list, setList] = useState<readonly Transfer[]>([])
  const last = useRef<Promise<void>>(Promise.resolve())
  const keys = useRef(0)
  const done = useRef(onDone)
  done.current = onDone
  const change = (key: number, fields: Partial<Transfer>) =>
    setList((list) => list.map((one) => (one.key === key ? { ...one, ...fields } : one)))

  const run = (name: string, size: number, work: Work) => {
    const key = ++keys.current
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    setList((list) => [...list, { key, name, size, bytes: 0, leave }])
    last.current = last.current.then(async () => {
      try {
        leaving.signal.throwIfAborted()
        const onProgress = ({ bytes }: { readonly bytes: number }) => change(key, { bytes })
        const text = await work({ signal: leaving.signal, onProgress })
        change(key, { outcome: { text }, bytes: size })
        done.current()
      } catch (error) {
        const outcome = leaving.signal.aborted ? { text: texts.cores.cancelled } : { error }
        change(key, { outcome })
      }
    })
  }
  return {
    list,
    run,
    add: (file, work) => run(file.name, file.size, work),
    dismiss: (key) => setList((list) => list.filter((one) => one.key !== key)),
  }
}

export function Uploads({ uploads: { list, dismiss } }: { readonly uploads: UploadList }) {
  if (list.length === 0) return null
  return (
    <ul class="transfers" aria-live="polite">
      {list.map(({ key, name, size, bytes, outcome, leave }) => (
        <li key={key} class="card">
          <div class="line">
            <strong class="free">{name}</strong>
            {outcome === undefined ? (
              <button type="button" class="small" onClick={leave}>
                {texts.cancel}
              </button>
            ) : (
              <button type="button" class="small" onClick={() => dismiss(key)}>
                {texts.dismiss}
              </button>
            )}
          </div>
          {outcome === undefined && (
            <>
              <progress max={Math.max(size, 1)} value={bytes} aria-label={name} />
              <p class="quiet">{texts.cores.sending(bytesText(bytes), bytesText(size))}</p>
            </>
          )}
          {outcome?.text !== undefined && <p class="quiet">{outcome.text}</p>}
          {outcome?.error !== undefined && <Failure error={outcome.error} />}
        </li>
      ))}
    </ul>
  )
}
