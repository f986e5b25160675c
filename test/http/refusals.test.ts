// Whatever is sent to whichever route: the answer is small, and so is what was made of it.

import t from 'tap'
import type { Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { maxErrorBytes, maxErrors } from '../../src/door/problems.js'
import { routesOf } from '../../src/http/options.js'
import { as, json, openStore, send, serve } from './fixtures/serving.js'

function keys(count: number, length = 0): Record<string, number> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`k${i}${'x'.repeat(length)}`, 1]),
  )
}

function nested(levels: number): unknown {
  let value: unknown = { k: 1 }
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { k: value }
  return value
}

const good = { id: 'b', user: 'alice', collection: 'c' }
const triple = { s: { v: 's', e: true }, p: { v: 'p', e: true }, o: { v: 'o', e: false } }

/** Where a route takes members, each given as a body with these in that place. */
const places: Readonly<Record<string, readonly ((members: object) => object)[]>> = {
  'POST /flow/default/objects/import': [
    (members) => members,
    (metadata) => ({ metadata, schema_name: 'strict', values: [{}] }),
    (metadata) => ({ metadata: { ...good, metadata }, schema_name: 'strict', values: [{}] }),
    (object) => ({ metadata: good, schema_name: 'strict', values: [object] }),
    (object) => ({ metadata: good, schema_name: 'strict', values: [{ id: 1, inner: object }] }),
    (object) => ({
      metadata: good,
      schema_name: 'strict',
      values: [{ id: 1, rows: Object.keys(object).map(() => ({ x: 1 })) }],
    }),
    (object) => ({ metadata: good, schema_name: 'strict', values: Object.values(object) }),
  ],
  'POST /flow/default/objects/query': [
    (members) => members,
    (filters) => ({ schema_name: 'strict', filters }),
    (sort) => ({ schema_name: 'strict', sort }),
    (fields) => ({ schema_name: 'strict', fields: Object.keys(fields).slice(0, 1000) }),
    (filters) => ({ schema_name: 'strict', filters: { name: { $gt: 1, ...filters } } }),
    (value) => ({ schema_name: 'strict', filters: { name: { $in: Object.keys(value) } } }),
  ],
  'POST /flow/default/objects/explain': [(members) => members],
  'PUT /collections/c/objects/o': [(members) => members],
  'PATCH /collections/c/objects/o': [(members) => members],
  'POST /schemas': [
    (members) => members,
    (fields) => ({ name: 's', fields }),
    (field) => ({ name: 's', fields: { a: field } }),
    (indexes) => ({ name: 's', fields: {}, indexes: Object.keys(indexes) }),
  ],
  'PUT /schemas/s': [(members) => members],
  'PUT /collections/d': [(members) => members],
  'PUT /flows/f': [
    (members) => members,
    (step) => ({ id: 'f', steps: ['chunk', { name: 'extract', ...step }] }),
    (options) => ({ id: 'f', steps: [{ name: 'chunk', options }] }),
    (steps) => ({ id: 'f', steps: Object.keys(steps) }),
  ],
  'POST /flow/default/service/text-load': [
    (members) => members,
    (term) => ({ id: 'd', content: 'x', metadata: [{ ...triple, s: { ...triple.s, ...term } }] }),
    (members) => ({ id: 'd', content: 'x', metadata: [{ ...triple, ...members }] }),
  ],
  'POST /knowledge': [(members) => members],
  'POST /flow/default/service/triples': [(members) => members, (s) => ({ s })],
  'POST /flow/default/service/graph-embeddings': [
    (members) => members,
    (vectors) => ({ vectors: Object.keys(vectors) }),
  ],
  'POST /graph/merge': [(members) => members, (a) => ({ a, b: a })],
  'POST /graph/split': [(members) => members, (a) => ({ a, b: a })],
  ...Object.fromEntries(
    ['match', 'count', 'solve', 'nearest', 'retrieve', 'answer', 'search', 'duplicates'].flatMap(
      (name) =>
        ['/graph', '/cores/x'].map((path) => [
          `POST ${path}/${name}`,
          [
            (members: object) => members,
            (members: object) => ({ patterns: [members], s: members, entities: members }),
          ],
        ]),
    ),
  ),
}

t.test('every route that takes JSON is below', async (t) => {
  const { knowledge, objects, flows } = await openStore(t)
  const routes = routesOf({ knowledge, objects, flows, authenticate: 'none' }, '')
  const bare = /\/(import-core|start|stop|retry|cancel|sparql|index|file-load)$|^\/jobs|^\/dead/
  for (const { method, path } of routes) {
    if (method === 'GET' || method === 'DELETE' || bare.test(path)) continue
    const shape = new RegExp(`^${method} ${path.replace(/\{[^}]*\}/g, '[^/]+')}$`)
    t.ok(
      Object.keys(places).some((place) => shape.test(place)),
      `${method} ${path}`,
    )
  }
})

t.test('20,000 unknown names, or some of a megabyte, are answered in little', async (t) => {
  const serving = await prepared(t)
  const bodies = { many: keys(20_000), long: keys(3, 1024 * 1024), deep: { k: nested(150) } }
  for (const [route, made] of Object.entries(places)) {
    for (const [n, make] of made.entries()) {
      for (const [name, members] of Object.entries(bodies)) {
        const label = `${route} ${n} ${name}`
        const [method = '', path = ''] = route.split(' ')
        const body = Buffer.from(JSON.stringify(make(members)))
        const user = /^\/(?:graph|cores)\//.test(path) ? '?user=alice' : ''
        const url = `${serving.url}/api/v1${path}${user}`
        const reply = await send(url, { method, headers: as('admin'), body })
        if (reply.status < 300) continue
        t.ok(reply.status < 500, `${label}: ${reply.status}`)
        const { errors = [], errorsOmitted } = json(reply) as Refusal
        const bytes = Buffer.byteLength(JSON.stringify(errors))
        t.ok(errors.length > 0 && errors.length <= maxErrors, `${label}: ${errors.length} errors`)
        t.ok(bytes <= maxErrorBytes, `${label}: ${bytes} bytes of errors`)
        t.ok(reply.body.byteLength <= 1.5 * maxErrorBytes, `${label}: ${reply.body.byteLength}`)
        if (name === 'many' && errors.length === maxErrors) {
          t.ok(Number(errorsOmitted) > 0, `${label}: says that there are more`)
        }
      }
    }
  }
})

interface Refusal {
  readonly errors?: readonly object[]
  readonly errorsOmitted?: number
}

t.test('how many there are in all is told, of 300,000', async (t) => {
  const serving = await prepared(t)
  const many = 300_000
  const body = Buffer.from(JSON.stringify(keys(many)))
  const url = `${serving.url}/api/v1/flow/default/objects/query`
  const reply = await send(url, { method: 'POST', headers: as('alice'), body })
  const { errors = [], errorsOmitted = 0 } = json(reply) as Refusal
  // Each unknown name, and the schema's that is missing.
  t.equal(errors.length + errorsOmitted, many + 1)
})

async function prepared(t: Test) {
  const backend = new LevelBackend(t.testdir())
  const serving = await serve(t, { backend, maxJsonBytes: 64 * 1024 * 1024 })
  await serving.objects.defineSchema({
    name: 'strict',
    strict: true,
    fields: {
      name: { type: 'string' },
      inner: { type: 'object', properties: { a: { type: 'string' } } },
      rows: {
        type: 'array',
        items: { type: 'object', properties: { a: { type: 'string', required: true } } },
      },
    },
  })
  return serving
}
