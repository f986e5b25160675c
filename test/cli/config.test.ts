import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  handlerOptionsOf,
  limitRules,
  noConfig,
  parseConfig,
  readConfig,
  storeOptionsOf,
} from '../../src/cli/config/config.js'
import { hasCode } from '../../src/errors.js'
import { fail, run } from './command.js'

/** The paths that are complained about. */
function problems(config: unknown): string[] {
  try {
    parseConfig(config, 'lorekeep.json')
    return []
  } catch (error) {
    if (!hasCode(error, 'LK_CONFIG')) throw error
    return (error.details.errors ?? []).map(({ path }) => path)
  }
}

t.test('the example of the documentation is read', async (t) => {
  const page = readFileSync('docs/cli.md', 'utf8')
  const example = /```json\n([^]*?)```/.exec(page)?.[1] ?? ''
  const config = parseConfig(JSON.parse(example), '/etc/lorekeep/lorekeep.json')
  t.match(config, {
    host: '127.0.0.1',
    port: 8088,
    data: '/etc/lorekeep/lorekeep-data',
    handlerLimits: {
      maxJsonBytes: 16777216,
      maxBufferedBytes: 67108864,
      maxGraphResults: 10000,
      maxConcurrentImports: 64,
      maxConcurrentExports: 64,
      maxConcurrentQueries: 64,
      maxConcurrentAnswers: 64,
      maxAnswerMs: 300000,
      maxPromptLength: 12000,
      maxEventStreams: 1000,
      maxUserRequests: 1000,
    },
    maxUserBytesPerSecond: 100000000,
    sparql: { threads: 2, threadMb: 512 },
    indexing: { indexThreads: 1, indexBytesPerSecond: 50000000 },
    collections: 'open',
    schemas: [{ name: 'product', fields: { id: { type: 'string', required: true } } }],
    flows: [{ id: 'default', concurrency: 8 }],
    embedder: Function,
    generate: { model: 'qwen3', url: 'http://localhost:11434/v1' },
    defaultUser: 'trustgraph',
    base: 'http://trustgraph.ai/',
    cors: { origins: ['https://app.example.com'], credentials: false, maxAgeSeconds: 600 },
    requireConditions: false,
    compat: { emptyJson: false },
  })
  t.same(
    [...config.tokens],
    [
      ['secret-1', { user: 'alice', collections: ['shop'] }],
      ['secret-2', { user: '*' }],
    ],
  )
  t.same(config.limits, {
    maxCoreBytes: 4294967296,
    maxMessageBytes: 67108864,
    maxStringBytes: 1048576,
    maxBatchObjects: 10000,
    maxObjectBytes: 1048576,
    maxQueryLimit: 1000,
    maxQueryObjects: 10000000,
    maxQueryMs: 30000,
    maxTextBytes: 10485760,
    maxMetadataTriples: 1000,
    maxFileBytes: 33554432,
    maxFilePages: 5000,
    maxFileMs: 60000,
    maxFileMemoryMb: 256,
  })
})

t.test('an empty configuration is one, and an absolute directory stays', async (t) => {
  t.same(problems({}), [])
  t.equal(parseConfig({ data: '/var/x' }, 'a/b.json').data, '/var/x')
})

