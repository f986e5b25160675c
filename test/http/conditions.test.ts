// RFC 9110, section 13, on every kind of thing and by both doors: what is asked on which condition, and
// what comes of it.

import t, { type Test } from 'tap'
import { openFetch } from './fixtures/fetching.js'
import { as, core, json, send, serve } from './fixtures/serving.js'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}
type Ask = (
  method: string,
  path: string,
  headers?: Readonly<Record<string, string>>,
  body?: object | Uint8Array,
) => Promise<Answer>

const bytesOf = (body: object | Uint8Array) =>
  body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))

/** The same store by node:http and by the Fetch standard. */
async function doors(t: Test, options: { requireConditions?: boolean } = {}) {
  const serving = await serve(t, options)
  const { knowledge, objects, flows } = serving
  const byNode: Ask = async (method, path, headers = {}, body) => {
    const sent = { method, headers: { ...as('admin'), ...headers } }
    const reply = await send(`${serving.url}/api/v1/${path}`, {
      ...sent,
      ...(body !== undefined && { body: bytesOf(body) }),
    })
    return reply as Answer
  }
  const authenticate = () => ({ user: '*' })
  const handler = openFetch({ knowledge, objects, flows, authenticate, ...options })
  const byFetch: Ask = async (method, path, headers = {}, body) => {
    const init = { method, headers, ...(body && { body: new Uint8Array(bytesOf(body)) }) }
    const reply = await handler(new Request(`http://host/api/v1/${path}`, init))
    const { status } = reply
    const found = Object.fromEntries(reply.headers)
    return { status, headers: found, body: Buffer.from(await reply.arrayBuffer()) }
  }
  return { serving, doors: { node: byNode, fetch: byFetch } }
}

const things = [
  {
    name: 'object',
    path: 'collections/c/objects/1',
    make: { n: 1 },
    changes: [['PUT', { n: 2 }] as const, ['PATCH', { n: 3 }] as const],
    hasDate: true,
  },
  {
    name: 'schema',
    path: 'schemas/other',
    make: { fields: { id: { type: 'string' } } },
    changes: [['PUT', { fields: { id: { type: 'string' }, a: { type: 'text' } } }] as const],
    hasDate: false,
  },
  {
    name: 'flow',
    path: 'flows/other',
    make: { keepDone: 1 },
    changes: [['PUT', { keepDone: 2 }] as const],
    hasDate: false,
  },
]

const long = 'Sat, 01 Jan 2000 00:00:00 GMT'
const far = 'Sat, 01 Jan 2050 00:00:00 GMT'

