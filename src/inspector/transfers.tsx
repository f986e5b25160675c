// The transfers of a view, as cards.

import { useEffect, useRef, useState } from 'preact/hooks'
import { bytesText } from './parts/figures.js'
import { passFocus } from './parts/focus.js'
import { Failure, type Way } from './parts/states.js'
import { useSession } from './session.js'
import { texts } from './texts.js'
import type { TransferList } from './transfer-list.js'

/**
 * Those of whose things are shown.
 *
 * @param name of the view
 * @param onEnd told after each that has ended, well or not
 */
export function useTransfers(name: string, onEnd: () => void): TransferList {
  const { transfers, user } = useSession()
  const list = transfers.of(`${name} ${user}`)
  const [, setTurn] = useState(0)
  const latest = useRef(onEnd)
  latest.current = onEnd
  useEffect(() => {
    const onChange = () => setTurn((turn) => turn + 1)
    // Something may have happened since it was drawn.
    onChange()
    return list.watch({ onChange, onEnd: () => latest.current() })
  }, [list])
  return list
}

interface TransfersProps {
  readonly transfers: TransferList
  /** Where to go with what is done. */
  readonly way?: Way
}

export function Transfers({ transfers, way }: TransfersProps) {
  const { list } = transfers
  if (list.length === 0) return null
  const first = list.find(({ outcome }) => outcome === undefined)?.key
  return (
    <ul class="transfers">
      {list.map(({ key, name, size, bytes, step, question, outcome, leave }) => (
        <li key={key} class="card">
          <div class="line">
            <strong class="free">{name}</strong>
            {outcome === undefined ? (
              <button type="button" class="small" onClick={leave}>
                {texts.cancel}
              </button>
            ) : (
              <button
                type="button"
                class="small"
                onClick={({ currentTarget }) => {
                  const card = currentTarget.closest('li')
                  passFocus(card?.nextElementSibling ?? card?.previousElementSibling)
                  transfers.dismiss(key)
                }}
              >
                {texts.dismiss}
              </button>
            )}
          </div>
          {/* Read out when it comes; how much of it has gone is not, which changes all the time. */}
          <div aria-live="polite">
            {question !== undefined && <p class="free">{question.text}</p>}
            {outcome?.text !== undefined && (
              <p class="quiet">
                {outcome.text}{' '}
                {outcome.isDone === true && way !== undefined && <a href={way.href}>{way.text}</a>}
              </p>
            )}
          </div>
          {question !== undefined && (
            <div class="all">
              {question.answers.map(({ text, give }) => (
                <button
                  key={text}
                  type="button"
                  class="small"
                  onClick={({ currentTarget }) => {
                    passFocus(currentTarget.closest('li'))
                    give()
                  }}
                >
                  {text}
                </button>
              ))}
            </div>
          )}
          {outcome === undefined && key !== first && <p class="quiet">{texts.waiting}</p>}
          {key === first && question === undefined && (
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
