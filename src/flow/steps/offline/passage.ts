// What has to be known of a chunk to read it, without the document around it: another thread gets no more.

import type { FlowDocument } from '../../types.js'
import { firstHeading } from '../title.js'
import type { ChunkText } from '../types.js'
import { withHeadingsApart } from './headings-apart.js'

export interface Passage {
  readonly text: string
  /** The text with each heading and the document's title in a paragraph of its own. */
  readonly parted: string
  /** What the document is called; of its first chunk only. */
  readonly title: string | undefined
  /** Whether the document begins with it. */
  readonly isFirst: boolean
  /** Some of the document's text on either side. */
  readonly before: string
  readonly after: string
}

/** Longer than most names. */
const aside = 40

export function passageOf(chunk: ChunkText, document: FlowDocument): Passage {
  const { index, start, end, text } = chunk
  const { title, text: whole } = document
  const first = firstHeading(whole)
  return {
    text,
    parted: withHeadingsApart(chunk, document, first),
    isFirst: index === 0,
    title: index === 0 ? (title ?? first) : undefined,
    before: whole.slice(Math.max(0, start - aside), start),
    after: whole.slice(end, end + aside),
  }
}