t.test('conditions of what is read and changed', async (t) => {
  const { serving, doors: both } = await doors(t)
  const { objects, flows } = serving
  await objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  const metadata = { id: 'b', user: 'u', collection: 'c' }
  for (const [door, ask] of Object.entries(both)) {
    for (const { name, path, make, changes, hasDate } of things) {
      await t.test(`${name}, by ${door}`, async (t) => {
        if (name === 'object') {
          const batch = { metadata, schema_name: 's', values: [{ id: '1', ...make }] }
          await objects.import(batch, { onDuplicate: 'replace' })
        } else t.equal((await ask('PUT', path, { 'If-None-Match': '*' }, make)).status, 201)
        const { headers } = await ask('GET', path)
        const etag = headers['etag'] ?? ''
        t.match(etag, /^"[^"]+"$/)
        t.equal(headers['last-modified'] !== undefined, hasDate)
        const is = async (status: number, conditions: Record<string, string>, method = 'GET') => {
          const given = JSON.stringify(conditions)
          const reply = await ask(method, path, conditions)
          t.equal(reply.status, status, `${method} ${given}`)
          if (status === 304) t.equal(reply.headers['etag'], etag)
          if (status === 412 && method !== 'HEAD')
            t.match(json(reply as never), { code: 'LK_PRECONDITION' })
        }
        for (const method of ['GET', 'HEAD']) {
          await is(200, { 'If-Match': etag }, method)
          await is(200, { 'If-Match': `"x", ${etag}` }, method)
          await is(200, { 'If-Match': '*' }, method)
          await is(412, { 'If-Match': '"x"' }, method)
          await is(412, { 'If-Match': `W/${etag}` }, method)
          await is(304, { 'If-None-Match': etag }, method)
          await is(304, { 'If-None-Match': `W/${etag}` }, method)
          await is(304, { 'If-None-Match': `"a,b", ${etag}` }, method)
          await is(304, { 'If-None-Match': '*' }, method)
          await is(200, { 'If-None-Match': '"x"' }, method)
          // If-Match comes before If-None-Match, and each before its date.
          await is(412, { 'If-Match': '"x"', 'If-None-Match': etag }, method)
          await is(304, { 'If-Match': etag, 'If-None-Match': etag }, method)
          await is(200, { 'If-None-Match': '"x"', 'If-Modified-Since': far }, method)
          await is(200, { 'If-Match': etag, 'If-Unmodified-Since': long }, method)
          await is(hasDate ? 304 : 200, { 'If-Modified-Since': far }, method)
          await is(200, { 'If-Modified-Since': long }, method)
          await is(200, { 'If-Modified-Since': 'yesterday' }, method)
          await is(hasDate ? 412 : 200, { 'If-Unmodified-Since': long }, method)
          await is(200, { 'If-Unmodified-Since': far }, method)
        }
        await is(400, { 'If-Match': 'nonsense' })
        let known = etag
        for (const [method, body] of changes) {
          const refused = async (status: number, conditions: Record<string, string>) => {
            const reply = await ask(method, path, conditions, body)
            t.equal(reply.status, status, `${method} ${JSON.stringify(conditions)}`)
            t.equal((await ask('GET', path)).headers['etag'], known, 'nothing was changed')
          }
          await refused(412, { 'If-Match': '"x"' })
          await refused(412, { 'If-Match': `W/${known}` })
          await refused(412, { 'If-None-Match': known })
          await refused(412, { 'If-None-Match': '*' })
          await refused(412, { 'If-Match': known, 'If-None-Match': '*' })
          await refused(412, { 'If-Unmodified-Since': long })
          await refused(400, { 'If-Match': 'nonsense' })
          await refused(400, { 'If-None-Match': '"open' })
          const other = known.replace(/"$/, '.gzip"')
          const reply = await ask(method, path, { 'If-Match': other }, body)
          t.equal(reply.status, 200)
          t.not(reply.headers['etag'], known)
          t.equal((await ask('GET', path)).headers['etag'], reply.headers['etag'])
          known = reply.headers['etag'] ?? ''
        }
        await is(412, { 'If-Match': etag }, 'DELETE')
        await is(204, { 'If-Match': known }, 'DELETE')
        await is(404, { 'If-Match': known }, 'DELETE')
        await is(404, { 'If-Match': '"x"' })
      })
    }
    await t.test(`cores, by ${door}`, async (t) => {
      const bytes = core('x', 'u', 3)
      const importing = 'import-core?id=x&user=u&mode=replace'
      t.equal((await ask('POST', importing, { 'If-Match': '*' }, bytes)).status, 412)
      const made = await ask('POST', importing, { 'If-None-Match': '*' }, bytes)
      t.equal(made.status, 200)
      const again = await ask('POST', importing, { 'If-None-Match': '*' }, core('x', 'u', 1))
      t.equal(again.status, 412)
      const etag = made.headers['etag'] ?? ''
      const exported = await ask('GET', 'export-core?id=x&user=u')
      t.equal(exported.headers['etag'], etag)
      const turtle = await ask('GET', 'export-core?id=x&user=u', { Accept: 'text/turtle' })
      t.equal(turtle.headers['etag'], etag.replace(/"$/, '.turtle"'))
      const known = { Accept: 'text/turtle', 'If-None-Match': turtle.headers['etag'] ?? '' }
      t.equal((await ask('GET', 'export-core?id=x&user=u', known)).status, 304)
      const stat = await ask('GET', 'cores/x?user=u')
      const ofStat = { 'If-None-Match': stat.headers['etag'] ?? '' }
      t.equal((await ask('GET', 'cores/x?user=u', ofStat)).status, 304)
      for (const path of ['cores/x?user=u', 'export-core?id=x&user=u']) {
        t.equal((await ask('GET', path, { 'If-Match': '"x"' })).status, 412)
        t.equal((await ask('GET', path, { 'If-Modified-Since': far })).status, 304)
        t.equal((await ask('GET', path, { 'If-Unmodified-Since': long })).status, 412)
      }
      // What was read as Turtle is the version all the same.
      const change = { 'If-Match': turtle.headers['etag'] ?? '' }
      const changed = await ask('POST', importing, change, core('x', 'u', 2))
      t.equal(changed.status, 200)
      t.equal((await ask('POST', importing, change, bytes)).status, 412)
      t.equal((await ask('DELETE', 'cores/x?user=u', change)).status, 412)
      const last = { 'If-Match': changed.headers['etag'] ?? '' }
      t.equal((await ask('DELETE', 'cores/x?user=u', last)).status, 204)
      t.equal((await ask('DELETE', 'cores/x?user=u', last)).status, 404)
    })
    await t.test(`what has no versions, by ${door}`, async (t) => {
      const tag = { 'If-Match': '"x"' }
      for (const path of ['cores?user=u', 'schemas', 'flows', 'collections', 'whoami']) {
        t.equal((await ask('GET', path, tag)).status, 412, path)
        t.equal((await ask('GET', path, { 'If-Match': '*' })).status, 200, path)
      }
      const batch = { metadata, schema_name: 's', values: [{ id: '9' }] }
      t.equal((await ask('POST', 'flow/default/objects/import', tag, batch)).status, 412)
      t.equal(await objects.get('c', '9'), undefined)
      t.equal((await ask('PUT', 'collections/made', { 'If-None-Match': '*' })).status, 201)
      t.equal((await ask('PUT', 'collections/made', { 'If-None-Match': '*' })).status, 412)
      t.equal((await ask('DELETE', 'collections/made', tag)).status, 412)
      t.equal((await ask('DELETE', 'collections/made', { 'If-Match': '*' })).status, 200)
      t.equal((await ask('POST', 'flows/default/stop', tag)).status, 412)
      t.match(await flows.get('default'), { active: true })
    })
  }
})

t.test('a server may want a condition for each change', async (t) => {
  const { serving, doors: both } = await doors(t, { requireConditions: true })
  const { objects } = serving
  await objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  const metadata = { id: 'b', user: 'u', collection: 'c' }
  for (const [door, ask] of Object.entries(both)) {
    await objects.import({ metadata, schema_name: 's', values: [{ id: door }] })
    const object = `collections/c/objects/${door}`
    const changes: [string, string, object?][] = [
      ['PUT', object, {}],
      ['PATCH', object, {}],
      ['DELETE', object],
      ['PUT', 'schemas/s', { fields: {} }],
      ['DELETE', 'schemas/s'],
      ['PUT', 'flows/f', {}],
      ['DELETE', 'flows/f'],
      ['POST', 'import-core?id=x&user=u&mode=replace', core('x', 'u')],
      ['DELETE', 'cores/x?user=u'],
    ]
    for (const [method, path, body] of changes) {
      const reply = await ask(method, path, { 'If-Unmodified-Since': 'nonsense' }, body)
      t.match([reply.status, json(reply as never)], [428, { code: 'LK_HTTP_CONDITION' }], path)
    }
    const added = await ask('POST', 'import-core?id=x&user=u', {}, core('x', 'u'))
    t.equal(added.status, 200, 'an append takes nothing away')
    t.equal((await ask('PATCH', object, { 'If-Match': '*' }, { n: 1 })).status, 200)
    t.equal((await ask('DELETE', 'cores/x?user=u', { 'If-Match': '*' })).status, 204)
  }
})
