// The text of a document, of the passages that its core has: what flows have read of it.

import { LorekeepError } from '../errors.js'
import { vocabulary } from '../vocabulary.js'
import { wrongArgument } from './asking.js'
import { isOfDocument } from './passages.js'
import { graphOfDocument, type UserStores } from './stores.js'
import { iri } from './triples.js'

export interface TextOfDocument {
  /** From a place in the text on, in UTF-16 code units. */
  readonly text: string
  /** Where it goes on, maybe with nothing; undefined where this is its end. */
  readonly next?: number
}

const mostPassages = 20_000

/**
 * At most so many UTF-16 code units of it. Between passages, where the text had white space that is none of theirs,
 * there is a line feed.
 * @throws LorekeepError `LK_DOCUMENT_NOT_FOUND`, `LK_TOOL_ARGUMENTS` where it has too many passages
 */
export async function textOfDocument(
  stores: UserStores,
  document: string,
  { from, most, signal }: { from: number; most: number; signal: AbortSignal },
): Promise<TextOfDocument> {
  if ((await stores.core(document)) === undefined) {
    const details = { document }
    throw new LorekeepError('LK_DOCUMENT_NOT_FOUND', `'${document}'`, { details })
  }
  let text = ''
  let at = from
  for (const passage of await passagesOf(stores, document, signal)) {
    if (passage.end <= at) continue
    if (text.length >= most) break
    const gap = text !== '' && passage.start > at ? '\n' : ''
    text += gap + passage.text.slice(Math.max(0, at - passage.start))
    at = passage.end
  }
  if (text.length < most) return { text }
  // No half of a surrogate pair at its end.
  const length = /[\ud800-\udbff]/.test(text[most - 1] ?? '') ? most - 1 : most
  return { text: text.slice(0, length), next: at - (text.length - length) }
}

interface PassageOfText {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** In the order of the text. */
async function passagesOf(
  stores: UserStores,
  document: string,
  signal: AbortSignal,
): Promise<PassageOfText[]> {
  const { isPartOf, text, beginIndex, endIndex } = vocabulary
  const patterns = [
    { s: '?chunk' as const, p: iri(isPartOf), o: '?document' as const },
    { s: '?chunk' as const, p: iri(text), o: '?text' as const },
    { s: '?chunk' as const, p: iri(beginIndex), o: '?start' as const },
    { s: '?chunk' as const, p: iri(endIndex), o: '?end' as const },
  ]
  const graph = stores.graph(await graphOfDocument(stores, document))
  const found: PassageOfText[] = []
  let rows = 0
  for await (const row of graph.solve(patterns, { limit: mostPassages + 1, signal })) {
    // They come in no order: of some of them the text would have holes.
    if (++rows > mostPassages) {
      const message = `has more than ${mostPassages} passages, too many to be put together: search finds them`
      throw wrongArgument('document', message)
    }
    const { document: of, text, start, end } = row
    if (of === undefined || text === undefined || start === undefined || end === undefined) continue
    if (!isOfDocument(of.v, document)) continue
    found.push({ text: text.v, start: Number(start.v), end: Number(end.v) })
  }
  return found.sort((a, b) => a.start - b.start)
}
