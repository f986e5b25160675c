// Imports point one way (docs/decisions.md). This reads the import lines.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import t from 'tap'

const root = process.cwd()

const leaves = [
  'src/version',
  'src/types',
  'src/terms',
  'src/batches',
  'src/message-weight',
  'src/defaults',
  'src/errors',
  'src/conditions',
  'src/door',
  'src/scope',
  'src/reads',
  'src/storage',
  'src/keys',
  'src/health',
  'src/in-flight',
  'src/closing',
  'src/clock',
  'src/tracing',
  'src/thread',
  'src/web-assembly',
  'src/event-stream',
  'src/byte-source',
  'src/temporary-file',
  'src/page-cache',
  'src/paging',
  'src/time-range',
  'src/kept-shapes',
  'src/turns',
  'src/turn-taking',
  'src/presence',
  'src/json-text',
  'src/record',
  'src/damage',
  'src/found-records',
  'src/blocks',
  'src/block-writer',
  'src/vocabulary',
  'src/error-reports',
  'src/sorted-entries',
  'src/radix-sort',
  'src/one-by-one',
  'src/verify',
]

/** What the command is made of. */
const libraries = [
  ...leaves,
  'src/codec',
  'src/graph/types',
  'src/graph/answer/answer',
  'src/rdf',
  'src/tgx',
  'src/sparql',
  'src/knowledge',
  'src/objects',
  'src/flow',
  'src/lorekeep',
  'src/lost-partitions',
  'src/verifiers',
  'src/verify-stores',
  'src/salvage-stores',
  'src/backup',
  'src/whole-file',
  'src/http',
  'src/client',
  'src/mcp',
  'adapters',
]

