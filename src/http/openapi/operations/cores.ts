// Cores as wholes.

import { rdfFormats, syntaxes } from '../../../rdf/format.js'
import { coreExamples as examples } from '../examples/cores.js'
import { noContent, ok } from '../operation.js'
import type { Content, Operation } from '../operation.js'
import { bytes, ref, text } from '../schema.js'

const rdf: Content = Object.fromEntries(
  rdfFormats.map((format) => [syntaxes[format].mediaType, { schema: text }]),
)
const stream: Content = { 'application/octet-stream': { schema: bytes } }

export const coreOperations = {
  importCore: {
    tag: 'cores',
    summary: 'Import a core',
    description:
      'Reads a stream of MessagePack messages, or RDF by its Content-Type, to its end and stores all of it or, after any error, nothing.',
    body: { content: { ...stream, ...rdf } },
    answers: { 200: ok('What the import brought.', ref('ImportSummary')) },
    errors: [
      'LK_CORE_REF',
      'LK_CORE_FORMAT',
      'LK_CORE_TYPE',
      'LK_CORE_MESSAGE',
      'LK_CORE_TOO_LARGE',
      'LK_RDF_FORMAT',
      'LK_RDF_LOSS',
      'LK_PEER_MISSING',
      'LK_HTTP_ENCODING',
      'LK_HTTP_TIMEOUT',
      'LK_HTTP_BODY_CONSUMED',
      'LK_HTTP_BUSY',
    ],
    example: examples.importCore,
  },
  exportCore: {
    tag: 'cores',
    summary: 'Export a core',
    description:
      'The core as it is stored, or as RDF by `Accept`. An answer that is cut off broke on the way.',
    headers: ['Range', 'If-Range'],
    answers: {
      200: {
        description: 'The core.',
        headers: ['Cache-Control', 'Accept-Ranges?', 'Repr-Digest?'],
        content: { ...stream, ...rdf },
      },
      206: {
        description: 'A range of it.',
        headers: ['Cache-Control', 'Accept-Ranges', 'Content-Range', 'Repr-Digest?'],
        content: stream,
      },
    },
    errors: [
      'LK_CORE_REF',
      'LK_CORE_NOT_FOUND',
      'LK_PEER_MISSING',
      'LK_HTTP_RANGE',
      'LK_HTTP_TIMEOUT',
      'LK_HTTP_BUSY',
    ],
    example: examples.exportCore,
  },
  listCores: {
    tag: 'cores',
    summary: 'List cores',
    description: 'In the byte order of their ids.',
    answers: { 200: ok('A page of them.', ref('CorePage')) },
    errors: ['LK_CORE_REF', 'LK_CURSOR'],
    example: examples.listCores,
  },
  showCore: {
    tag: 'cores',
    summary: 'What is known of a core',
    answers: { 200: ok('What it holds.', ref('CoreStat')) },
    errors: ['LK_CORE_REF', 'LK_CORE_NOT_FOUND'],
    example: examples.showCore,
  },
  deleteCore: {
    tag: 'cores',
    summary: 'Delete a core',
    answers: noContent,
    errors: ['LK_CORE_REF', 'LK_CORE_NOT_FOUND'],
    example: examples.deleteCore,
  },
  indexCore: {
    tag: 'cores',
    summary: 'Index a core for questions',
    description: 'Goes on where the client leaves.',
    answers: { 200: ok('How much is indexed.', ref('IndexState')) },
    errors: ['LK_CORE_REF', 'LK_CORE_NOT_FOUND'],
    example: examples.indexCore,
  },
  showIndex: {
    tag: 'cores',
    summary: 'How much of a core is indexed',
    answers: { 200: ok('How much is indexed.', ref('IndexState')) },
    errors: ['LK_CORE_REF', 'LK_CORE_NOT_FOUND'],
    example: examples.showIndex,
  },
  indexAll: {
    tag: 'cores',
    summary: 'Index all cores of a user for questions',
    description: 'Merges their parts as far as they can be. Goes on where the client leaves.',
    answers: { 200: ok('How much is indexed.', ref('LibraryIndexState')) },
    errors: ['LK_CORE_REF'],
    example: examples.indexAll,
  },
  showIndexOfAll: {
    tag: 'cores',
    summary: 'How much of all cores of a user is indexed',
    answers: { 200: ok('How much is indexed.', ref('LibraryIndexState')) },
    errors: ['LK_CORE_REF'],
    example: examples.showIndexOfAll,
  },
} as const satisfies Readonly<Record<string, Operation>>