t.test('each value has its rule', async (t) => {
  const wrong: readonly (readonly [unknown, string])[] = [
    [[], ''],
    [null, ''],
    [{ hots: 'a' }, 'hots'],
    [{ host: '' }, 'host'],
    [{ port: '80' }, 'port'],
    [{ port: 65536 }, 'port'],
    [{ port: -1 }, 'port'],
    [{ port: 1.5 }, 'port'],
    [{ data: 5 }, 'data'],
    [{ tokens: ['a'] }, 'tokens'],
    [{ tokens: { '': { user: 'a' } } }, 'tokens[0]'],
    [{ tokens: { 'a b': { user: 'a' } } }, 'tokens[0]'],
    [{ tokens: { ä: { user: 'a' } } }, 'tokens[0]'],
    [{ tokens: { a: 'alice' } }, 'tokens[0]'],
    [{ tokens: { a: {} } }, 'tokens[0].user'],
    [{ tokens: { a: { user: '' } } }, 'tokens[0].user'],
    [{ tokens: { a: { user: 'a', role: 'b' } } }, 'tokens[0].role'],
    [{ tokens: { a: { user: 'a', collections: 'shop' } } }, 'tokens[0].collections'],
    [{ tokens: { a: { user: 'a', access: 'write' } } }, 'tokens[0].access'],
    [{ tokens: { a: { user: 'a', shared: 'shop' } } }, 'tokens[0].shared'],
    [{ tokens: { a: { user: 'a', collections: [''] } } }, 'tokens[0].collections'],
    [{ tokens: { a: { user: 'a', collections: ['b'], shared: ['b', 'c'] } } }, 'tokens[0].shared'],
    [{ tokens: { a: { user: 'a', collections: [], shared: ['c'] } } }, 'tokens[0].shared'],
    [{ limits: 5 }, 'limits'],
    [{ limits: { maxCoreByte: 5 } }, 'limits.maxCoreByte'],
    [{ limits: { maxCoreBytes: 0 } }, 'limits.maxCoreBytes'],
    [{ limits: { maxCoreBytes: 1e300 } }, 'limits.maxCoreBytes'],
    [{ limits: { maxMessageBytes: '64M' } }, 'limits.maxMessageBytes'],
    [{ limits: { maxDepth: 5 } }, 'limits.maxDepth'],
    [{ limits: { maxDepth: 1025 } }, 'limits.maxDepth'],
    [{ limits: { maxJsonBytes: null } }, 'limits.maxJsonBytes'],
    [{ limits: { maxJsonBytes: 2 ** 40 } }, 'limits.maxJsonBytes'],
    [{ limits: { maxBufferedBytes: 0 } }, 'limits.maxBufferedBytes'],
    [{ limits: { maxBatchObjects: 0 } }, 'limits.maxBatchObjects'],
    [{ limits: { maxExtraValues: 0 } }, 'limits.maxExtraValues'],
    [{ limits: { maxQueryMs: 1.5 } }, 'limits.maxQueryMs'],
    [{ limits: { indexThreads: -1 } }, 'limits.indexThreads'],
    [{ limits: { indexThreads: '1' } }, 'limits.indexThreads'],
    [{ limits: { indexBytesPerSecond: 0 } }, 'limits.indexBytesPerSecond'],
    [{ limits: { maxUserBytesPerSecond: 131_071 } }, 'limits.maxUserBytesPerSecond'],
    [{ indexThreads: 1 }, 'indexThreads'],
    [{ schemas: {} }, 'schemas'],
    [{ schemas: ['a'] }, 'schemas[0]'],
    [{ schemas: [{ name: 'a' }, { fields: {} }] }, 'schemas[1].name'],
    [{ flows: 'default' }, 'flows'],
    [{ flows: ['default'] }, 'flows[0]'],
    [{ flows: [{ id: '' }] }, 'flows[0].id'],
    [{ flows: [{ id: 'a' }, { id: 'a' }] }, 'flows[1].id'],
    [{ embedder: 'hashing' }, 'embedder'],
    [{ embedder: { type: 'bert' } }, 'embedder.type'],
    [{ embedder: { dimensions: 0 } }, 'embedder.dimensions'],
    [{ embedder: { dimension: 256 } }, 'embedder.dimension'],
    [{ embedder: { type: 'openai' } }, 'embedder.model'],
    [{ generate: 'qwen3' }, 'generate'],
    [{ generate: {} }, 'generate.model'],
    [{ generate: { model: 'm', url: 'localhost' } }, 'generate.url'],
    [{ generate: { model: 'm', key: 'k' } }, 'generate.key'],
    [{ generate: { model: 'm', keyVariable: 'HOME' } }, 'generate.keyVariable'],
    [{ limits: { maxGraphResults: 0 } }, 'limits.maxGraphResults'],
    [{ collections: 'closed' }, 'collections'],
    [{ defaultUser: 1 }, 'defaultUser'],
    [{ base: 'acme' }, 'base'],
    [{ cors: 'https://app.example.com' }, 'cors'],
    [{ cors: {} }, 'cors.origins'],
    [{ cors: { origins: ['app.example.com'] } }, 'cors.origins'],
    [{ cors: { origins: '*', credentials: true } }, 'cors.credentials'],
    [{ cors: { origins: '*', headers: 'x' } }, 'cors.headers'],
    [{ cors: { origins: '*', maxAgeSeconds: -1 } }, 'cors.maxAgeSeconds'],
    [{ cors: { origins: '*', origin: 'x' } }, 'cors.origin'],
    [{ requireConditions: 'yes' }, 'requireConditions'],
    [{ compat: true }, 'compat'],
    [{ compat: { emptyJson: 'yes' } }, 'compat.emptyJson'],
    [{ compat: { json: true } }, 'compat.json'],
    [{ limits: { maxTextBytes: -1 } }, 'limits.maxTextBytes'],
    [{ limits: { maxMetadataTriples: '1' } }, 'limits.maxMetadataTriples'],
  ]
  for (const [config, key] of wrong) t.same(problems(config), [key], JSON.stringify(config))
})

t.test('values at the limits are accepted', async (t) => {
  for (const port of [0, 65535]) t.same(problems({ port }), [])
  for (const maxDepth of [6, 1024]) t.same(problems({ limits: { maxDepth } }), [])
  for (const name of ['maxCoreBytes', 'maxBufferedBytes', 'maxExtraValues']) {
    t.same(problems({ limits: { [name]: 1 } }), [])
  }
  const { indexing } = parseConfig({ limits: { indexThreads: 0, indexBytesPerSecond: 1 } }, 'a')
  t.same(indexing, { indexThreads: 0, indexBytesPerSecond: 1 })
  t.match(storeOptionsOf({ ...noConfig, indexing }), { indexThreads: 0, indexBytesPerSecond: 1 })
  t.same(problems({ schemas: [], flows: [] }), [])
})

