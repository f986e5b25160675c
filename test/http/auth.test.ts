import t from 'tap'
import type { Principal } from '../../src/http/index.js'
import { LorekeepError } from '../../src/errors.js'
import { as, core, json, send, serve } from './fixtures/serving.js'

const paths = [
  ['POST', '/import-core?id=x'],
  ['GET', '/export-core?id=x'],
  ['GET', '/cores?'],
  ['GET', '/cores/x?'],
  ['DELETE', '/cores/x?'],
] as const

t.test('without a usable token everything but healthz is 401', async (t) => {
  const seen = new Set<unknown>()
  const { url } = await serve(t, { authenticate: (token) => void seen.add(token) })
  for (const [method, path] of paths) {
    for (const authorization of [undefined, '', 'alice', 'Basic alice', 'Bearer', 'Bearer a b']) {
      const reply = await send(`${url}/api/v1${path}`, {
        method,
        headers: authorization === undefined ? {} : { Authorization: authorization },
      })
      t.equal(reply.status, 401, `${method} ${path} ${authorization}`)
      t.equal(reply.headers['www-authenticate'], 'Bearer realm="lorekeep"')
      t.equal(json(reply).code, 'LK_HTTP_UNAUTHORIZED')
    }
  }
  t.strictSame([...seen], [undefined])
})

t.test('a host that knows its clients by something else needs no token', async (t) => {
  const { url } = await serve(t, {
    authenticate: (token, { headers }) => {
      return token === undefined && headers.cookie === 'session=1' ? { user: 'alice' } : null
    },
  })
  const statusOf = async (headers: Record<string, string>) => {
    return (await send(`${url}/api/v1/cores`, { headers })).status
  }
  t.equal(await statusOf({ Cookie: 'session=1' }), 200)
  t.equal(await statusOf({ Cookie: 'session=1', Authorization: 'Basic YTpi' }), 200)
  t.equal(await statusOf({ Cookie: 'session=2' }), 401)
  t.equal(await statusOf({ Cookie: 'session=1', ...as('alice') }), 401)
})

t.test('a token that is refused is told so', async (t) => {
  for (const refusal of [null, undefined]) {
    const { url } = await serve(t, { authenticate: () => refusal })
    const reply = await send(`${url}/api/v1/cores`, { headers: as('stolen') })
    t.equal(reply.status, 401)
    t.equal(reply.headers['www-authenticate'], 'Bearer realm="lorekeep", error="invalid_token"')
  }
})

t.test('authenticate gets the token and the request, and may take its time', async (t) => {
  const seen: unknown[] = []
  const { url } = await serve(t, {
    authenticate: async (token, request) => {
      seen.push(token, request.headers['x-tenant'])
      await new Promise((resolve) => setTimeout(resolve, 10))
      return { user: 'alice' }
    },
  })
  for (const scheme of ['Bearer', 'bearer', 'BEARER  ']) {
    const headers = { Authorization: `${scheme} a.b-c_~+/|=`, 'X-Tenant': 'one' }
    t.equal((await send(`${url}/api/v1/cores`, { headers })).status, 200, scheme)
  }
  t.strictSame(seen, Array(3).fill(['a.b-c_~+/|=', 'one']).flat())
})

t.test('a principal of another shape is a programming mistake, and never let in', async (t) => {
  const misspelt = [
    { user: 'alice', collection: ['a'] },
    { user: 'alice', access: 'raed' },
  ]
  const users = [{}, { user: '' }, { user: 1 }, 'alice', true, false, 0, () => {}, ...misspelt]
  const lists = [null, 'a', {}, new Set(['a']), [''], [1], ['a', undefined], [['a']]]
  for (const principal of [
    ...users,
    ...lists.map((collections) => ({ user: 'alice', collections })),
  ]) {
    const { url, errors } = await serve(t, { authenticate: () => principal as Principal })
    const reply = await send(`${url}/api/v1/cores`, { headers: as('x') })
    t.equal(reply.status, 500, JSON.stringify(principal))
    t.match(errors, [TypeError])
  }
})

t.test('what authenticate throws is never our own answer', async (t) => {
  const thrown = new LorekeepError('LK_CORE_NOT_FOUND', 'in the database of tokens')
  const { url, errors } = await serve(t, { authenticate: () => Promise.reject(thrown) })
  const reply = await send(`${url}/api/v1/cores`, { headers: as('x') })
  t.equal(reply.status, 500)
  t.match(errors, [{ cause: thrown }])
})

t.test(
  'a user acts for itself alone, and gets the same answer for what is not there',
  async (t) => {
    const { url, knowledge } = await serve(t)
    await knowledge.import({ user: 'alice', id: 'x' }, core('x', 'alice'))
    for (const [method, path] of paths) {
      const refuse = async (user: string) => {
        const reply = await send(`${url}/api/v1${path}&user=${user}`, {
          method,
          headers: as('bob'),
        })
        const { requestId, ...rest } = json(reply)
        t.equal(reply.status, 403, `${method} ${path} ${user}`)
        t.equal(rest.code, 'LK_HTTP_FORBIDDEN')
        t.type(requestId, 'string')
        return rest
      }
      t.strictSame(await refuse('alice'), await refuse('nobody'))
      await refuse('*')
      await refuse('')
    }
    t.ok(await knowledge.stat({ user: 'alice', id: 'x' }))
  },
)

t.test('user may be left out where the token has one, and means its own', async (t) => {
  const { url, knowledge } = await serve(t)
  for (const user of ['', '&user=alice']) {
    const headers = as('alice')
    const body = core('x', 'alice')
    const imported = await send(`${url}/api/v1/import-core?id=x${user}`, {
      method: 'POST',
      headers,
      body,
    })
    t.equal(imported.status, 200)
    t.ok(await knowledge.stat({ user: 'alice', id: 'x' }))
    const exported = await send(`${url}/api/v1/export-core?id=x${user}`, { headers })
    t.ok(exported.body.equals(body))
    t.equal((await send(`${url}/api/v1/cores/x?${user}`, { headers })).status, 200)
    t.match(json(await send(`${url}/api/v1/cores?${user}`, { headers })), { cores: [{ id: 'x' }] })
    const deleted = await send(`${url}/api/v1/cores/x?${user}`, { method: 'DELETE', headers })
    t.equal(deleted.status, 204)
  }
})

t.test('who may act for anyone names the user', async (t) => {
  const admin = await serve(t)
  const open = await serve(t, { authenticate: 'none' })
  for (const [{ url, knowledge }, headers] of [
    [admin, as('admin')],
    [open, {}],
  ] as const) {
    await knowledge.import({ user: 'alice', id: 'x' }, core('x', 'alice'))
    for (const [method, path] of paths) {
      const reply = await send(`${url}/api/v1${path}`, { method, headers })
      t.equal(reply.status, 400, `${method} ${path}`)
      t.equal(json(reply).code, 'LK_HTTP_REQUEST')
    }
    t.equal((await send(`${url}/api/v1/cores/x?user=alice`, { headers })).status, 200)
    t.equal((await send(`${url}/api/v1/cores/x?user=bob`, { headers })).status, 404)
  }
})
