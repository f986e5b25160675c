// Of every public function and method the arguments that are no options.

import * as memory from '../../adapters/memory.js'
import * as level from '../../adapters/level/index.js'
import * as lorekeep from '../../src/index.js'
import * as ai from '../../src/ai/index.js'
import * as langchain from '../../src/langchain/index.js'
import * as rdf from '../../src/rdf/index.js'
import * as tgx from '../../src/tgx/index.js'
import { keep, knowledge, objects, flows, ref, graph, engine, term } from './things.js'

/** An argument of its own, none of the options. */
interface Argument {
  readonly call: (value: never) => unknown
  /** What may come from a client ends in this code, and not in a TypeError. */
  readonly code?: string
  /** Wrong beside what is wrong for each: numbers, null, objects of nothing, and leaving it out. */
  readonly wrong?: readonly unknown[]
  /** Of those, what is right for it. */
  readonly right?: readonly unknown[]
}

export const never = [7, null, undefined, true, Symbol('x')]
const ofText = (call: Argument['call'], code?: string): Argument => ({
  call,
  wrong: [[], {}, ['x']],
  ...(code !== undefined && { code }),
})
const oneText = (call: Argument['call']) => [ofText(call)]
const ofObject = (call: (collection: never, id: never) => unknown) => [
  ofText((collection) => call(collection, '1' as never)),
  { call: (id: never) => call('c' as never, id), wrong: [[], {}], right: [7] },
]
const aSource = { wrong: [{}, 'text', ['text']] }
const inGraph = 'LK_GRAPH_QUERY'

/** By what is called: all arguments but names of cores and documents, and options. */
export const arguments_: Readonly<Record<string, readonly Argument[]>> = {
  restore: [
    { call: (backend) => lorekeep.restore(backend, '/none'), wrong: [{}, 'x'] },
    { call: (source) => lorekeep.restore(new memory.MemoryBackend(), source), wrong: [{}] },
  ],
  'keep.backup': [{ call: (target) => keep.backup(target), wrong: [{}, ''] }],
  'knowledge.import': [{ call: (source) => knowledge.import(ref, source), ...aSource }],
  'knowledge.write': [{ call: (messages) => knowledge.write(ref, messages), wrong: [{}] }],
  'graph.solve': [{ call: (patterns) => graph.solve(patterns), code: inGraph, wrong: [{}, 'x'] }],
  'graph.nearest': [
    { call: (vector) => graph.nearest(vector), code: inGraph, wrong: [[], {}, 'x', ['1'], [NaN]] },
  ],
  aiEmbedder: [{ call: (model) => ai.aiEmbedder(model), wrong: [{}, ''] }],
  aiExtractor: [{ call: (model) => ai.aiExtractor(model), wrong: [{}, ''] }],
  aiGenerate: [{ call: (model) => ai.aiGenerate(model), wrong: [{}, ''] }],
  passagesAsText: [{ call: (documents) => langchain.passagesAsText(documents), wrong: [{}, 'x'] }],
  'graph.merge': [
    { call: (a) => graph.merge(a, term), code: inGraph, wrong: [{}, 'x', { v: 'x', e: false }] },
    { call: (b) => graph.merge(term, b), code: inGraph, wrong: [{}, 'x', term] },
  ],
  'graph.split': [
    { call: (a) => graph.split(a, term), code: inGraph, wrong: [{}, 'x', { v: 'x', e: false }] },
    { call: (b) => graph.split(term, b), code: inGraph, wrong: [{}, 'x', term] },
  ],
  'objects.schema': oneText((name) => objects.schema(name)),
  'objects.schemaVersion': oneText((name) => objects.schemaVersion(name)),
  'objects.dropSchema': oneText((name) => objects.dropSchema(name)),
  'objects.get': ofObject((collection, id) => objects.get(collection, id)),
  'objects.replace': ofObject((collection, id) => objects.replace(collection, id, {})),
  'objects.patch': [
    ...ofObject((collection, id) => objects.patch(collection, id, {})),
    {
      call: (changes) => objects.patch('c', '1', changes),
      code: 'LK_OBJECT_REQUEST',
      wrong: [[], 'x'],
    },
  ],
  'objects.delete': ofObject((collection, id) => objects.delete(collection, id)),
  'objects.createCollection': [
    {
      call: (name) => objects.createCollection(name),
      code: 'LK_OBJECT_REQUEST',
      wrong: ['', [], {}, 'x'.repeat(257)],
    },
  ],
  'objects.deleteCollection': oneText((name) => objects.deleteCollection(name)),
  'flows.load': oneText((flow) => flows.load(flow, { id: 'd', content: 'text' })),
  'flows.get': oneText((id) => flows.get(id)),
  'flows.version': oneText((id) => flows.version(id)),
  'flows.start': oneText((id) => flows.start(id)),
  'flows.stop': oneText((id) => flows.stop(id)),
  'flows.remove': oneText((id) => flows.remove(id)),
  'flows.job': oneText((id) => flows.job(id)),
  'flows.deadLetters': [{ call: (id) => flows.deadLetters(id), wrong: ['', [], {}] }],
  'flows.stats': oneText((id) => flows.stats(id)),
  'flows.retry': oneText((id) => flows.retry(id)),
  'flows.cancel': oneText((id) => flows.cancel(id)),
  parseRdf: [{ call: (source) => rdf.parseRdf(source, { format: 'nt' }), ...aSource }],
  writeRdf: [{ call: (source) => rdf.writeRdf(source, { format: 'nt' }), wrong: [{}] }],
  rdfFormatNamed: oneText((name) => rdf.rdfFormatNamed(name)),
  importWorkspace: [
    { call: (keep) => tgx.importWorkspace(keep, '/none', { user: 'u' }), wrong: [{}, 'x'] },
    { call: (source) => tgx.importWorkspace(keep, source, { user: 'u' }), wrong: [{}, ['x']] },
  ],
  'engine.query': oneText((text) => engine.query(graph, text)),
  'engine.execute': oneText((text) => engine.execute(graph, text)),
  LevelBackend: [{ call: (location) => new level.LevelBackend(location), wrong: ['', {}] }],
}

