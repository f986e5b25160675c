// What one core says and another does not.

import { useState } from 'preact/hooks'
import type { Triple } from '../../../types.js'
import { useDoing } from '../../asking.js'
import { Field } from '../../parts/controls.js'
import { Failure } from '../../parts/states.js'
import { graphOf, useSession, type Session } from '../../session.js'
import { texts } from '../../texts.js'

/** Of each. They are read and held for as long as it takes. */
const mostTriples = 50_000

const shownTriples = 100

interface Side {
  readonly id: string
  readonly count: number
  /** The first of them. */
  readonly triples: readonly Triple[]
}

interface Difference {
  readonly both: number
  readonly sides: readonly Side[]
}

export function Comparison() {
  const session = useSession()
  const [ids, setIds] = useState<readonly [string, string]>(['', ''])
  const [found, setFound] = useState<Difference>()
  const { isBusy, error, start } = useDoing()
  const [one, other] = ids
  return (
    <details>
      <summary>{texts.cores.compare}</summary>
      <p class="quiet">{texts.cores.compareHint(mostTriples)}</p>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          setFound(undefined)
          void start(async () => setFound(await differenceOf(session, one, other)))
        }}
      >
        <Field label={texts.cores.one} value={one} onInput={(one) => setIds([one, other])} />
        <Field label={texts.cores.other} value={other} onInput={(other) => setIds([one, other])} />
        <button type="submit" class="beside" disabled={isBusy || one === '' || other === ''}>
          {texts.cores.compareButton}
        </button>
      </form>
      {isBusy && <p role="status">{texts.loading}</p>}
      {error !== undefined && <Failure error={error} />}
      {found !== undefined && (
        <>
          <p role="status">{texts.cores.both(found.both)}</p>
          {found.sides.map((side, at) => (
            <OneSide key={at} side={side} />
          ))}
        </>
      )}
    </details>
  )
}

function OneSide({ side: { id, count, triples } }: { readonly side: Side }) {
  return (
    <section class="group">
      <h2 class="free">{texts.cores.only(id)}</h2>
      <p class="quiet">
        {texts.cores.triples(count)}
        {count > triples.length && `, ${texts.cores.first(triples.length)}`}
      </p>
      {triples.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={texts.cores.only(id)}>
          <table>
            <tbody>
              {triples.map(({ s, p, o }, at) => (
                <tr key={at}>
                  {[s, p, o].map(({ v }, part) => (
                    <td key={part} class="cut" title={v} dir="auto">
                      {v}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

/** @throws Error where one is not there, or too large */
async function differenceOf(session: Session, one: string, other: string): Promise<Difference> {
  const [first, second] = await Promise.all([triplesOf(session, one), triplesOf(session, other)])
  const missing = (from: Triples, within: Triples): Side => {
    const only = [...from.byText].filter(([text]) => !within.byText.has(text))
    const triples = only.slice(0, shownTriples).map(([, triple]) => triple)
    return { id: from.id, count: only.length, triples }
  }
  const sides = [missing(first, second), missing(second, first)]
  return { both: first.byText.size - (sides[0]?.count ?? 0), sides }
}

interface Triples {
  readonly id: string
  readonly byText: ReadonlyMap<string, Triple>
}

async function triplesOf(session: Session, id: string): Promise<Triples> {
  const { keep, user } = session
  const stat = await keep.knowledge.stat({ user, id })
  if (stat === undefined) throw new Error(texts.cores.noCore(id))
  if (stat.triples > mostTriples) {
    throw new Error(texts.cores.tooLarge(id, stat.triples, mostTriples))
  }
  const byText = new Map<string, Triple>()
  for await (const triple of graphOf(session, [id]).match()) byText.set(textOf(triple), triple)
  return { id, byText }
}

function textOf({ s, p, o, g }: Triple): string {
  const parts = [s, p, o].map(({ v, e, dt, ln }) => [v, e, dt, ln])
  return JSON.stringify([parts, g])
}
