// A few figures about one thing.

import type { ComponentChildren } from 'preact'

interface FactsProps {
  readonly title: string
  readonly children: ComponentChildren
}

export function Facts({ title, children }: FactsProps) {
  return (
    <section class="card tile" aria-label={title}>
      <h2 class="free">{title}</h2>
      <dl class="figures">{children}</dl>
    </section>
  )
}

interface FactProps {
  readonly name: string
  readonly children: ComponentChildren
}

export function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

interface FillProps {
  readonly name: string
  readonly value: number
  readonly max: number
  readonly text: string
}

/** How much of something is taken. */
export function Fill({ name, value, max, text }: FillProps) {
  return (
    <div class="fill">
      <dt>{name}</dt>
      <dd>{text}</dd>
      <dd>
        <meter aria-label={name} value={value} max={Math.max(max, 1)}>
          {text}
        </meter>
      </dd>
    </div>
  )
}