/** Their arguments are options, names of cores and documents, and what comes from a client whole. */
export const without = [
  'createLorekeep',
  'keep.verify',
  'keep.health',
  ...[
    'export',
    'messages',
    'stat',
    'delete',
    'index',
    'indexState',
    'list',
    'corePage',
    'graph',
  ].map((name) => `knowledge.${name}`),
  ...[
    'match',
    'count',
    'retrieve',
    'answer',
    'search',
    'neighbours',
    'describe',
    'duplicates',
    'graphs',
    'snapshot',
    'source',
  ].map((n) => `graph.${n}`),
  ...['defineSchema', 'schemas', 'import', 'query', 'find', 'explain', 'collections'].map(
    (name) => `objects.${name}`,
  ),
  ...['objects.schemaPage', 'objects.collectionPage'],
  ...['jobPage', 'documentPage', 'flowPage', 'retryAll', 'cancelAll'].map(
    (name) => `flows.${name}`,
  ),
  ...['define', 'run', 'jobs', 'documents', 'watch', 'document', 'removeDocument', 'list'].map(
    (name) => `flows.${name}`,
  ),
  ...['chunk', 'embed', 'extract', 'store', 'index', 'hashingEmbedder', 'offlineExtractor'],
  ...[
    'openaiEmbedder',
    'openaiExtractor',
    'createSparql',
    'engine.isInstalled',
    'createHandler',
    'createFetchHandler',
    'fastifyLorekeep',
    'instrument',
    'MemoryBackend',
  ],
  'knowledgeTools',
  ...['Retriever', 'VectorStore', 'Loader', 'RecordManager'].map((name) => `Lorekeep${name}`),
  'PostgresBackend',
  // Terms of others, which have types and no end of shapes; errors.
  ...['quadOf', 'rdfTermOf', 'termOf', 'LorekeepError', 'hasCode'],
]
