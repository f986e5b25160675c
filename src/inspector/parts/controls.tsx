// Fields and what belongs to them.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { texts } from '../texts.js'

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly placeholder?: string
  readonly hint?: string | undefined
  readonly isWrong?: boolean
  /** Told when somebody is done, and not with each letter. */
  readonly isSlow?: boolean
  readonly onEnter?: () => void
}

export function Field({ label, value, onInput, placeholder, hint, ...rest }: FieldProps) {
  const { isWrong = false, isSlow = false, onEnter } = rest
  const id = useId()
  const tell = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
    onInput(currentTarget.value)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        placeholder={placeholder}
        aria-invalid={isWrong}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        autocomplete="off"
        spellcheck={false}
        onKeyDown={({ key }) => key === 'Enter' && onEnter?.()}
        {...(isSlow ? { onChange: tell } : { onInput: tell })}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} class={isWrong ? 'hint wrong' : 'hint'}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  /** Value and what it is called. */
  readonly options: readonly (readonly [string, string])[]
  readonly onChange: (value: string) => void
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

interface DropProps {
  readonly title: string
  readonly hint: string
  readonly button: string
  readonly onFiles: (files: readonly File[]) => void
}

/** A place where files can be dropped, and a button for whoever has no mouse. */
export function Drop({ title, hint, button, onFiles }: DropProps) {
  const [isOver, setIsOver] = useState(false)
  return (
    <div
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setIsOver(false)
        onFiles([...(event.dataTransfer?.files ?? [])])
      }}
    >
      <p>
        {title} <span class="quiet">{hint}</span>
      </p>
      <FileButton text={button} isForMany onFiles={onFiles} />
    </div>
  )
}

interface FileButtonProps {
  readonly text: string
  readonly isForMany?: boolean
  readonly onFiles: (files: readonly File[]) => void
}

/** Asks for files, as the system does. */
export function FileButton({ text, isForMany = false, onFiles }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        {text}
      </button>
      <input
        ref={input}
        type="file"
        multiple={isForMany}
        hidden
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])])
          currentTarget.value = ''
        }}
      />
    </>
  )
}

/** Copies a text, and says that it did. Browsers let no page copy that came by `http:` from another machine. */
export function Copy({ text }: { readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false)
  if (!('clipboard' in navigator)) return null
  return (
    <button
      type="button"
      class="small"
      onClick={async () => {
        await navigator.clipboard.writeText(text)
        setIsCopied(true)
        setTimeout(() => setIsCopied(false), 1500)
      }}
    >
      <span aria-live="polite">{isCopied ? texts.copied : texts.copy}</span>
    </button>
  )
}

let hasShown = false

/** What a view is called, what it is for, and what can be done with all of it. */
export function Heading(props: {
  readonly title: string
  readonly lead?: string
  readonly children?: ComponentChildren
}) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // What had the focus went with the view before. A page that was opened just now begins at its beginning.
    if (hasShown && document.activeElement === document.body) {
      title.current?.focus({ preventScroll: true })
    }
    hasShown = true
  }, [])
  return (
    <header class="heading">
      <div>
        <h1 ref={title} tabIndex={-1}>
          {props.title}
        </h1>
        {props.lead !== undefined && <p class="quiet">{props.lead}</p>}
      </div>
      {props.children}
    </header>
  )
}
