// Headings have no stop at their end, and yet no sentence goes on behind them.

import type { FlowDocument } from '../../types.js'
import { headingsOf, lastAt } from '../headings.js'
import { collapseSpace } from '../names.js'
import type { ChunkText } from '../types.js'

/** The text of a chunk, each heading and the title of the document in a paragraph of its own. */
export function withHeadingsApart(
  { start, text }: ChunkText,
  document: FlowDocument,
  first: string | undefined,
): string {
  const headings = headingsOf(document)
  const titles = new Set([document.title ?? '', first ?? ''].map(collapseSpace))
  return text.replace(/[^\r\n]+/g, (line, at: number) => {
    if (titles.has(collapseSpace(line))) return `\n\n${line}\n\n`
    const heading = lastAt(headings, start + at)
    if (heading === undefined || start + at >= heading.end) return line
    // A chunk may begin inside of one.
    return `\n\n${start + at > heading.start ? line.replace(/^[\s#]+/, '') : heading.text}\n\n`
  })
}
