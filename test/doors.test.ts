// Every public function and method, and what it says to a member that nobody knows, to one of the
// wrong type, to one that is negative and to one that is missing (docs/errors.md): what a program
// passes as options is a TypeError that names the option, what may come from a client is a code with
// `errors: [{ path, message }]`. A method that is not in this table fails the test.

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
import { arguments_, never, without } from './doors/arguments.js'
import { type Door, doors } from './doors/options.js'
import {
  keep,
  knowledge,
  objects,
  flows,
  ref,
  graph,
  engine,
  batch,
  secret,
} from './doors/things.js'

t.teardown(() => keep.close())

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
