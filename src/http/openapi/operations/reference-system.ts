// What clients of the reference system ask.

import { referenceExamples as examples } from '../examples/reference-system.js'
import { json, ok } from '../operation.js'
import type { Operation } from '../operation.js'
import { ref } from '../schema.js'
import { ofJson, ofQuestions } from './errors.js'

export const referenceOperations = {
  'triples-service': {
    tag: 'reference system',
    summary: 'Triples of a pattern',
    body: { content: json(ref('TriplesRequest')) },
    answers: { 200: ok('Triples.', ref('TriplesResponse')) },
    errors: [...ofQuestions, 'LK_FLOW_NOT_FOUND'],
    example: examples['triples-service'],
  },
  'graph-embeddings-service': {
    tag: 'reference system',
    summary: 'Entities with the nearest vectors',
    body: { content: json(ref('EmbeddingsRequest')) },
    answers: { 200: ok('Entities, the nearest first.', ref('EmbeddingsResponse')) },
    errors: [...ofQuestions, 'LK_FLOW_NOT_FOUND'],
    example: examples['graph-embeddings-service'],
  },
  'knowledge-service': {
    tag: 'reference system',
    summary: 'List, delete, load and unload cores',
    body: { content: json(ref('KnowledgeRequest')) },
    answers: { 200: ok('The ids of a list, or nothing.', ref('KnowledgeResponse')) },
    errors: [...ofJson, 'LK_CORE_REF', 'LK_CORE_NOT_FOUND', 'LK_FLOW_NOT_FOUND'],
    example: examples['knowledge-service'],
  },
} as const satisfies Readonly<Record<string, Operation>>
