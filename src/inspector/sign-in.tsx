// Asks who looks.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useDoing } from './asking.js'
import { Failure } from './parts/states.js'
import { keepToken } from './session.js'
import { texts } from './texts.js'

interface SignInProps {
  /** Whether the server knows the token. */
  readonly enter: (token: string | undefined) => Promise<boolean>
}

export function SignIn({ enter }: SignInProps) {
  const [token, setToken] = useState('')
  const [isKept, setIsKept] = useState(false)
  const [wrong, setWrong] = useState<string>()
  const { isBusy, error, start } = useDoing()
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  // There is nothing else to do here.
  useEffect(() => input.current?.focus(), [])
  const submit = async () => {
    const given = tokenIn(token) || undefined
    const isIn = await enter(given)
    keepToken(isIn && isKept ? given : undefined)
    if (isIn) return
    setWrong(given === undefined ? texts.signIn.missing : texts.signIn.unknown)
    input.current?.focus()
  }
  return (
    <main class="alone">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault()
          void start(submit)
        }}
      >
        <p class="brand">{texts.title}</p>
        <h1>{texts.signIn.title}</h1>
        <p class="quiet">{texts.signIn.lead}</p>
        <div class="field">
          <label for={id}>{texts.signIn.token}</label>
          <input
            id={id}
            ref={input}
            type="password"
            autocomplete="off"
            value={token}
            aria-invalid={wrong !== undefined}
            aria-describedby={wrong === undefined ? undefined : `${id}-wrong`}
            onInput={({ currentTarget }) => {
              setToken(currentTarget.value)
              setWrong(undefined)
            }}
          />
          {wrong !== undefined && (
            <p id={`${id}-wrong`} class="hint wrong" role="alert">
              {wrong}
            </p>
          )}
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={isKept}
            onChange={({ currentTarget }) => setIsKept(currentTarget.checked)}
          />
          {texts.signIn.keep}
        </label>
        {error !== undefined && <Failure error={error} />}
        <button type="submit" class="primary" disabled={isBusy}>
          {texts.signIn.button}
        </button>
      </form>
    </main>
  )
}

/** Servers print it as a line for shells, which may be pasted as it is. */
function tokenIn(text: string): string {
  return text.trim().replace(/^(export\s+)?LOREKEEP_TOKEN=/, '')
}
