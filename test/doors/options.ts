// Of every public function and method the objects that it takes: which members there are, and what is said of wrong ones.

import Fastify from 'fastify'
import * as memory from '../../adapters/memory.js'
import * as level from '../../adapters/level/index.js'
import * as postgres from '../../adapters/postgres/index.js'
import * as steps from '../../src/flow/steps/index.js'
import * as http from '../../src/http/index.js'
import * as lorekeep from '../../src/index.js'
import * as ai from '../../src/ai/index.js'
import * as fastify from '../../src/fastify/index.js'
import * as langchain from '../../src/langchain/index.js'
import * as otel from '../../src/otel/index.js'
import * as rdf from '../../src/rdf/index.js'
import * as sparql from '../../src/sparql/index.js'
import * as tgx from '../../src/tgx/index.js'
import {
  keep,
  knowledge,
  objects,
  flows,
  ref,
  graph,
  engine,
  signal,
  nothing,
  ofModels,
  within,
  vectorStore,
  term,
  pattern,
  query,
  coreQuery,
  namedPage,
  jobFilter,
  jobQuery,
  documentQuery,
  scope,
  conditions,
  batch,
  progress,
  model,
} from './things.js'

export interface Door {
  /** Every member that there is, each right. */
  readonly right: Readonly<Record<string, unknown>>
  readonly call: (members: never) => unknown
  /** Those that may not be left out. */
  readonly required?: readonly string[]
  /** What may come from a client ends in this code, and not in a TypeError. */
  readonly code?: string
  /** Members that any value fits, or that are checked where they are used. */
  readonly open?: readonly string[]
  /** Members of which null means something. */
  readonly nullable?: readonly string[]
  /** It names something, and may have other members. */
  readonly isRef?: boolean
  /** Of something that is passed on by parts, or may be several: it is not tried as a whole. */
  readonly isPart?: boolean
}

const text = (source: string) =>
  (async function* () {
    yield Buffer.from(source)
  })()
const asRef = { right: ref, required: ['user', 'id'], code: 'LK_CORE_REF', isRef: true }
/** Without an id it is all that the user has. */
const orAll = { required: ['user'] }
const ofAll = { right: { user: 'u' }, required: ['user'], code: 'LK_CORE_REF', isRef: true }
const ofGraph = { code: 'LK_GRAPH_QUERY' }
const scoped = (call: (options: never) => unknown): readonly Door[] => [
  { right: { scope }, call },
  { right: scope, call: (scope) => call({ scope } as never) },
]
const queried = (call: (asked: never, ...scope: [never?]) => unknown): readonly Door[] => [
  { right: query, call: (asked) => call(asked), required: ['schema_name'], code: 'LK_QUERY' },
  { right: scope, call: (scope) => call(query as never, scope) },
]

