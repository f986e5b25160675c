import type { Term } from '../types.js'
import { passagePredicates } from '../vocabulary.js'
import { ANY, NONE, type GraphView } from './view.js'
import type { PassageSet } from './words/types.js'

/** The text of a passage, which triples of the view say. May throw a Miss. */
export function passageText(
  view: GraphView,
  set: PassageSet,
  passage: number,
  chunk: Term,
): string {
  const s = view.find(chunk)
  for (const name of passagePredicates.text) {
    const p = view.find({ v: name, e: true })
    if (s === NONE || p === NONE) continue
    const rows = view.rows(s, p, ANY)
    while (rows.next()) {
      const term = view.term(rows.o)
      if (!term.e && set.isText(passage, term)) return term.v
    }
  }
  return ''
}
