// An answer of a model on a terminal, and the passages that it cites below it.

import type { Answer } from '../../graph/types.js'
import { printable } from './figures.js'
import { placeOf, viewOf } from './subgraph-view.js'

/** `[1]  News from Nowhere › A Morning Bath, page 3`, of each that is cited, by its number. */
export function citedSources(answer: Answer): string {
  const cited = new Set(answer.citations.map(({ n }) => n))
  const view = viewOf({ ...answer, entities: [] })
  const lines = view.passages
    .filter(({ number }) => cited.has(number))
    .map((passage) => `[${passage.number}]  ${placeOf(passage, view)}\n`)
  return lines.length === 0 ? '' : `\n${lines.join('')}`
}

/** Line ends and tabs stay, as far as they do no harm; nothing else moves a cursor. */
export function terminalText(text: string): string {
  const lines = text.replaceAll('\r', '').replaceAll('\t', '    ').split('\n')
  return lines.map(printable).join('\n')
}