/** Each room and what it may import beside itself. A name stands for a folder or a file. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'src/version': [],
  'src/types': [],
  'src/terms': ['src/types', 'src/door'],
  'src/batches': [],
  'src/message-weight': ['src/types'],
  'src/defaults': [],
  'src/errors': [],
  'src/door': ['src/errors', 'src/kept-shapes', 'src/types'],
  'src/scope': ['src/door'],
  'src/conditions': ['src/door', 'src/errors'],
  'src/reads': ['src/door'],
  'src/storage': [],
  'src/turn-taking': ['src/errors', 'src/storage'],
  'src/presence': ['src/clock', 'src/errors', 'src/keys', 'src/record', 'src/storage'],
  'src/keys': [],
  'src/in-flight': ['src/errors'],
  'src/closing': [],
  'src/clock': [],
  'src/tracing': [],
  'src/health': ['src/errors', 'src/keys', 'src/storage'],
  'src/thread': [],
  'src/web-assembly': [],
  'src/event-stream': [],
  'src/error-reports': ['src/errors'],
  'src/byte-source': ['src/door'],
  'src/temporary-file': [],
  'src/page-cache': [],
  'src/paging': ['src/door', 'src/errors', 'src/json-text', 'src/types'],
  'src/time-range': ['src/door'],
  'src/kept-shapes': [],
  'src/turns': [],
  'src/json-text': [],
  'src/record': ['src/errors', 'src/json-text'],
  'src/damage': ['src/errors', 'src/record', 'src/storage'],
  'src/found-records': ['src/damage', 'src/errors', 'src/record', 'src/storage'],
  'src/blocks': [],
  'src/block-writer': ['src/blocks', 'src/storage'],
  'src/vocabulary': [],
  'src/sorted-entries': ['src/storage'],
  'src/radix-sort': [],
  'src/one-by-one': [],
  'src/snapshot': [
    'src/errors',
    'src/storage',
    'src/sorted-entries',
    'src/temporary-file',
    'src/tracing',
  ],
  'src/accept': [],
  'src/text': [],
  'src/verify': ['src/errors', 'src/storage', 'src/keys', 'src/record'],
  'src/openai': leaves,
  'src/codec/dialects/names': [],
  'src/codec': [
    'src/types',
    'src/terms',
    'src/errors',
    'src/door',
    'src/turns',
    'src/kept-shapes',
    'src/web-assembly',
  ],
  'src/rdf/terms': ['src/types', 'src/terms', 'src/door', 'src/rdf/factory'],
  'src/rdf/factory': ['src/terms'],
  'src/rdf': [...leaves, 'src/codec'],
  'src/tgx': [...leaves, 'src/rdf', 'src/knowledge/types', 'src/flow/types', 'src/flow/charset'],
  'src/graph/types': ['src/types', 'src/openai', 'src/reads'],
  'src/graph/value': ['src/types', 'src/terms', 'src/errors', 'src/door', 'src/graph/types'],
  'src/graph/question': [
    'src/types',
    'src/terms',
    'src/errors',
    'src/door',
    'src/graph/types',
    'src/graph/value',
  ],
  'src/graph/languages': ['src/terms', 'src/door', 'src/text'],
  'src/graph/miss': [],
  'src/graph/row-set': [],
  'src/graph/view': ['src/types', 'src/graph/value'],
  'src/graph/taking': ['src/graph/view'],
  'src/graph/within': ['src/graph/miss', 'src/graph/value', 'src/graph/view'],
  'src/graph/vectors': [...leaves, 'src/graph/types', 'src/graph/question', 'src/graph/miss'],
  'src/graph/words': [...leaves, 'src/text', 'src/graph/miss'],
  'src/graph/index': [
    ...leaves,
    'src/codec',
    'src/text',
    'src/graph/vectors',
    'src/graph/words',
    'src/graph/miss',
    'src/graph/row-set',
    'src/graph/view',
    'src/graph/value',
  ],
  'src/graph/solve': [
    ...leaves,
    'src/graph/row-set',
    'src/graph/types',
    'src/graph/question',
    'src/graph/miss',
    'src/graph/view',
    'src/graph/value',
    'src/graph/within',
  ],
  'src/graph/chunk-texts': [
    'src/types',
    'src/terms',
    'src/turns',
    'src/vocabulary',
    'src/graph/miss',
    'src/graph/view',
    'src/graph/words',
  ],
  'src/graph/search': [
    ...leaves,
    'src/text',
    'src/graph/languages',
    'src/graph/types',
    'src/graph/question',
    'src/graph/miss',
    'src/graph/view',
    'src/graph/chunk-texts',
    'src/graph/words',
  ],
  'src/graph/same': [
    ...leaves,
    'src/graph/types',
    'src/graph/miss',
    'src/graph/taking',
    'src/graph/view',
    'src/graph/question',
    'src/text',
    'src/graph/words',
  ],
  'src/graph/ranking': [
    'src/types',
    'src/turns',
    'src/text',
    'src/vocabulary',
    'src/graph/same',
    'src/graph/miss',
    'src/graph/taking',
    'src/graph/view',
    'src/graph/chunk-texts',
    'src/graph/words',
  ],
  'src/graph/answer': [...leaves, 'src/openai', 'src/graph/types', 'src/graph/question'],
  'src/graph/retrieve': [
    ...leaves,
    'src/text',
    'src/graph/languages',
    'src/graph/types',
    'src/graph/question',
    'src/graph/miss',
    'src/graph/taking',
    'src/graph/view',
    'src/graph/words',
    'src/graph/ranking',
    'src/graph/same',
  ],
  'src/graph': [...leaves, 'src/rdf/terms'],
  'src/sparql': [
    'src/types',
    'src/terms',
    'src/errors',
    'src/door',
    'src/accept',
    'src/turns',
    'src/graph/types',
    'src/graph/rdf-source',
    'src/graph/value',
    'src/rdf',
  ],
  'src/whole-file': [],
  'src/backup/types': ['src/byte-source', 'src/storage'],
  'src/backup': [...leaves, 'src/whole-file', 'src/snapshot'],
  'src/knowledge/types': [
    'src/paging',
    'src/byte-source',
    'src/conditions',
    'src/types',
    'src/graph/types',
    'src/codec/dialects/names',
  ],
  // What the store's own files need of it comes in through Libraries: it knows records, not imports.
  'src/knowledge/library': [
    ...leaves,
    'src/graph',
    'src/knowledge/collector',
    'src/knowledge/core-table',
    'src/knowledge/found-records',
    'src/knowledge/record-shapes',
    'src/knowledge/records',
    'src/knowledge/segment-bytes',
    'src/knowledge/types',
  ],
  'src/knowledge': [...leaves, 'src/codec', 'src/graph'],
  'src/objects/filter-types': ['src/types'],
  'src/objects/types': [
    'src/paging',
    'src/types',
    'src/scope',
    'src/conditions',
    'src/reads',
    'src/objects/filter-types',
  ],
  'src/objects/scope': ['src/door', 'src/errors', 'src/scope', 'src/objects/filter-types'],
  'src/objects/schema': [...leaves, 'src/text', 'src/objects/types'],
  'src/objects/values': leaves,
  'src/objects/filter': [
    ...leaves,
    'src/text',
    'src/objects/types',
    'src/objects/filter-types',
    'src/objects/values',
  ],
  'src/objects/engine': [
    ...leaves,
    'src/text',
    'src/objects/types',
    'src/objects/schema',
    'src/objects/values',
  ],
  'src/objects/query': [
    ...leaves,
    'src/text',
    'src/objects/types',
    'src/scope',
    'src/objects/scope',
    'src/objects/schema',
    'src/objects/values',
    'src/objects/filter',
    'src/objects/engine',
  ],
  'src/objects': leaves,
  'src/flow/types': [
    'src/paging',
    'src/types',
    'src/scope',
    'src/conditions',
    'src/reads',
    'src/knowledge/types',
    'src/objects/types',
  ],
  'src/flow/document': [
    'src/types',
    'src/terms',
    'src/errors',
    'src/door',
    'src/flow/base64',
    'src/flow/charset',
    'src/flow/files',
    'src/flow/carrier',
  ],
  'src/flow/atx-heading': [],
  'src/flow/files': [...leaves, 'src/flow/types', 'src/flow/atx-heading', 'src/flow/charset'],
  'src/flow/base64': [],
  'src/flow/carrier': ['src/door', 'src/tracing'],
  'src/flow/charset': ['src/errors', 'src/flow/charset-tables'],
  'src/flow/charset-tables': [],
  'src/flow/queue': [...leaves, 'src/flow/types', 'src/flow/document', 'src/flow/carrier'],
  'src/flow/steps': [
    ...leaves,
    'src/text',
    'src/knowledge/types',
    'src/objects/types',
    'src/flow/types',
    'src/flow/atx-heading',
    'src/openai',
  ],
  'src/flow': [...leaves, 'src/knowledge/types', 'src/objects/types'],
  'src/salvage-stores': [
    ...leaves,
    'src/backup/marker',
    'src/knowledge',
    'src/objects',
    'src/flow',
    'src/verifiers',
  ],
  'src/lost-partitions': [...leaves, 'src/knowledge'],
  'src/verifiers': [...leaves, 'src/knowledge', 'src/objects', 'src/flow', 'src/lost-partitions'],
  'src/verify-stores': [...leaves, 'src/verifiers'],
  'src/lorekeep-types': [...leaves, 'src/backup', 'src/knowledge', 'src/objects', 'src/flow'],
  'src/lorekeep': ['src/lorekeep-types', 'src/opening'],
  'src/opening': [
    ...leaves,
    'src/lorekeep-types',
    'src/snapshot',
    'src/backup',
    'src/knowledge',
    'src/objects',
    'src/flow',
    'src/lost-partitions',
    'src/verify-stores',
  ],
  'src/index': [
    ...leaves,
    'src/backup',
    'src/knowledge',
    'src/objects',
    'src/flow',
    'src/graph/types',
    'src/openai',
    'src/lorekeep',
  ],
  'src/http': [
    'src/clock',
    'src/paging',
    'src/time-range',
    'src/closing',
    'src/health',
    'src/defaults',
    'src/backup/types',
    'src/types',
    'src/terms',
    'src/errors',
    'src/door',
    'src/codec/dialects/names',
    'src/codec/decoder',
    'src/conditions',
    'src/knowledge/types',
    'src/objects/types',
    'src/scope',
    'src/objects/scope',
    'src/flow/types',
    'src/accept',
    'src/json-text',
    'src/graph/types',
    'src/graph/question',
    'src/graph/answer/generator',
    'src/graph/answer/query',
    'src/rdf',
    'src/sparql/types',
    'src/tracing',
    'src/turns',
    'src/mcp',
  ],
  'src/otel': ['src/door', 'src/tracing'],
  'src/fastify': ['src/http'],
  'src/inspector': [
    'src/client',
    'src/types',
    'src/json-text',
    'src/vocabulary',
    'src/knowledge/types',
    'src/objects/types',
    'src/flow/types',
    'src/graph/types',
  ],
  'src/mcp': [
    'src/version',
    'src/types',
    'src/errors',
    'src/door',
    'src/json-text',
    'src/vocabulary',
    'src/paging',
    'src/scope',
    'src/client',
    'src/knowledge/types',
    'src/objects/types',
    'src/flow/types',
    'src/graph/types',
  ],
  'src/ai': [
    'src/types',
    'src/batches',
    'src/errors',
    'src/clock',
    'src/door',
    'src/openai/waiting',
    'src/client',
    'src/mcp',
    'src/lorekeep-types',
    'src/flow/steps',
    'src/graph/types',
  ],
  'src/langchain': [
    'src/types',
    'src/errors',
    'src/door',
    'src/json-text',
    'src/vocabulary',
    'src/codec/decoder',
    'src/codec/encoder',
    'src/client',
    'src/mcp/passages',
    'src/knowledge/types',
    'src/objects/types',
    'src/flow/steps/embed',
    'src/graph/types',
  ],
  'src/client': [
    'src/paging',
    'src/types',
    'src/conditions',
    'src/json-text',
    'src/errors',
    'src/byte-source',
    'src/knowledge/types',
    'src/objects/types',
    'src/flow/types',
    'src/graph/types',
  ],
  'src/cli/main': ['src/cli/cache-directory', 'src/cli/program', 'src/cli/output'],
  'src/cli/cache-directory': [],
  'src/cli/program': [
    ...leaves,
    'src/codec/dialects/names',
    'src/objects/types',
    'src/openai/server',
    'src/rdf',
    'src/cli/commands',
    'src/cli/access',
    'src/cli/config',
    'src/cli/output',
  ],
  'src/cli/commands': [
    ...libraries,
    'src/cli/access',
    'src/cli/config',
    'src/cli/input',
    'src/cli/output',
  ],
  'src/cli/access': [...libraries, 'src/cli/config', 'src/cli/input', 'src/cli/output'],
  'src/cli/config': [
    ...leaves,
    'src/http',
    'src/knowledge',
    'src/objects',
    'src/flow',
    'src/openai',
    'src/sparql',
  ],
  'src/cli/input': [...leaves, 'src/objects/types', 'src/http/json-scan', 'src/cli/output'],
  'src/cli/output': [...leaves, 'src/graph/types', 'src/rdf/terms', 'src/cli/config/environment'],
  adapters: ['src/storage', 'src/errors', 'src/door', 'src/sorted-entries'],
  'test/suite': ['src/storage', 'src/errors'],
}

/** Packages, and the places that may import each: one, but for the maker of ids. */
const packages: Readonly<Record<string, readonly string[]>> = {
  msgpackr: ['src/codec'],
  level: ['adapters/level'],
  n3: ['src/rdf'],
  '@opentelemetry/api': ['src/otel'],
  fastify: ['src/fastify'],
  '@modelcontextprotocol/server': ['src/mcp'],
  '@langchain/core': ['src/langchain'],
  ai: ['src/ai'],
  pg: ['adapters/postgres'],
  'pg-copy-streams': ['adapters/postgres/peer'],
  ws: ['src/http/socket'],
  preact: ['src/inspector'],
  'd3-force': ['src/inspector/graph/layout-worker'],
  '@codemirror/commands': ['src/inspector/views/sparql/editor'],
  '@codemirror/language': ['src/inspector/views/sparql/editor'],
  '@codemirror/legacy-modes': ['src/inspector/views/sparql/editor'],
  '@codemirror/state': ['src/inspector/views/sparql/editor'],
  '@codemirror/view': ['src/inspector/views/sparql/editor'],
  '@lezer/highlight': ['src/inspector/views/sparql/editor'],
  mammoth: ['src/flow/files/docx'],
  parse5: ['src/flow/files/html'],
  unpdf: ['src/flow/files/pdf'],
  '@comunica/query-sparql-rdfjs-lite': ['src/sparql'],
  '@rdfjs/types': ['src/graph', 'src/rdf', 'src/sparql'],
  'classic-level': ['adapters/level'],
  'xxhash-wasm': ['adapters/level'],
  hyperid: ['src/http/router', 'src/objects/schema/schema', 'src/clock'],
  ajv: ['src/objects/schema'],
  'ajv-formats': ['src/objects/schema/validator'],
  re2js: ['src/objects/filter/regex', 'src/sparql/regex'],
  'wink-nlp': ['src/flow/steps/offline/tagger'],
  'wink-eng-lite-web-model': ['src/flow/steps/offline/tagger'],
  commander: ['src/cli'],
  'cli-progress': ['src/cli'],
  '@orama/stemmers': ['src/text/stemming'],
}

