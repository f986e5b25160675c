// Every public function and method, and what it says to a member that nobody knows, to one of the
// wrong type, to one that is negative and to one that is missing (docs/errors.md): what a program
// passes as options is a TypeError that names the option, what may come from a client is a code with
// `errors: [{ path, message }]`. A method that is not in this table fails the test.

import Fastify from 'fastify'
import t, { type Test } from 'tap'
import * as memory from '../adapters/memory.js'
import * as level from '../adapters/level/index.js'
import * as postgres from '../adapters/postgres/index.js'
import * as steps from '../src/flow/steps/index.js'
import * as http from '../src/http/index.js'
import * as lorekeep from '../src/index.js'
import * as ai from '../src/ai/index.js'
import * as fastify from '../src/fastify/index.js'
import * as langchain from '../src/langchain/index.js'
import * as otel from '../src/otel/index.js'
import * as rdf from '../src/rdf/index.js'
import * as sparql from '../src/sparql/index.js'
import * as tgx from '../src/tgx/index.js'

const keep = await lorekeep.createLorekeep({ backend: new memory.MemoryBackend() })
t.teardown(() => keep.close())
const { knowledge, objects, flows } = keep
const ref = { user: 'u', id: 'core' }
await knowledge.write(ref, [])
await objects.defineSchema({ name: 'note', fields: { id: { type: 'string' } } })
const graph = knowledge.graph(ref.user === 'u' ? { user: 'u', cores: ['core'] } : { user: 'u' })
const engine = sparql.createSparql()

const { signal } = new AbortController()
const nothing = () => undefined
const ofModels = {
  ...{ timeoutMs: 1, maxAttempts: 1 },
  clock: { now: () => 0, after: nothing },
  chance: { fraction: () => 0 },
}
const within = { knowledge, user: 'u', cores: ['core'], collection: 'c' }
const vectorStore = new langchain.LorekeepVectorStore({} as never, { knowledge, user: 'u' })
const term = { v: 'urn:a', e: true }
const pattern = { s: '?s', p: '?p', o: '?o' }
const query = {
  schema_name: 'note',
  filters: {},
  limit: 1,
  offset: 0,
  sort: { id: 'asc' },
  fields: ['id'],
  reads: 'recent',
}
const time = '2026-01-31T12:00:00Z'
const coreQuery = {
  user: 'u',
  prefix: 'p',
  createdFrom: time,
  createdTo: time,
  updatedFrom: time,
  updatedTo: time,
}
const namedPage = { prefix: 'p', after: 'a', limit: 1 }
const jobFilter = {
  flow: 'default',
  state: 'done',
  user: 'u',
  document: 'd',
  collection: 'c',
  error: 'e',
  createdFrom: time,
  createdTo: time,
  updatedFrom: time,
  updatedTo: time,
  after: 'a',
  limit: 1,
}
const jobQuery = { ...jobFilter, order: 'desc', reads: 'recent' }
const documentQuery = {
  user: 'u',
  prefix: 'p',
  flow: 'default',
  collection: 'c',
  completedFrom: time,
  completedTo: time,
  after: 'd',
  limit: 1,
  reads: 'recent',
}
const scope = { collections: ['c'], user: 'u', shared: ['s'] }
const conditions = { ifVersion: 'v', ifNotVersion: 'v', ifUnmodifiedSince: new Date(0) }
const batch = {
  metadata: { id: 'i', user: 'u', collection: 'c' },
  schema_name: 'note',
  values: [{ id: '1' }],
}
const progress = { signal, onProgress: nothing }
const model = {
  model: 'm',
  url: 'http://localhost/v1',
  key: 'k',
  keyVariable: 'A_KEY',
  timeoutMs: 1,
  maxAttempts: 1,
  fetch,
  clock: { now: () => 0, after: nothing },
  chance: { fraction: () => 0 },
}

/** Longer than what a message shows of a value. */
const secret = 'a secret of 21 chars.'

