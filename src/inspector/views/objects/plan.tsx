// How a query was answered, drawn: what was read, down to what was given.

import { useState } from 'preact/hooks'
import type { ObjectQuery, QueryPlan } from '../../../objects/types.js'
import { useAsked } from '../../asking.js'
import { Answered } from '../../parts/states.js'
import { useSession } from '../../session.js'
import { texts } from '../../texts.js'

const { plan: words } = texts.objects

export function Plan({
  asked,
  isShown,
}: {
  readonly asked: ObjectQuery
  readonly isShown: boolean
}) {
  const { keep } = useSession()
  const [isOpen, setIsOpen] = useState(false)
  const plan = useAsked(
    async () => (isOpen && isShown ? keep.objects.explain(asked) : undefined),
    [isOpen, isShown, JSON.stringify(asked)],
  )
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{texts.objects.explain}</summary>
      {isOpen && isShown && (
        <Answered asked={plan}>{(plan) => plan && <Drawn plan={plan} />}</Answered>
      )}
    </details>
  )
}

function Drawn({ plan }: { readonly plan: QueryPlan }) {
  const { indexes, keysRead, objectsRead, total, returned, notUsed } = plan
  const most = Math.max(1, keysRead, objectsRead, total, ...indexes.map(({ keys }) => keys))
  return (
    <div class="card plan">
      <p>
        <strong>{words.types[plan.plan]}</strong>{' '}
        <span class="quiet">{words.took(plan.milliseconds)}</span>
      </p>
      <ol>
        {indexes.map(({ path, ranges, keys }, at) => (
          <Step key={at} name={words.index(path)} amount={keys} most={most}>
            {ranges.map((range) => (
              <code key={range} class="free">
                {range}
              </code>
            ))}
          </Step>
        ))}
        <Step name={words.keys} amount={keysRead} most={most}>
          {plan.counted && words.counted}
        </Step>
        <Step name={words.objects} amount={objectsRead} most={most}>
          {plan.filtered ? words.filtered : words.unfiltered}
        </Step>
        <Step name={words.total} amount={total} most={most} />
        <Step name={words.returned} amount={returned} most={most}>
          {words.sorts[plan.sort]}
        </Step>
      </ol>
      {notUsed.length > 0 && (
        <>
          <h3>{words.notUsed}</h3>
          <ul class="plain">
            {notUsed.map(({ path, reason }) => (
              <li key={path}>
                <code>{path}</code> <span class="quiet free">{reason}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

interface StepProps {
  readonly name: string
  readonly amount: number
  readonly most: number
  readonly children?: preact.ComponentChildren
}

function Step({ name, amount, most, children }: StepProps) {
  return (
    <li>
      <span>{name}</span>
      <span class="number">{texts.count(amount)}</span>
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect width={amount === 0 ? 0 : Math.max(0.5, (amount / most) * 100)} height="4" />
      </svg>
      {children !== undefined && <span class="quiet">{children}</span>}
    </li>
  )
}
