// What is on its way, in or out, how much of it has gone, and what became of it. One at a time: two would share the line.

import { useRef, useState } from 'preact/hooks'
import { bytesText } from './parts/figures.js'
import { Failure, type Way } from './parts/states.js'
import { texts } from './texts.js'

export interface TransferOptions {
  readonly signal: AbortSignal
  readonly onProgress: (sent: { readonly bytes: number }) => void
  /** For what goes on when all has been sent. */
  readonly onStep: (step: Step) => void
}

/** What is done with it now, and how much of that, where somebody knows. */
interface Step {
  readonly text: string
  readonly done?: number | undefined
  readonly total?: number | undefined
}

/** Resolves with what is to be said of it. */
type Work = (options: TransferOptions) => Promise<string>

interface Transfer {
  readonly key: number
  readonly name: string
  /** `undefined` where nobody knows before the end. */
  readonly size: number | undefined
  readonly bytes: number
  readonly step?: Step
  readonly outcome?: {
    readonly text?: string
    readonly error?: unknown
    readonly isDone?: boolean
  }
  readonly leave: () => void
}

export interface TransferList {
  readonly list: readonly Transfer[]
  /** `cancelled`: what is said where somebody ended it. */
  readonly begin: (name: string, size: number | undefined, work: Work, cancelled?: string) => void
  readonly dismiss: (key: number) => void
}

/** @param onDone told after each that was done */
export function useTransfers(onDone: () => void): TransferList {
  const [list, setList] = useState<readonly Transfer[]>([])
  const last = useRef<Promise<void>>(Promise.resolve())
  const keys = useRef(0)
  const done = useRef(onDone)
  done.current = onDone
  const change = (key: number, fields: Partial<Transfer>) =>
    setList((list) => list.map((one) => (one.key === key ? { ...one, ...fields } : one)))

  const begin: TransferList['begin'] = (name, size, work, cancelled = texts.cancelled) => {
    const key = ++keys.current
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    setList((list) => [...list, { key, name, size, bytes: 0, leave }])
    last.current = last.current.then(async () => {
      try {
        leaving.signal.throwIfAborted()
        const onProgress = ({ bytes }: { readonly bytes: number }) => change(key, { bytes })
        const text = await work({
          signal: leaving.signal,
          onProgress,
          onStep: (step) => change(key, { step }),
        })
        change(key, { outcome: { text, isDone: true } })
        done.current()
      } catch (error) {
        const outcome = leaving.signal.aborted ? { text: cancelled } : { error }
        change(key, { outcome })
      }
    })
  }
  return {
    list,
    begin,
    dismiss: (key) => setList((list) => list.filter((one) => one.key !== key)),
  }
}

interface TransfersProps {
  readonly transfers: TransferList
  /** Where to go with what is done. */
  readonly way?: Way
}

export function Transfers({ transfers: { list, dismiss }, way }: TransfersProps) {
  if (list.length === 0) return null
  return (
    <ul class="transfers" aria-live="polite">
      {list.map(({ key, name, size, bytes, step, outcome, leave }) => (
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
              <Progress
                name={name}
                done={step ? step.done : size && bytes}
                total={step?.total ?? size}
              />
              <p class="quiet">
                {step !== undefined
                  ? step.text
                  : size === undefined
                    ? bytesText(bytes)
                    : texts.sending(bytesText(bytes), bytesText(size))}
              </p>
            </>
          )}
          {outcome?.text !== undefined && (
            <p class="quiet">
              {outcome.text}{' '}
              {outcome.isDone === true && way !== undefined && <a href={way.href}>{way.text}</a>}
            </p>
          )}
          {outcome?.error !== undefined && <Failure error={outcome.error} />}
        </li>
      ))}
    </ul>
  )
}

interface ProgressProps {
  readonly name: string
  /** `undefined` where nobody knows. */
  readonly done: number | undefined
  readonly total: number | undefined
}

function Progress({ name, done, total = 1 }: ProgressProps) {
  return (
    <progress
      max={Math.max(total, 1)}
      {...(done !== undefined && { value: done })}
      aria-label={name}
    />
  )
}