interface Door {
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
const doors: Readonly<Record<string, readonly Door[]>> = {
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

const never = [7, null, undefined, true, Symbol('x')]
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
const arguments_: Readonly<Record<string, readonly Argument[]>> = {
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
const without = [
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

t.test('the arguments of every public function and method are tried', async (t) => {
  t.strictSame([...Object.keys(arguments_), ...without].sort(), Object.keys(doors).sort())
})

/** What the engine says of a value that nobody looked at. */
const unlooked = /^Cannot |is not (?:a function|iterable|a constructor)|undefined \(reading|^Spread/

for (const [name, list] of Object.entries(arguments_)) {
  t.test(`${name}: arguments`, async (t) => {
    for (const { call, code, wrong = [], right = [] } of list) {
      for (const value of [...never, ...wrong].filter((value) => !right.includes(value))) {
        const what = `${code ?? 'TypeError'} for ${String(JSON.stringify(value))}`
        try {
          await settled(call(value as never))
          t.fail(what)
        } catch (error) {
          const { message, code: found } = error as lorekeep.LorekeepError
          const isRight =
            code === undefined
              ? error instanceof TypeError && !unlooked.test(message)
              : lorekeep.hasCode(error, code as 'LK_QUERY') && error.details.errors.length > 0
          t.ok(isRight, `${what}: ${found} ${message}`)
        }
      }
    }
  })
}

t.test('every public function and method is in the table', async (t) => {
  const found = new Set<string>()
  for (const module of [
    lorekeep,
    memory,
    level,
    postgres,
    steps,
    http,
    ai,
    fastify,
    langchain,
    otel,
    rdf,
    sparql,
    tgx,
  ]) {
    for (const [name, value] of Object.entries(module)) {
      if (typeof value === 'function') found.add(name)
    }
  }
  const owners = { knowledge, graph, objects, flows, keep, engine }
  const ofHosts = [
    'constructor',
    'close',
    'sweep',
    'holdDeletions',
    'resume',
    'deleteDocumentObjects',
  ]
  for (const [owner, value] of Object.entries(owners)) {
    const names = [value, Object.getPrototypeOf(value) as object].flatMap((object) =>
      object === Object.prototype ? [] : Object.getOwnPropertyNames(object),
    )
    for (const name of names) {
      const member = (value as unknown as Readonly<Record<string, unknown>>)[name]
      if (typeof member === 'function' && !ofHosts.includes(name)) found.add(`${owner}.${name}`)
    }
  }
  t.strictSame([...found].sort(), Object.keys(doors).sort())
})

for (const [name, table] of Object.entries(doors)) {
  if (table.length === 0) continue
  t.test(name, async (t) => {
    for (const door of table) await knock(t, door)
  })
}

async function knock(t: Test, door: Door): Promise<void> {
  const { right, required = [], open = [], nullable = [], isRef = false, isPart = false } = door
  if (!isRef) {
    await refuses(t, door, { ...right, nobody: 1 }, 'nobody')
    // Shorter names are near to everything.
    const long = Object.keys(right).find((name) => name.length > 2)
    const misspelt = `${long}_`
    if (long) await refuses(t, door, { ...right, [misspelt]: 1 }, misspelt, /did you mean/)
  }
  for (const [member, value] of Object.entries(right)) {
    if (open.includes(member)) continue
    const others = [typeof value === 'string' ? 7 : secret, null]
    const isNullable = door.code === 'LK_DOCUMENT_INVALID' || nullable.includes(member)
    const negative = typeof value === 'number' ? [-1, 1.5, NaN] : []
    for (const other of [...others, ...negative, { wrong: 1 }]) {
      if (isNullable && other === null) continue
      if (typeof value === 'object' && !Array.isArray(value) && typeof other === 'object') continue
      await refuses(t, door, { ...right, [member]: other }, member)
    }
  }
  for (const member of required) {
    const { [member]: _, ...rest } = right
    await refuses(t, door, rest, member)
  }
  for (const value of isPart ? [] : [null, 7, secret, []]) await refuses(t, door, value, '')
}

/** Names the member: a TypeError in its message, a code in the path of an entry. */
async function refuses(
  t: Test,
  { call, code }: Door,
  given: unknown,
  member: string,
  message = /./,
): Promise<void> {
  const what = `${code ?? 'TypeError'} for ${member || JSON.stringify(given)}`
  try {
    await settled(call(given as never))
  } catch (error) {
    const { message: told, details } = error as lorekeep.LorekeepError
    t.notOk(JSON.stringify([told, details]).includes(secret), `it is not shown at length: ${told}`)
    const isWhole = member === ''
    if (error instanceof TypeError) {
      const named = error.message.includes(member) && message.test(error.message)
      t.ok((code === undefined || isWhole) && named, `${what}: ${error.message}`)
      return
    }
    if (code === undefined || !(error instanceof lorekeep.LorekeepError)) throw error
    const errors = error.details['errors'] as readonly { path: string; message: string }[]
    const entry = errors?.find(
      ({ path }) =>
        path === member ||
        path.endsWith(`.${member}`) ||
        path.includes(`.${member}.`) ||
        path.startsWith(`${member}.`) ||
        path.startsWith(`${member}[`),
    )
    const isTold = isWhole ? errors.length > 0 : entry !== undefined && message.test(entry.message)
    t.ok(error.code === code && isTold, `${what}: ${error.message}`)
    return
  }
  t.fail(what)
}

/** What a call gives in the end, or its first value where it is to be iterated. */
async function settled(given: unknown): Promise<void> {
  const found = await given
  const iterator = (found as Partial<AsyncIterable<unknown>> | undefined)?.[Symbol.asyncIterator]
  if (iterator === undefined) return
  const values = iterator.call(found)
  await values.next()
  await values.return?.()
}

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await settled(call())
    return undefined
  } catch (error) {
    return error
  }
}

t.test('a mistake is told of the call that was made, with what to do', async (t) => {
  const clock = { now: () => 0 }
  const calls: readonly (readonly [told: string, call: () => unknown])[] = [
    ['messages(): limit is unknown', () => knowledge.messages(ref, { limit: 1 } as never)],
    ['write(): mod is unknown', () => knowledge.write(ref, [], { mod: 1 } as never)],
    ['the id of a flow must be', () => flows.deadLetters(5 as never)],
    ['document(): document is missing', () => flows.document({} as never)],
    ['removeDocument(): document is missing', () => flows.removeDocument({} as never)],
    ['the target of a backup must be', () => keep.backup(5 as never)],
    ['now(), elapsed() and after(), not an object', () => createWith({ clock })],
    ['fraction() and token(), not', () => createWith({ chance: { fraction: () => 0 } })],
    ['offlineExtractor() takes no', () => steps.offlineExtractor(...([5] as unknown as []))],
    ['as knowledge.graph() gives it', () => engine.query({} as never, 'ASK {}')],
    ['as knowledge.graph() gives it', () => engine.execute({} as never, 'ASK {}')],
    ['an item of the source of writeRdf() must be', () => rdf.writeRdf([5] as never, nt)],
    ['an item of the source of writeRdf() must be', () => rdf.writeRdf([['x', {}]] as never, nt)],
    ["not 'LK_QUERYS'", () => new lorekeep.LorekeepError('LK_QUERYS' as never)],
  ]
  for (const [told, call] of calls) {
    const error = await errorOf(call)
    t.type(error, TypeError, told)
    t.match((error as Error).message, told)
  }
  t.match(await errorOf(() => knowledge.list(undefined as never)), { code: 'LK_CORE_REF' })
  const where = { s: '?q' } as const
  const elsewhere = { code: 'LK_GRAPH_QUERY', details: { errors: [{ path: 'where' }] } }
  t.match(await errorOf(() => graph.nearest([1], { where })), elsewhere)
  for (const text of ['', '# nothing']) {
    t.match(await errorOf(() => engine.query(graph, text)), { message: 'nothing in it that asks' })
  }
})

t.test('a core whose id was forgotten is not taken for all that the user has', async (t) => {
  const forgotten = { user: 'u', id: undefined as unknown as string }
  const elsewhere = { code: 'LK_CORE_REF', details: { errors: [{ path: 'id' }] } }
  t.match(await errorOf(() => knowledge.index(forgotten)), elsewhere)
  t.match(await errorOf(() => knowledge.indexState(forgotten)), elsewhere)
  t.equal((await knowledge.index({ user: 'u' })).state, 'complete')
  t.equal((await knowledge.indexState({ user: 'u' })).state, 'complete')
})

const nt = { format: 'nt' }
const createWith = (options: object) => {
  return lorekeep.createLorekeep({ backend: new memory.MemoryBackend(), ...options } as never)
}

t.test('what a method does not take is refused, not ignored', async (t) => {
  const beyond = [{ scope: { user: 'alice' } }] as unknown as []
  const calls: Readonly<Record<string, () => unknown>> = {
    'defineSchema()': () => objects.defineSchema({ name: 'x', fields: {} }, {}, ...beyond),
    'schemaVersion()': () => objects.schemaVersion('s', ...beyond),
    'schema()': () => objects.schema('s', ...beyond),
    'schemas()': () => objects.schemas(...beyond),
    'dropSchema()': () => objects.dropSchema('s', {}, ...beyond),
    'collections()': () => objects.collections(...beyond),
    'createCollection()': () => objects.createCollection('c', {}, ...beyond),
    'deleteCollection()': () => objects.deleteCollection('c', {}, ...beyond),
    'explain()': () => objects.explain({ schema_name: 's' }, ...beyond),
    'query()': () => objects.query({ schema_name: 's' }, {}, ...beyond),
    'find()': () => objects.find({ schema_name: 's' }, {}, ...beyond),
    'import()': () => objects.import(batch as never, {}, ...beyond),
    'objects.get()': () => objects.get('c', '1', {}, ...beyond),
    'replace()': () => objects.replace('c', '1', {}, {}, ...beyond),
    'patch()': () => objects.patch('c', '1', {}, {}, ...beyond),
    'objects.delete()': () => objects.delete('c', '1', {}, ...beyond),
    'load()': () => flows.load('f', { id: 'd', content: 'x' }, {}, ...beyond),
    'run()': () => flows.run({}, ...beyond),
    'job()': () => flows.job('j', {}, ...beyond),
    'jobs()': () => flows.jobs({ flow: 'f' }, ...beyond),
    'deadLetters()': () => flows.deadLetters('f', {}, ...beyond),
    'watch()': () => flows.watch({ flow: 'f' }, ...beyond),
    'retry()': () => flows.retry('j', {}, ...beyond),
    'cancel()': () => flows.cancel('j', {}, ...beyond),
    'retryAll()': () => flows.retryAll({}, ...beyond),
    'cancelAll()': () => flows.cancelAll({}, ...beyond),
    'document()': () => flows.document({ document: 'd' }, {}, ...beyond),
    'documents()': () => flows.documents({}, ...beyond),
    'removeDocument()': () => flows.removeDocument({ document: 'd' }, {}, ...beyond),
    'stat()': () => knowledge.stat(ref, ...beyond),
    'delete()': () => knowledge.delete(ref, {}, ...beyond),
    'list()': () => knowledge.list({ user: 'u' }, ...beyond),
    'corePage()': () => knowledge.corePage({ user: 'u' }, ...beyond),
    'schemaPage()': () => objects.schemaPage({}, ...beyond),
    'collectionPage()': () => objects.collectionPage({}, ...beyond),
    'jobPage()': () => flows.jobPage({}, ...beyond),
    'documentPage()': () => flows.documentPage({}, ...beyond),
    'flowPage()': () => flows.flowPage({}, ...beyond),
    'graph()': () => knowledge.graph({ user: 'u' }, ...beyond),
    'indexState()': () => knowledge.indexState(ref, ...beyond),
    'all.indexState()': () => knowledge.indexState({ user: 'u' }, ...beyond),
    'define()': () => flows.define({ id: 'x' }, {}, ...beyond),
    'get()': () => flows.get('f', ...beyond),
    'version()': () => flows.version('f', ...beyond),
    'flows.list()': () => flows.list(...beyond),
    'start()': () => flows.start('f', {}, ...beyond),
    'stop()': () => flows.stop('f', {}, ...beyond),
    'remove()': () => flows.remove('f', {}, ...beyond),
    'stats()': () => flows.stats('f', ...beyond),
  }
  for (const [name, call] of Object.entries(calls)) {
    const error = await errorOf(call)
    t.type(error, TypeError, name)
    t.match(
      (error as Error).message,
      `${name.replace(/^(flows|objects|all)\./, '')} takes no argument more`,
    )
  }
})

t.test('a scope that is undefined, or no plain object, is not one of everybody', async (t) => {
  const parts = [{ user: undefined }, { collections: undefined }, { shared: undefined }]
  class Misspelt {
    get users() {
      return 'alice'
    }
  }
  const alice = { user: 'alice' }
  const others = [
    Promise.resolve(alice),
    new Map(Object.entries(alice)),
    new Misspelt(),
    Object.create(alice),
    { [Symbol('user')]: 'alice' },
    Object.defineProperty({}, 'users', { value: 'alice' }),
    [],
    new Date(),
  ]
  const scopes = [undefined, null, ...parts, ...others] as never[]
  for (const scope of scopes) {
    const calls: (() => unknown)[] = [
      () => objects.query({ schema_name: 's' }, scope),
      () => objects.find({ schema_name: 's' }, scope),
      () => objects.get('c', '1', { scope }),
      () => objects.patch('c', '1', {}, { scope }),
      () => objects.replace('c', '1', {}, { scope }),
      () => objects.delete('c', '1', { scope }),
      () => objects.import(batch as never, { scope }),
      () => flows.load('f', { id: 'd', content: 'x' }, { scope }),
      () => flows.job('j', { scope }),
      () => flows.jobs({ flow: 'f', scope }),
      () => flows.deadLetters('f', { scope }),
      () => flows.watch({ flow: 'f', scope }),
      () => flows.retry('j', { scope }),
      () => flows.cancel('j', { scope }),
      () => flows.retryAll({ scope }),
      () => flows.cancelAll({ scope }),
      () => flows.document({ document: 'd' }, { scope }),
      () => flows.documents({ scope }),
      () => flows.jobPage({ scope }),
      () => flows.documentPage({ scope }),
      () => objects.collectionPage({ scope }),
      () => flows.removeDocument({ document: 'd' }, { scope }),
    ]
    for (const call of calls) t.type(await errorOf(call), TypeError, String(call))
  }
})

t.test('a scope is what it was when the call was made', async (t) => {
  const collections = ['c']
  const scope = { user: 'u', collections }
  await objects.import({ ...batch, values: [{ id: 'mine' }] } as never)
  await objects.import({ ...batch, values: [{ id: 'second' }] } as never)
  const found = objects.find({ schema_name: 'note' }, scope)[Symbol.asyncIterator]()
  const jobs = flows.jobs({ flow: 'default', scope })[Symbol.asyncIterator]()
  const watched = flows.watch({ scope })
  const calls = [
    objects.query({ schema_name: 'note' }, scope).then(({ total }) => total > 0),
    objects.get('c', 'mine', { scope }).then((object) => object !== undefined),
    objects.delete('c', 'mine', { scope }),
  ]
  scope.user = 'nobody'
  collections.pop()
  t.strictSame(await Promise.all(calls), [true, true, true])
  await flows.load('default', { id: 'seen', user: 'u', collection: 'c', content: 'x' })
  t.equal((await found.next()).done, false)
  t.match(await jobs.next(), { value: { document: 'seen' } })
  const { value } = await watched[Symbol.asyncIterator]().next()
  t.match(value, { user: 'u', document: 'seen' })
})
