// What a view shows in place of what it would: nothing yet, nothing there, an error.

import type { ComponentChildren } from 'preact'
import { texts } from '../texts.js'
import type { Asked } from '../asking.js'

export function Loading() {
  return (
    <p class="loading" role="status">
      {texts.loading}
    </p>
  )
}

interface EmptyProps {
  readonly title: string
  readonly hint?: string | undefined
  /** Where to go for there to be something. */
  readonly way?: Way | undefined
  readonly children?: ComponentChildren
}

export interface Way {
  readonly href: string
  readonly text: string
}

export function Empty({ title, hint, way, children }: EmptyProps) {
  return (
    <div class="empty">
      <p>{title}</p>
      {hint !== undefined && <p class="quiet">{hint}</p>}
      {way !== undefined && (
        <p>
          <a href={way.href}>{way.text}</a>
        </p>
      )}
      {children !== undefined && <p>{children}</p>}
    </div>
  )
}

/** Says where there is more than is shown. */
export function FirstOf({ shown, all }: { readonly shown: number; readonly all: number }) {
  return all > shown ? <p class="quiet">{texts.firstOf(shown, all)}</p> : null
}

interface FailureProps {
  readonly error: unknown
  readonly again?: (() => void) | undefined
}

/** What an error says, and how to name it to whoever keeps the server. */
export function Failure({ error, again }: FailureProps) {
  const { message = String(error), code, requestId } = Object(error) as Record<string, string>
  const place = placeOf(error)
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{texts.failed}.</strong> <span class="free">{message}</span>
      </p>
      {place !== undefined && <p class="quiet">{place}</p>}
      {(code ?? requestId) !== undefined && (
        <p class="quiet">
          {code !== undefined && <code>{code}</code>}{' '}
          {requestId !== undefined && texts.requestId(requestId)}
        </p>
      )}
      {again !== undefined && (
        <button type="button" onClick={again}>
          {texts.again}
        </button>
      )}
    </div>
  )
}

/** Where in a stream something is wrong. */
function placeOf(error: unknown): string | undefined {
  const { details } = Object(error) as { readonly details?: object }
  const { byteOffset, messageIndex } = Object(details) as Readonly<Record<string, unknown>>
  if (typeof byteOffset !== 'number') return undefined
  const message = typeof messageIndex === 'number' ? texts.cores.atMessage(messageIndex) : ''
  return `${texts.cores.atByte(byteOffset)}${message}.`
}

interface AnsweredProps<T> {
  readonly asked: Asked<T>
  readonly children: (value: T) => ComponentChildren
}

/** What was asked, once it is there. It stays where asking again fails, and that is said above it. */
export function Answered<T>({ asked, children }: AnsweredProps<T>) {
  const { value, error, isBusy, again } = asked
  if (value === undefined && (error === undefined || isBusy)) return <Loading />
  return (
    <>
      {error !== undefined && <Failure error={error} again={again} />}
      {value !== undefined && children(value)}
    </>
  )
}
