// A subgraph in the language of Graphviz: https://graphviz.org/doc/info/lang.html

import type { Subgraph } from '../../graph/types.js'
import type { Term } from '../../types.js'
import { printable } from './figures.js'
import { keyOf } from '../../terms.js'
import { placeOf, viewOf } from './subgraph-view.js'
import { formatTerm } from './term.js'

/** Longer texts are cut in the picture; its tooltips have them whole. */
const longest = 60

export function subgraphDot(subgraph: Subgraph): string {
  const view = viewOf(subgraph)
  const lines: string[] = []
  const ids = new Map<string, string>()
  const passageIds = new Map(view.passages.map(({ chunk, number }) => [keyOf(chunk), `p${number}`]))

  const nodeOf = (term: Term, score?: number): string => {
    const key = keyOf(term)
    // An entity that is a chunk is its passage.
    const known = passageIds.get(key) ?? ids.get(key)
    if (known !== undefined) return known
    const id = `n${ids.size}`
    // Things that share a literal, such as a year, are not joined by it.
    ids.set(term.e ? key : `${id} `, id)
    const bold = score === undefined ? {} : { style: 'rounded,bold', xlabel: score.toFixed(3) }
    const shape = term.e ? bold : { shape: 'plaintext' }
    lines.push(`${id} ${attributes({ ...label(view.nameOf(term), formatTerm(term)), ...shape })}`)
    return id
  }

  for (const { entity, score } of subgraph.entities) nodeOf(entity, score)
  for (const { s, p, o } of view.relations) {
    const edge = label(view.relationName(p), formatTerm(p))
    lines.push(`${nodeOf(s)} -> ${nodeOf(o)} ${attributes(edge)}`)
  }
  for (const passage of view.passages) {
    const id = `p${passage.number}`
    const place = placeOf(passage, view)
    const text = passage.text === undefined ? place : printable(passage.text.replace(/\s+/g, ' '))
    const shape = { shape: 'note', style: 'solid', xlabel: passage.score.toFixed(3) }
    const title = `[${passage.number}] ${text.trim()}`
    lines.push(`${id} ${attributes({ ...label(title, place), ...shape })}`)
    for (const entity of passage.entities) {
      const from = nodeOf(entity)
      if (from !== id) lines.push(`${from} -> ${id} ${attributes({ style: 'dashed' })}`)
    }
  }
  const head = ['rankdir=LR', 'node [shape=box, style=rounded]', ...lines]
  return `digraph lorekeep {\n${head.map((line) => `  ${line}\n`).join('')}}\n`
}

function label(text: string, tooltip: string): Readonly<Record<string, string>> {
  const characters = [...text]
  const isLong = characters.length > longest
  const shown = isLong ? `${characters.slice(0, longest - 1).join('')}…` : text
  return { label: shown, tooltip: isLong ? `${text} ${tooltip}` : tooltip }
}

function attributes(values: Readonly<Record<string, string>>): string {
  return `[${Object.entries(values)
    .map(([name, value]) => `${name}="${escape(value)}"`)
    .join(', ')}]`
}

/** Inside quotes: a backslash starts an escape (`\N` is the name of the node), `&` one of HTML. */
function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;')
}
