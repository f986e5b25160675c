// Headings have no stop at their end, and yet no sentence goes on behind them.

import type { FlowDocument } from '../../types.js'
import { headingsOf, lastAt } from '../headings.js'
import { collapseSpace } from '../names.js'
import { firstHeading } from '../title.js'
import type { ChunkText } from '../types.js'

/** The text of a chunk, each heading and the title of the document in a paragraph of its own. */
export function withHeadingsApart({ start, text }: ChunkText, document: FlowDocument): string {
  const headings = headingsOf(document)
  const titles = new Set(
    [document.title ?? '', firstHeading(document.text) ?? ''].map(collapseSpace),
  )
  return text.replace(/[^\r\n]+/g, (line, at: number) => {
    if (titles.has(collapseSpace(line))) return `\n\n${line}\n\n`
    const heading = lastAt(headings, start + at)
    if (heading === undefined || start + at >= heading.end) return line
    // A chunk may begin inside of one.
    return `\n\n${start + at > heading.start ? line.replace(/^[\s#]+/, '') : heading.text}\n\n`
  })
}
