// Passages as an answer has them, and subgraphs with passages.

import type { AnswerSource, GraphSource, Subgraph } from '../../../src/graph/types.js'
import { entity } from '../../cli/subgraphs.js'

export function source(text: string, more: Partial<AnswerSource> = {}): AnswerSource {
  const chunk = entity(`urn:doc/${text.slice(0, 20)}`)
  return { chunk, core: 'c', text, score: 1, legs: {}, via: [], entities: [], ...more }
}

export function found(sources: readonly GraphSource[], more: Partial<Subgraph> = {}): Subgraph {
  return { entities: [], triples: [], labels: {}, sources, ...more }
}
