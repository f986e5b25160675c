// A subgraph as people look at it: names in place of URIs, and what only says where something was
// found kept apart from what was found.

import type { GraphSource, Subgraph } from '../../graph/types.js'
import type { Term, Triple } from '../../types.js'
import { vocabulary } from '../../vocabulary.js'
import { cut, printable, widthOf } from './figures.js'
import { keyOf } from '../../terms.js'
import { formatTerm } from './term.js'

export interface NumberedPassage extends GraphSource {
  /** From 1. */
  readonly number: number
}

export interface SubgraphView {
  /** Neither labels that are shown as names, nor what is said of passages. */
  readonly relations: readonly Triple[]
  readonly passages: readonly NumberedPassage[]
  /** The label of an entity, else the term. */
  nameOf(term: Term): string
  /** The label of a predicate, else the end of its URI. */
  relationName(predicate: Term): string
  passagesOf(term: Term): readonly NumberedPassage[]
}

export function viewOf({ triples, labels, sources }: Subgraph): SubgraphView {
  const passages = sources.map((source, index) => ({ ...source, number: index + 1 }))
  const chunks = new Set(sources.map(({ chunk }) => keyOf(chunk)))
  const passagesByTerm = new Map<string, NumberedPassage[]>()
  for (const passage of passages) {
    const terms = new Set([passage.chunk, ...passage.entities].map(keyOf))
    for (const key of terms) {
      passagesByTerm.set(key, [...(passagesByTerm.get(key) ?? []), passage])
    }
  }
  const labelOf = ({ v, e }: Term) => (e && Object.hasOwn(labels, v) ? labels[v] : undefined)
  const isShown = ({ s, p, o }: Triple) => {
    if (chunks.has(keyOf(s)) || chunks.has(keyOf(o))) return false
    return !(p.e && p.v === vocabulary.label && !o.e && o.v === labelOf(s))
  }
  const nameOf = (term: Term) => {
    const label = labelOf(term)
    return label === undefined ? formatTerm(term) : printable(label)
  }
  return {
    relations: triples.filter(isShown),
    passages,
    nameOf,
    relationName(predicate) {
      const [, end] = /[/#:]([^/#:]+)$/.exec(predicate.v) ?? []
      const isNamed = end === undefined || labelOf(predicate) !== undefined
      return isNamed ? nameOf(predicate) : printable(end)
    },
    passagesOf: (term) => passagesByTerm.get(keyOf(term)) ?? [],
  }
}

/** `News from Nowhere › A Morning Bath, page 3, 1200 to 1460`, as far as the core knows. */
export function placeOf(
  { document, chunk, title, heading, page, start, end }: NumberedPassage,
  view: SubgraphView,
  width = Infinity,
): string {
  const range = start !== undefined && end !== undefined ? `, ${start} to ${end}` : ''
  const section = heading === undefined ? '' : ` › ${onOneLine(heading)}`
  const leaf = page === undefined ? '' : `, page ${page}`
  const name = title === undefined ? nameOf(document ?? chunk, view) : onOneLine(title)
  const rest = `${section}${leaf}${range}`
  // A long title says no more than its beginning; where the passage stands is found nowhere else.
  return `${cut(name, Math.max(width - widthOf(rest), leastName))}${rest}`
}

const leastName = 20

/** Of a document without a title that was loaded from a file, the name of that is enough beside the passage. */
function nameOf(term: Term, view: SubgraphView): string {
  const name = view.nameOf(term)
  const [, file] = /^file:\/\/.*\/([^/]+)$/.exec(term.v) ?? []
  if (file === undefined || name !== formatTerm(term)) return name
  try {
    return printable(decodeURIComponent(file))
  } catch {
    return printable(file)
  }
}

function onOneLine(text: string): string {
  return printable(text.trim().replace(/\s+/g, ' '))
}
