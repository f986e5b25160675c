// What every route asks of whoever comes, before it looks at anything else.

import t from 'tap'
import { routesOf } from '../../src/http/options.js'
import { as, json, openStore, send, serve } from './fixtures/serving.js'

const principals: Readonly<Record<string, { user: string; access?: 'read' }>> = {
  any: { user: '*' },
  reader: { user: 'alice', access: 'read' },
  writer: { user: 'alice' },
}
const authenticate = (token = '') => principals[token]

async function opened(t: Parameters<typeof serve>[0]) {
  const { knowledge, objects, flows } = await openStore(t)
  const backup = () => Promise.reject(new Error('not asked for'))
  const routes = routesOf({ knowledge, objects, flows, backup, authenticate: 'none' }, '/api/v1')
  const { url } = await serve(t, { authenticate })
  const ask = async (token: string, method: string, path: string, query = '') => {
    const place = path.replace(/\{[^}]*\}/g, 'none')
    const reply = await send(`${url}${place}${query}`, { method, headers: as(token) })
    return { status: reply.status, problem: reply.status < 400 ? {} : json(reply) }
  }
  return { routes, ask }
}

const hint = (meant: string, known: readonly string[]) => {
  if (known.includes(meant)) return `is unknown; did you mean '${meant}'?`
  return known.length === 0 ? 'is unknown; there are none here' : new RegExp(known.join(', '))
}

t.test('a name that a query may not have is refused, and those it may have are told', async (t) => {
  const { routes, ask } = await opened(t)
  t.ok(routes.length > 40)
  for (const route of routes) {
    if (route.access === 'open') continue
    const { method, path, query = {} } = route
    const { status, problem } = await ask('any', method, path, '?usr=alice&limt=1')
    t.equal(status, 400, `${method} ${path}`)
    const known = Object.keys(query)
    t.match(problem, {
      code: 'LK_HTTP_REQUEST',
      errors: [
        { path: 'usr', message: hint('user', known) },
        { path: 'limt', message: hint('limit', known) },
      ],
    })
  }
})

t.test('who may only read is refused every change, and nothing else', async (t) => {
  const { routes, ask } = await opened(t)
  const detail = /may read, and change nothing/
  let changes = 0
  for (const { access, method, path } of routes) {
    // Events of all jobs would not end.
    const query = path.endsWith('/events') ? '?job=none' : ''
    const reader = await ask('reader', method, path, query)
    const writer = await ask('writer', method, path, query)
    t.notMatch(writer.problem.detail ?? '', detail)
    if (access !== 'change') {
      t.strictSame(reader.status, writer.status, `${method} ${path}`)
      continue
    }
    changes++
    t.equal(reader.status, 403, `${method} ${path}`)
    t.match(reader.problem, { code: 'LK_HTTP_FORBIDDEN', detail })
  }
  t.ok(changes > 15)
  // What a request without content does not get to: operations that have one route.
  t.ok(routes.every(({ access, method }) => access !== 'read' || /GET|POST/.test(method)))
})

t.test(
  'a reader may list cores in the manner of the reference system, and delete none',
  async (t) => {
    const { url } = await serve(t, { authenticate })
    const operate = async (operation: string) => {
      const body = Buffer.from(JSON.stringify({ operation, id: 'x' }))
      return (
        await send(`${url}/api/v1/knowledge`, { method: 'POST', headers: as('reader'), body })
      ).status
    }
    t.equal(await operate('list-kg-cores'), 200)
    t.equal(await operate('delete-kg-core'), 403)
  },
)

t.test('what is of RDF alone is refused with a core', async (t) => {
  const { url } = await serve(t, { authenticate })
  for (const [name, value] of Object.entries({ loss: 'drop', base: 'urn:b', collection: 'c' })) {
    const path = `${url}/api/v1/import-core?id=x&${name}=${value}`
    const reply = await send(path, { method: 'POST', headers: as('writer'), body: Buffer.of() })
    t.equal(reply.status, 400)
    t.match(json(reply).detail, `${name} is for RDF`)
  }
})
