// What the colours mean, and which types and relations are to be seen.

import { useMemo, useState } from 'preact/hooks'
import { texts } from '../texts.js'
import { allThings, isLink, type Drawn, type Filter, type Shown } from './model.js'
import { cut, shortened } from './names.js'
import { colourOf } from './palette.js'
import { nameOf } from './sketch.js'

interface LegendProps {
  readonly shown: Shown
  readonly drawn: Drawn
  readonly hidden: Filter
  readonly onChange: (hidden: Filter) => void
}

/** So many are listed at once. */
const few = 12

export function Legend({ shown, drawn, hidden, onChange }: LegendProps) {
  // As the picture has them: by what is seen.
  const colours = useMemo(() => colourOf(drawn.nodes), [drawn])
  const [kinds, relations] = useMemo(() => {
    const kinds = [...allThings(shown)].map((id) => shown.kinds.get(id) ?? '')
    return [counted(kinds), counted(shown.triples.filter(isLink).map(({ p }) => p.v))] as const
  }, [shown])
  const toggle = (of: keyof Filter, one: string) => {
    const next = new Set(hidden[of])
    if (!next.delete(one)) next.add(one)
    onChange({ ...hidden, [of]: next })
  }
  const kindName = (kind: string) =>
    kind === '' ? texts.graph.untyped : cut(shown.names.get(kind) ?? wordsOf(shortened(kind)), 40)
  return (
    <>
      <Group
        title={texts.graph.types}
        entries={kinds}
        nameOf={kindName}
        isOn={(kind) => !hidden.kinds.has(kind)}
        swatch={(kind) => `kind-${colours.get(kind) ?? 'none'}`}
        onToggle={(kind) => toggle('kinds', kind)}
      />
      <Group
        title={texts.graph.relations}
        entries={relations}
        nameOf={(relation) => nameOf(shown, relation)}
        isOn={(relation) => !hidden.relations.has(relation)}
        onToggle={(relation) => toggle('relations', relation)}
      />
    </>
  )
}

interface GroupProps {
  readonly title: string
  readonly entries: readonly (readonly [string, number])[]
  readonly nameOf: (entry: string) => string
  readonly isOn: (entry: string) => boolean
  readonly swatch?: (entry: string) => string
  readonly onToggle: (entry: string) => void
}

function Group({ title, entries, nameOf, isOn, swatch, onToggle }: GroupProps) {
  const [isAll, setIsAll] = useState(false)
  const listed = isAll ? entries : entries.slice(0, few)
  return (
    <section class="legend">
      <h2>{title}</h2>
      <ul class="plain">
        {listed.map(([entry, count]) => (
          <li key={entry}>
            <button
              type="button"
              class="toggle"
              aria-pressed={isOn(entry)}
              title={entry.slice(0, 300)}
              onClick={() => onToggle(entry)}
            >
              {swatch !== undefined && (
                <span class={`swatch ${isOn(entry) ? swatch(entry) : ''}`} />
              )}
              <span class="free" dir="auto">
                {nameOf(entry)}
              </span>
              <span class="quiet number">{texts.count(count)}</span>
            </button>
          </li>
        ))}
      </ul>
      {entries.length > listed.length && (
        <button type="button" class="small" onClick={() => setIsAll(true)}>
          {texts.graph.all(entries.length)}
        </button>
      )}
    </section>
  )
}

function counted(list: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const one of list) counts.set(one, (counts.get(one) ?? 0) + 1)
  return [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
}

/** The names of types as people would write them. */
function wordsOf(name: string): string {
  const { kinds } = texts.graph
  return Object.hasOwn(kinds, name) ? kinds[name as keyof typeof kinds] : name
}
