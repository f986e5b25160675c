// Colours of types, as the style of the page has them for light and dark.

import { useEffect, useState } from 'preact/hooks'
import type { Node } from './model.js'

/** How many there are: `.kind-0` and so on in graph.css. The last is for all types beyond. */
const colours = 8

export interface Palette {
  /** By number. */
  readonly kinds: readonly string[]
  readonly text: string
  readonly quiet: string
  readonly line: string
  readonly ground: string
  readonly accent: string
  readonly font: string
}

/** Which colour each type has: the most frequent ones come first. */
export function colourOf(nodes: readonly Node[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { kind } of nodes) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const sorted = [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  return new Map(sorted.map(([kind], at) => [kind, Math.min(at, colours - 1)]))
}

/** Again whenever light becomes dark. */
export function usePalette(): Palette {
  const [palette, setPalette] = useState(readPalette)
  useEffect(() => {
    const follow = () => setPalette(readPalette())
    const observer = new MutationObserver(follow)
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', follow)
    return () => {
      observer.disconnect()
      dark.removeEventListener('change', follow)
    }
  }, [])
  return palette
}

/** A canvas knows no style sheets: an element has to say what a colour is. */
function readPalette(): Palette {
  const probe = document.createElement('span')
  probe.hidden = true
  document.body.append(probe)
  const colourIn = (name: string) => {
    probe.className = name
    return getComputedStyle(probe).color
  }
  const palette = {
    kinds: Array.from({ length: colours }, (_, at) => colourIn(`kind-${at}`)),
    text: colourIn('kind-text'),
    quiet: colourIn('kind-quiet'),
    line: colourIn('kind-line'),
    ground: colourIn('kind-ground'),
    accent: colourIn('kind-accent'),
    font: getComputedStyle(document.body).fontFamily,
  }
  probe.remove()
  return palette
}
