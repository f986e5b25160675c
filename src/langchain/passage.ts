// Passages as documents of LangChain, and as the text of a prompt.

import { Document, type DocumentInterface } from '@langchain/core/documents'
import { checkArgument } from '../door/options.js'
import { aList } from '../door/rules.js'
import { plainPassage, textOfPassage, type PlainPassage } from '../mcp/passages.js'
import type { FoundPassage, GraphSource } from '../graph/types.js'

/** Where a passage stands, and how it was found. */
export interface PassageMetadata extends Omit<PlainPassage, 'document' | 'text' | 'score'> {
  /** The document, by its URI. */
  readonly source: string
  /** The passage itself. */
  readonly chunk: string
  /** Of a passage that was found. Scores of two questions say nothing together. */
  readonly score: number
  /** The names that lead from the question to it. */
  readonly via?: readonly string[]
}

export function documentOfPassage(
  passage: FoundPassage | GraphSource,
  n: number,
): Document<PassageMetadata> {
  const { document: _id, text, ...place } = plainPassage(passage, n)
  const via = 'via' in passage ? passage.via.map(({ name }) => name) : []
  const metadata = {
    source: (passage.document ?? passage.chunk).v,
    chunk: passage.chunk.v,
    ...place,
    ...(via.length > 0 && { via }),
  }
  return new Document({ id: passage.chunk.v, pageContent: text, metadata })
}

/**
 * For a prompt: each under its number `[n]`, which an answer can cite, with its document and place; each line of a
 * document begins with `> `, so that none can pass for one of the prompt's own.
 */
export function passagesAsText(documents: readonly DocumentInterface[]): string {
  checkArgument('documents', documents, aList)
  const texts = documents.map(({ pageContent, metadata }, at) => {
    const { source, ...place } = metadata as Partial<PassageMetadata>
    const document = typeof source === 'string' ? source : 'without a name'
    return textOfPassage({ ...(place as PlainPassage), n: at + 1, document, text: pageContent })
  })
  return texts.join('\n\n')
}