/** By what is called; several for one that takes several. */
export const doors: Readonly<Record<string, readonly Door[]>> = {
  createLorekeep: [
    {
      right: {
        backend: new memory.MemoryBackend(),
        limits: {},
        objectCacheBytes: 1,
        graphCacheBytes: 1,
        vectorCacheBytes: 1,
        indexThreads: 0,
        indexBytesPerSecond: 1,
        embedder: nothing,
        reads: 'recent',
        collections: 'open',
        defaultUser: 'u',
        base: 'urn:x:',
        leaseMs: 1,
        clock: { now: () => 0, elapsed: () => 0, after: nothing },
        chance: { fraction: () => 0, token: () => '' },
        createId: nothing,
        closeTimeoutMs: 1,
        onError: nothing,
      },
      call: (options) => lorekeep.createLorekeep(options),
      required: ['backend'],
    },
    {
      right: {
        maxCoreBytes: 1,
        maxMessageBytes: 1,
        maxStringBytes: 1,
        maxDepth: 6,
        maxVectorLength: 1,
        maxMapEntries: 1,
        maxExtraValues: 1,
        maxBatchObjects: 1,
        maxObjectBytes: 1,
        maxQueryLimit: 1,
        maxQueryObjects: 1,
        maxQueryMs: 1,
        maxTextBytes: 0,
        maxMetadataTriples: 0,
        maxFileBytes: 0,
        maxFilePages: 1,
        maxFileMs: 1,
        maxFileMemoryMb: 32,
      },
      call: (limits) => lorekeep.createLorekeep({ backend: new memory.MemoryBackend(), limits }),
    },
  ],
  restore: [
    {
      right: progress,
      call: (options) => lorekeep.restore(new memory.MemoryBackend(), '/none', options),
    },
  ],
  'keep.health': [],
  'keep.backup': [{ right: progress, call: (options) => keep.backup('/dev/null/none', options) }],
  'keep.verify': [{ right: { deep: true, ...progress }, call: (options) => keep.verify(options) }],

  'knowledge.import': [
    { ...asRef, call: (name) => knowledge.import(name, text('')) },
    {
      right: { mode: 'append', copies: 2, index: true, ...progress },
      call: (options) => knowledge.import(ref, text(''), options),
    },
  ],
  'knowledge.write': [
    { ...asRef, call: (name) => knowledge.write(name, []) },
    {
      right: { mode: 'append', copies: 2, index: true, ...progress },
      call: (options) => knowledge.write(ref, [], options),
    },
  ],
  'knowledge.export': [
    { ...asRef, call: (name) => knowledge.export(name) },
    { right: { signal, from: 0, to: 1 }, call: (options) => knowledge.export(ref, options) },
  ],
  'knowledge.messages': [
    { ...asRef, call: (name) => knowledge.messages(name) },
    { right: { signal }, call: (options) => knowledge.messages(ref, options) },
  ],
  'knowledge.stat': [{ ...asRef, call: (name) => knowledge.stat(name) }],
  'knowledge.delete': [
    { ...asRef, call: (name) => knowledge.delete(name) },
    {
      right: conditions,
      nullable: ['ifVersion'],
      call: (options) => knowledge.delete(ref, options),
    },
  ],
  'knowledge.index': [
    { ...asRef, ...orAll, call: (name) => knowledge.index(name) },
    { right: progress, call: (options) => knowledge.index(ref, options) },
    { ...ofAll, call: (all) => knowledge.index(all) },
    { right: progress, call: (options) => knowledge.index({ user: 'u' }, options) },
  ],
  'knowledge.indexState': [
    { ...asRef, ...orAll, call: (name) => knowledge.indexState(name) },
    { ...ofAll, call: (all) => knowledge.indexState(all) },
  ],
  'knowledge.list': [
    {
      right: { ...coreQuery, after: 'a', limit: 1 },
      call: (options) => knowledge.list(options),
      open: ['user'],
    },
    {
      right: { user: 'u' },
      call: ({ user }: { user: string }) => knowledge.list({ user }),
      code: 'LK_CORE_REF',
      isRef: true,
      isPart: true,
    },
  ],
  'knowledge.corePage': [
    {
      right: { ...coreQuery, after: 'a', limit: 1 },
      call: (options) => knowledge.corePage(options),
      open: ['user'],
    },
  ],
  'knowledge.graph': [
    {
      right: { user: 'u', cores: ['core'], collection: 'c', reads: 'recent' },
      call: (asked) => knowledge.graph(asked),
      ...ofGraph,
      open: ['user'],
    },
  ],

  'graph.match': [
    {
      right: { s: term, p: term, g: 'g', filter: { gt: 1 } },
      call: (asked) => graph.match(asked),
      nullable: ['g'],
      ...ofGraph,
    },
    {
      right: { limit: 1, byText: true, signal },
      call: (options) => graph.match({}, options),
    },
  ],
  'graph.count': [
    {
      right: { s: term, p: term, o: term, g: 'g' },
      call: (asked) => graph.count(asked),
      nullable: ['g'],
      ...ofGraph,
    },
    { right: { signal }, call: (options) => graph.count({}, options) },
  ],
  'graph.solve': [
    {
      right: { gt: 1, gte: 1, lt: 2, lte: 2 },
      call: (filter) => graph.solve([{ s: '?s', p: '?p', o: '?o', filter }]),
      ...ofGraph,
      isPart: true,
      open: ['gt', 'gte', 'lt', 'lte'],
    },
    {
      right: { ...pattern, g: '?g', filter: { gt: 1 } },
      call: (asked) => graph.solve([asked]),
      nullable: ['g'],
      required: ['s', 'p', 'o'],
      ...ofGraph,
    },
    {
      right: { select: ['?s'], distinct: true, limit: 1, maxDistinctBytes: 1, signal },
      call: (options) => graph.solve([pattern as never], options),
    },
  ],
  'graph.nearest': [
    {
      right: { k: 1, exact: true, where: [], signal },
      call: (options) => graph.nearest([1], options),
      open: ['where'],
    },
    {
      right: { s: '?entity' },
      call: (where) => graph.nearest([1], { where }),
      ...ofGraph,
      isPart: true,
    },
  ],
  'graph.search': [
    {
      right: {
        text: 'x',
        k: 1,
        document: 'urn:d',
        collection: 'c',
        cores: ['a'],
        languages: ['de'],
        explain: true,
      },
      call: (asked) => graph.search(asked),
      required: ['text'],
      ...ofGraph,
    },
    {
      right: { signal },
      call: ({ signal }: { signal: AbortSignal }) => graph.search({ text: 'x', signal }),
      isRef: true,
      isPart: true,
    },
  ],
  'graph.retrieve': [
    {
      right: { text: 'x', entities: 1, triples: 1, depth: 1, maxTriples: 1, languages: ['de'] },
      call: (asked) => graph.retrieve(asked),
      required: ['text'],
      ...ofGraph,
    },
    {
      right: { signal },
      call: ({ signal }: { signal: AbortSignal }) => graph.retrieve({ text: 'x', signal }),
      isRef: true,
      isPart: true,
    },
  ],
  'graph.duplicates': [
    {
      right: { limit: 1, least: 0.5, after: { a: term, b: term, score: 0.5 }, signal },
      call: (options) => graph.duplicates(options),
      open: ['after'],
    },
    {
      right: { a: term, b: term, score: 0.5 },
      call: (after) => graph.duplicates({ after }),
      required: ['a', 'b', 'score'],
      ...ofGraph,
      isPart: true,
    },
  ],
  'graph.merge': [
    { right: { signal }, call: (options) => graph.merge(term, { v: 'urn:b', e: true }, options) },
  ],
  'graph.split': [
    { right: { signal }, call: (options) => graph.split(term, { v: 'urn:b', e: true }, options) },
  ],
  'graph.answer': [
    {
      right: {
        text: 'x',
        maxPromptLength: 1000,
        entities: 1,
        triples: 1,
        depth: 1,
        maxTriples: 1,
        languages: ['de'],
      },
      call: (asked) => graph.answer(asked),
      required: ['text'],
      ...ofGraph,
    },
    {
      right: { signal, generate: () => 'x' },
      call: (options: object) => graph.answer({ text: 'x', ...options }),
      isRef: true,
      isPart: true,
    },
    {
      right: model,
      call: (generate) => graph.answer({ text: 'x', generate }),
      required: ['model'],
    },
  ],
  'graph.neighbours': [
    {
      right: term,
      call: (asked) => graph.neighbours(asked),
      required: ['v', 'e'],
      ...ofGraph,
      isRef: true,
    },
    {
      right: { limit: 1, signal },
      call: (options) => graph.neighbours(term, options),
    },
  ],
  'graph.describe': [
    {
      right: term,
      call: (asked) => graph.describe(asked),
      required: ['v', 'e'],
      ...ofGraph,
      isRef: true,
    },
    {
      right: { limit: 1, signal },
      call: (options) => graph.describe(term, options),
    },
  ],
  'graph.graphs': [{ right: { signal }, call: (options) => graph.graphs(options) }],
  'graph.snapshot': [{ right: { signal }, call: (options) => graph.snapshot(options) }],
  'graph.source': [],

  'objects.defineSchema': [
    {
      right: {
        name: 'n',
        description: '',
        fields: { id: { type: 'string' } },
        indexes: ['id'],
        index_undeclared: false,
        strict: true,
        id_field: 'id',
        generate_ids: false,
      },
      call: (definition) => objects.defineSchema(definition),
      required: ['name', 'fields'],
      code: 'LK_SCHEMA_INVALID',
    },
    {
      right: {
        type: 'integer',
        description: '',
        required: true,
        nullable: false,
        default: 1,
        primary_key: false,
        indexed: true,
        min: 0,
        max: 7,
      },
      call: (field) =>
        objects.defineSchema({ name: 'n', fields: { id: { type: 'string' }, field } }),
      required: ['type'],
      code: 'LK_SCHEMA_INVALID',
      open: ['default', 'min', 'max'],
    },
  ],
  'objects.schema': [],
  'objects.schemas': [],
  'objects.schemaPage': [{ right: namedPage, call: (asked) => objects.schemaPage(asked) }],
  'objects.schemaVersion': [],
  'objects.dropSchema': [
    {
      right: conditions,
      nullable: ['ifVersion'],
      call: (options) => objects.dropSchema('s', options),
    },
  ],
  'objects.import': [
    {
      right: batch,
      call: (given) => objects.import(given),
      required: ['metadata', 'schema_name', 'values'],
      code: 'LK_OBJECT_REQUEST',
    },
    {
      right: { ...batch.metadata, metadata: {} },
      call: (metadata) => objects.import({ ...batch, metadata }),
      required: ['id', 'user', 'collection'],
      code: 'LK_OBJECT_REQUEST',
    },
    { right: { onDuplicate: 'skip', scope }, call: (options) => objects.import(batch, options) },
    { right: scope, call: (scope) => objects.import(batch, { scope }) },
  ],
  'objects.query': queried((...asked) => objects.query(...asked)),
  'objects.find': queried((...asked) => objects.find(...asked)),
  'objects.explain': [
    {
      right: query,
      call: (asked) => objects.explain(asked),
      required: ['schema_name'],
      code: 'LK_QUERY',
    },
  ],
  'objects.get': [
    ...scoped((options) => objects.get('c', '1', options)),
    { right: { reads: 'recent' }, call: (options) => objects.get('c', '1', options) },
  ],
  'objects.replace': [
    ...scoped((options) => objects.replace('c', '1', {}, options)),
    {
      right: conditions,
      nullable: ['ifVersion'],
      call: (options) => objects.replace('c', '1', {}, options),
    },
  ],
  'objects.patch': [
    ...scoped((options) => objects.patch('c', '1', {}, options)),
    {
      right: conditions,
      nullable: ['ifVersion'],
      call: (options) => objects.patch('c', '1', {}, options),
    },
  ],
  'objects.delete': [
    ...scoped((options) => objects.delete('c', '1', options)),
    {
      right: conditions,
      nullable: ['ifVersion'],
      call: (options) => objects.delete('c', '1', options),
    },
  ],
  'objects.collections': [],
  'objects.collectionPage': [{ right: namedPage, call: (asked) => objects.collectionPage(asked) }],
  'objects.createCollection': [
    {
      right: conditions,
      nullable: ['ifVersion'],
      call: (options) => objects.createCollection('c', options),
    },
  ],
  'objects.deleteCollection': [
    {
      right: conditions,
      nullable: ['ifVersion'],
      call: (options) => objects.deleteCollection('c', options),
    },
  ],

  'flows.define': [
    {
      right: {
        id: 'f',
        active: true,
        steps: ['chunk'],
        concurrency: 1,
        maxAttempts: 1,
        stepTimeoutMs: 1,
        minDelayMs: 0,
        maxDelayMs: 0,
        maxQueued: 1,
        keepDone: 0,
      },
      call: (definition) => flows.define(definition),
      required: ['id'],
      code: 'LK_FLOW_INVALID',
    },
    {
      right: { name: 'chunk', options: {} },
      call: (step) => flows.define({ id: 'f', steps: [step] }),
      code: 'LK_FLOW_INVALID',
      open: ['name'],
    },
    {
      right: { size: 100, overlap: 1 },
      call: (options) => flows.define({ id: 'f', steps: [{ name: 'chunk', options }] }),
      code: 'LK_FLOW_INVALID',
    },
  ],
  'flows.load': [
    {
      right: { id: 'd', user: 'u', collection: 'c', metadata: [], content: 'text' },
      call: (document) => flows.load('default', document),
      required: ['id'],
      code: 'LK_DOCUMENT_INVALID',
    },
    {
      right: { id: 'd', text: 'dGV4dA==', charset: 'utf-8' },
      call: (document) => flows.load('default', document),
      required: ['id', 'text'],
      code: 'LK_DOCUMENT_INVALID',
    },
    {
      right: { id: 'd', bytes: Buffer.from('text'), charset: 'utf-8' },
      call: (document) => flows.load('default', document),
      required: ['id'],
      code: 'LK_DOCUMENT_INVALID',
    },
    {
      right: { name: 'd', bytes: Buffer.from('text'), type: 'text/plain' },
      call: (document) => flows.load('default', document),
      code: 'LK_DOCUMENT_INVALID',
    },
  ],
  'flows.run': [{ right: { signal, flows: ['f'] }, call: (options) => flows.run(options) }],
  'flows.jobs': [{ right: jobQuery, call: (asked) => flows.jobs(asked) }],
  'flows.jobPage': [{ right: jobQuery, call: (asked) => flows.jobPage(asked) }],
  'flows.documents': [{ right: documentQuery, call: (asked) => flows.documents(asked) }],
  'flows.documentPage': [{ right: documentQuery, call: (asked) => flows.documentPage(asked) }],
  'flows.flowPage': [{ right: namedPage, call: (asked) => flows.flowPage(asked) }],
  'flows.watch': [
    {
      right: { job: 'j', flow: 'f', user: 'u', document: 'd', signal },
      call: (asked) => flows.watch(asked),
    },
  ],
  'flows.document': [
    {
      right: { user: 'u', document: 'd' },
      call: (name) => flows.document(name),
      required: ['document'],
      isRef: true,
    },
    {
      right: { reads: 'recent' },
      call: (options) => flows.document({ document: 'd' }, options),
    },
  ],
  'flows.removeDocument': [
    {
      right: { user: 'u', document: 'd' },
      call: (name) => flows.removeDocument(name),
      required: ['document'],
      isRef: true,
    },
  ],
  'flows.get': [],
  'flows.version': [],
  'flows.list': [],
  'flows.start': [
    { right: conditions, nullable: ['ifVersion'], call: (options) => flows.start('f', options) },
  ],
  'flows.stop': [
    { right: conditions, nullable: ['ifVersion'], call: (options) => flows.stop('f', options) },
  ],
  'flows.remove': [
    { right: conditions, nullable: ['ifVersion'], call: (options) => flows.remove('f', options) },
  ],
  'flows.job': [{ right: { reads: 'recent' }, call: (options) => flows.job('j', options) }],
  'flows.deadLetters': [
    { right: { reads: 'recent' }, call: (options) => flows.deadLetters('f', options) },
  ],
  'flows.stats': [],
  'flows.retry': [],
  'flows.cancel': [],
  'flows.retryAll': [{ right: { ...jobFilter, signal }, call: (query) => flows.retryAll(query) }],
  'flows.cancelAll': [{ right: { ...jobFilter, signal }, call: (query) => flows.cancelAll(query) }],

  chunk: [{ right: { size: 100, overlap: 1 }, call: (options) => steps.chunk(options) }],
  embed: [
    {
      right: { embedder: nothing, batch: 1 },
      call: (options) => steps.embed(options),
    },
  ],
  extract: [
    {
      right: { extractor: nothing, embedder: nothing, base: 'urn:a:', concurrency: 1 },
      call: (options) => steps.extract(options),
    },
  ],
  store: [
    { right: { base: 'urn:a:', chunkEmbeddings: true }, call: (options) => steps.store(options) },
  ],
  index: [{ right: { base: 'urn:a:' }, call: (options) => steps.index(options) }],
  hashingEmbedder: [
    {
      right: { dimensions: 8 },
      call: (options) => steps.hashingEmbedder(options),
    },
  ],
  offlineExtractor: [],
  openaiEmbedder: [
    {
      right: { ...model, dimensions: 1, batch: 1 },
      call: (options) => steps.openaiEmbedder(options),
      required: ['model'],
    },
  ],
  openaiExtractor: [
    {
      right: model,
      call: (options) => steps.openaiExtractor(options),
      required: ['model'],
    },
  ],

  parseRdf: [
    {
      right: { format: 'nt', loss: 'drop', base: 'urn:a', collection: 'c', defaultGraph: 'urn:g' },
      call: (options) => rdf.parseRdf(text(''), options),
      required: ['format'],
    },
  ],
  writeRdf: [
    { right: { format: 'nt' }, call: (options) => rdf.writeRdf([], options), required: ['format'] },
  ],
  rdfFormatNamed: [],
  quadOf: [],
  rdfTermOf: [],
  termOf: [],

  importWorkspace: [
    {
      right: {
        user: 'u',
        flow: 'default',
        collection: 'c',
        mode: 'append',
        loss: 'keep',
        index: true,
        limits: {},
        ...progress,
      },
      call: (options) => tgx.importWorkspace(keep, Buffer.alloc(0), options),
      required: ['user'],
    },
    {
      right: {
        maxUnpackedBytes: 1,
        maxRatio: 1,
        maxMembers: 1,
        maxJsonBytes: 1,
        maxDocumentBytes: 0,
      },
      call: (limits) => tgx.importWorkspace(keep, Buffer.alloc(0), { user: 'u', limits }),
    },
  ],

  createSparql: [
    {
      right: { threads: 1, threadMb: 64 },
      call: (options) => sparql.createSparql(options),
    },
  ],
  'engine.isInstalled': [],
  'engine.query': [
    {
      right: { signal, baseIRI: 'urn:a', defaultGraphs: ['urn:a'], namedGraphs: ['urn:a'] },
      call: (options) => engine.query(graph, 'ASK {', options),
    },
  ],
  'engine.execute': [
    {
      right: {
        signal,
        baseIRI: 'urn:a',
        accept: '*/*',
        maxMs: 1,
        lane: 'u',
        defaultGraphs: ['urn:a'],
        namedGraphs: ['urn:a'],
      },
      call: (options) => engine.execute(graph, 'ASK {', options),
    },
  ],

  createHandler: [
    {
      right: {
        knowledge,
        objects,
        flows,
        sparql: engine,
        generate: () => 'x',
        backup: keep.backup,
        authenticate: nothing,
        prefix: '/a',
        maxCoreBytes: 1,
        maxConcurrentImports: 1,
        maxConcurrentExports: 1,
        maxConcurrentQueries: 1,
        maxEventStreams: 1,
        maxUserRequests: 1,
        maxConcurrentAnswers: 1,
        maxAnswerMs: 1,
        maxPromptLength: 500,
        maxJsonBytes: 1,
        maxFileBytes: 1,
        maxBufferedBytes: 1,
        maxGraphResults: 1,
        maxQueryMs: 1,
        defaultUser: 'u',
        idleTimeoutMs: 1,
        exportIdleTimeoutMs: 1,
        heartbeatMs: 1,
        signal,
        compat: {},
        requireConditions: true,
        maxUserBytesPerSecond: 131072,
        cors: { origins: [] },
        onError: nothing,
      },
      call: (options) => http.createHandler(options),
      required: ['authenticate'],
    },
    {
      right: { origins: [], credentials: true, headers: ['X-Key'], maxAgeSeconds: 1 },
      call: (cors) => http.createHandler({ knowledge, authenticate: 'none', cors }),
      required: ['origins'],
    },
    {
      right: { emptyJson: true },
      call: (compat) => http.createHandler({ knowledge, authenticate: 'none', compat }),
    },
  ],

  instrument: [
    {
      right: { tracerProvider: { getTracer: nothing }, without: ['storage.write'] },
      call: (options) => {
        const stop = otel.instrument(options)
        stop()
      },
    },
  ],
  createFetchHandler: [
    {
      right: { knowledge, authenticate: nothing, prefix: '/a', onError: nothing },
      call: (options) => http.createFetchHandler(options),
      required: ['authenticate'],
    },
  ],
  fastifyLorekeep: [
    {
      right: { knowledge, authenticate: nothing, prefix: '/a', onError: nothing },
      call: (options) => fastify.fastifyLorekeep(Fastify() as never, options),
      required: ['authenticate'],
    },
  ],

  knowledgeTools: [
    {
      right: { lorekeep: keep, user: 'u', cores: ['c'], collection: 'c', write: true, flow: 'f' },
      call: (options) => ai.knowledgeTools(options),
      required: ['lorekeep', 'user'],
    },
  ],
  aiEmbedder: [
    {
      right: { ...ofModels, batch: 1, dimensions: 1, providerOptions: {} },
      call: (options) => ai.aiEmbedder('model', options),
    },
  ],
  aiExtractor: [{ right: ofModels, call: (options) => ai.aiExtractor('model', options) }],
  aiGenerate: [{ right: ofModels, call: (options) => ai.aiGenerate('model', options) }],
  LorekeepRetriever: [
    {
      right: {
        ...{ ...within, k: 1, use: {}, languages: ['de'] },
        ...{ callbacks: [], tags: [], metadata: {}, verbose: false },
      },
      call: (options) => new langchain.LorekeepRetriever(options),
      required: ['knowledge', 'user'],
      // LangChain's own.
      open: ['callbacks', 'tags', 'metadata', 'verbose'],
    },
  ],
  LorekeepVectorStore: [
    {
      right: { knowledge, user: 'u', collection: 'c', batch: 1 },
      call: (options) => new langchain.LorekeepVectorStore({} as never, options),
      required: ['knowledge', 'user'],
    },
    {
      right: { ids: ['1'], signal },
      call: (options) => vectorStore.addDocuments([{ pageContent: '', metadata: {} }], options),
    },
    {
      right: { ids: ['1'], signal },
      call: (options) =>
        vectorStore.addVectors([[1]], [{ pageContent: '', metadata: {} }], options),
    },
    { right: { ids: ['1'] }, call: (options) => vectorStore.delete(options) },
  ],
  LorekeepLoader: [
    {
      right: { ...within, as: 'texts' },
      call: (options) => new langchain.LorekeepLoader(options),
      required: ['knowledge', 'user'],
    },
  ],
  LorekeepRecordManager: [
    {
      right: { objects, user: 'u', collection: 'c' },
      call: (options) => new langchain.LorekeepRecordManager(options),
      required: ['objects', 'user'],
    },
  ],
  passagesAsText: [],

  MemoryBackend: [],
  LevelBackend: [
    { right: { profiles: {} }, call: (options) => new level.LevelBackend('/none', options) },
    {
      right: { cores: {}, slices: {}, objects: {}, flows: {} },
      call: (profiles) => new level.LevelBackend('/none', { profiles }),
    },
    {
      right: {
        compression: true,
        writeBufferBytes: 1,
        maxFileBytes: 1,
        maxOpenFiles: 74,
        cacheBytes: 1,
        maxGroupBytes: 1,
        pageEntries: 1,
        pageBytes: 1,
        readInPlace: true,
        separateBytes: 1,
        reclaimBytes: 1,
      },
      call: (cores) => new level.LevelBackend('/none', { profiles: { cores } }),
    },
  ],
  PostgresBackend: [
    {
      right: {
        url: 'postgres://u@none/d',
        schema: 's',
        shared: true,
        retryMs: 0,
        connections: 1,
        statementTimeoutMs: 1,
        snapshotMs: 1,
        ssl: { rejectUnauthorized: false },
      },
      call: (options) => new postgres.PostgresBackend(options),
      required: ['url'],
    },
  ],
  LorekeepError: [],
  hasCode: [],
}