const files = ['src', 'adapters', 'test/suite'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file)),
)

const importLine = /^(?:import|export)\s[^']*?\sfrom '([^']+)'|(?:^import |\bimport\()'([^']+)'/gm

const edges = files.flatMap((file) => {
  const source = readFileSync(join(root, file), 'utf8')
  const specifiers = [...source.matchAll(importLine)].map(([, from, bare]) => from ?? bare)
  return specifiers.map((specifier) => ({ file, specifier: specifier as string }))
})

t.test('every file lies in a known room', async (t) => {
  for (const file of files) t.ok(roomOf(file), file)
})

t.test('imports between rooms point the allowed way', async (t) => {
  for (const { file, specifier } of edges) {
    if (!specifier.startsWith('.')) continue
    const target = relative(root, resolve(root, dirname(file), specifier)).replace(/\.js$/, '')
    const room = roomOf(file) ?? ''
    const ok = isIn(target, room) || (allowed[room] ?? []).some((place) => isIn(target, place))
    t.ok(ok, `${file} imports ${target}`)
  }
})

t.test('no file imports itself in a roundabout way', async (t) => {
  const imports = new Map<string, string[]>()
  for (const { file, specifier } of edges) {
    if (!specifier.startsWith('.')) continue
    const target = relative(root, resolve(root, dirname(file), specifier)).replace(/js$/, 'ts')
    const component = target.replace(/ts$/, 'tsx')
    const module = files.includes(component) ? component : target
    imports.set(file, [...(imports.get(file) ?? []), module])
  }
  const done = new Set<string>()
  const visit = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) t.fail([...way.slice(way.indexOf(file)), file].join(' -> '))
    if (done.has(file)) return
    done.add(file)
    for (const target of imports.get(file) ?? []) visit(target, [...way, file])
  }
  for (const file of files) visit(file, [])
  t.equal(done.size, files.length)
})

t.test('each package is imported in one room', async (t) => {
  const found = new Set<string>()
  for (const { file, specifier } of edges) {
    if (specifier.startsWith('.') || specifier.startsWith('node:')) continue
    // A package is its name, whatever is imported from it.
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
    found.add(name)
    const path = file.replace(/\.tsx?$/, '')
    const ok = packages[name]?.some((place) => isIn(path, place)) ?? false
    t.ok(ok, `${file} imports ${specifier}`)
  }
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
    peerDependencies: Record<string, string>
  }
  // classic-level gives `level` its types in Node, and comes with it.
  found.delete('classic-level')
  // What lies in the files of the page.
  for (const [name, places] of Object.entries(packages)) {
    if (places.every((place) => isIn(place, 'src/inspector'))) found.delete(name)
  }
  const { dependencies, peerDependencies } = manifest
  t.strictSame([...found].sort(), Object.keys({ ...dependencies, ...peerDependencies }).sort())
})

function roomOf(file: string): string | undefined {
  const path = file.replace(/\.tsx?$/, '')
  const rooms = Object.keys(allowed).filter((room) => isIn(path, room))
  return rooms.sort((a, b) => b.length - a.length)[0]
}

function isIn(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}