t.test(
  'each limit, and each other value, is an option of a store, a handler or SPARQL',
  async (t) => {
    // What is known by other names there, or goes into more than one.
    const elsewhere: Readonly<Record<string, string>> = {
      sparqlThreads: 'threads',
      sparqlThreadMb: 'threadMb',
    }
    for (const [name, rule] of Object.entries(limitRules)) {
      const value = [131_072, 1024, 64].find((value) => rule.holds(value))
      const config = parseConfig({ limits: { [name]: value } }, 'a.json')
      const store = storeOptionsOf(config)
      const given = { ...store.limits, ...store, ...handlerOptionsOf(config), ...config.sparql }
      t.equal((given as Record<string, unknown>)[elsewhere[name] ?? name], value, name)
    }
    const others = {
      collections: 'declared',
      defaultUser: 'mary',
      base: 'urn:ours:',
      requireConditions: true,
      cors: { origins: '*' },
      compat: { emptyJson: true },
      embedder: { dimensions: 8 },
      generate: { model: 'm' },
    }
    for (const [name, value] of Object.entries(others)) {
      const config = parseConfig({ [name]: value }, 'a.json')
      t.ok(name in { ...storeOptionsOf(config), ...handlerOptionsOf(config) }, name)
    }
    const { defaultUser } = handlerOptionsOf(parseConfig({ defaultUser: 'mary' }, 'a.json'))
    t.equal(defaultUser, 'mary', 'of documents that come by HTTP, too')
  },
)

t.test('a token without collections is told from one with none', async (t) => {
  const config = {
    tokens: { a: { user: 'a', collections: [], shared: [], access: 'read' }, b: { user: 'b' } },
  }
  t.strictSame(
    [...parseConfig(config, 'a.json').tokens.values()],
    [{ user: 'a', collections: [], shared: [], access: 'read' }, { user: 'b' }],
  )
})

t.test('an embedder is made of the options of the step embed', async (t) => {
  const { embedder } = parseConfig({ embedder: { dimensions: 32 } }, 'a.json')
  const { signal } = new AbortController()
  const vectors = await embedder?.(['a whale', 'a boat'], { signal })
  t.same(
    vectors?.map(({ length }) => length),
    [32, 32],
  )
  t.equal(parseConfig({}, 'a.json').embedder, undefined)
})

t.test('everything that is wrong is told at once, on a line each', async (t) => {
  const config = { port: 'x', tokns: {}, limits: { maxDepth: 1 } }
  const dir = t.testdir({ 'bad.json': JSON.stringify(config), 'cut.json': '{ "port": ' })
  const { code, stderr } = await run(t, ['serve', '--config', join(dir, 'bad.json')])
  t.equal(code, 1)
  const [head, ...lines] = stderr.trimEnd().split('\n')
  t.match(head, /^lorekeep: [^\n]*bad\.json:$/)
  for (const [index, part] of ['port', 'limits.maxDepth', 'tokns'].entries()) {
    t.match(lines[index], `  ${part} `)
  }
  t.match(await fail(t, 1, ['serve', '--config', join(dir, 'cut.json')]), 'not JSON')
  t.match(await fail(t, 1, ['serve', '--config', join(dir, 'none.json')]), 'none.json')
})

t.test('a key that is there twice is refused, with its place', async (t) => {
  const texts = {
    'top.json': ['{ "port": 1,\n "port": 2 }', ':2:2: the key "port" is there twice', 'port'],
    'token.json': [
      '{"tokens":{"hush":{"user":"a"},\n"hush":{"user":"*"}}}',
      ':2:1: a token',
      'tokens',
    ],
    'inside.json': ['{"tokens":{"hush":{"user":"a","user":"*"}}}', 'the key "user"', 'tokens'],
  } as const
  const dir = t.testdir(Object.fromEntries(Object.entries(texts).map(([f, [text]]) => [f, text])))
  for (const [file, [, message, path]] of Object.entries(texts)) {
    const error = await readConfig(join(dir, file)).catch((error: unknown) => error)
    t.match(error, { code: 'LK_CONFIG', message, details: { errors: [{ path }] } }, file)
    t.notMatch(JSON.stringify(error), 'hush')
    t.notMatch((error as Error).message, 'hush')
  }
})

t.test('no token is repeated in a message, also where the file is no JSON', async (t) => {
  const cut = t.testdir({ 'b.json': '{ "tokens": { "hush": x } }' })
  t.notMatch(await fail(t, 1, ['serve', '--config', join(cut, 'b.json')]), 'hush')
  const dir = t.testdir({ 'a.json': '{ "tokens": { "hush": 5, "hush 2": {} } }' })
  t.notMatch(await fail(t, 1, ['serve', '--config', join(dir, 'a.json')]), 'hush')
})
