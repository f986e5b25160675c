import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { hasCode } from '../../src/errors.js'
import { aText, aWord, limit } from '../../src/http/parameters.js'
import { parsePairs, parseQuery, pathOf } from '../../src/http/target.js'
import { as, core, importHead, json, send, serve, wire } from './fixtures/serving.js'

// Both read nothing else of a request.
const at = (url: string, originalUrl?: string) =>
  ({ url, originalUrl }) as unknown as IncomingMessage

t.test('the path is what stands before the query, whatever the mount', async (t) => {
  const cases: [string, string | undefined, string][] = [
    ['/api/v1/cores?x=1', undefined, '/api/v1/cores'],
    ['http://host:80/api/v1/cores?x', undefined, '/api/v1/cores'],
    ['HTTPS://host?x', undefined, ''],
    ['*', undefined, '*'],
    ['/api/v1/cores', '/api/v1/cores', '/api/v1/cores'],
    ['/api/v1/cores?x', '/mount/api/v1/cores?x', '/api/v1/cores'],
    ['/cores?x', '/api/v1/cores?x', '/api/v1/cores'],
    ['/cores?x', '/deep/api/v1/cores?x', '/api/v1/cores'],
    ['/cores', '/other/cores', '/cores'],
    ['/cores', '/cores?/api/v1/cores', '/cores'],
  ]
  for (const [url, originalUrl, path] of cases) {
    t.equal(pathOf(at(url, originalUrl), '/api/v1'), path, `${url} ${originalUrl}`)
  }
})

t.test('a query is percent-encoded UTF-8 with plus for a space', async (t) => {
  const names = Object.fromEntries([...'abcdef'].map((name) => [name, aText('')]))
  const query = parseQuery('a=1&b=a+b%2Bc&&c&d=&e=%C3%A9=1&%66=g', names)
  t.strictSame(
    [...query],
    [
      ['a', '1'],
      ['b', 'a b+c'],
      ['c', ''],
      ['d', ''],
      ['e', 'é=1'],
      ['f', 'g'],
    ],
  )
  t.strictSame([...parseQuery('')], [])
  for (const bad of ['a=%', 'a=%zz', 'a=%ff', 'a=%ed%a0%80', 'a=1&a=1', 'a&%61']) {
    t.throws(() => parseQuery(bad, names), { code: 'LK_HTTP_REQUEST' }, bad)
  }
})

t.test('all that is wrong with a query is told at once', (t) => {
  const id = { ...aText(''), required: true } as const
  const core = { ...aText(''), repeatable: true } as const
  const parameters = { id, core, limit, mode: aWord('', 'append', 'replace') }
  const pathsOf = (text: string) => {
    try {
      parseQuery(text, parameters)
      return []
    } catch (error) {
      if (!hasCode(error, 'LK_HTTP_REQUEST')) throw error
      return (error.details.errors as { path: string }[]).map(({ path }) => path)
    }
  }
  t.strictSame(pathsOf('id=a&core=b&core=c&limit=1&mode=append'), [])
  const all = 'limit=x&foo=1&mode=y&core=a&core=b&mode=z&mode=z&toString=1'
  t.strictSame(pathsOf(all), ['limit', 'foo', 'mode', 'toString', 'mode', 'id'])
  t.strictSame(pathsOf(''), ['id'])
  t.end()
})

t.test('an import and a listing name all their parameters that are wrong', async (t) => {
  const { url } = await serve(t)
  const wrong = async (method: string, path: string) => {
    const reply = await send(`${url}/api/v1/${path}`, { method, headers: as('alice') })
    t.equal(reply.status, 400, path)
    return (json(reply).errors as { path: string }[]).map(({ path }) => path)
  }
  t.strictSame(await wrong('POST', 'import-core?mode=foo&index=maybe'), ['mode', 'index', 'id'])
  const listed = await wrong('GET', 'cores?limit=x&createdFrom=zz&foo=1')
  t.strictSame(listed, ['limit', 'createdFrom', 'foo'])
  const jobs = await wrong('GET', 'jobs?state=foo&limit=0&order=up')
  t.strictSame(jobs, ['state', 'limit', 'order'])
})

t.test('an id is the same core in a query and in a path', async (t) => {
  const { url, knowledge } = await serve(t)
  const ids = ['https://schema.org/30.0', 'a+b c', '100%', 'ünï/ï', '\u{1F600}', '?&=#', '{id}']
  for (const id of ids) {
    const query = new URLSearchParams({ id, user: 'alice' })
    const body = core(id, 'alice')
    const imported = await send(`${url}/api/v1/import-core?${query}`, {
      method: 'POST',
      headers: as('alice'),
      body,
    })
    t.equal(imported.status, 200, id)
    t.ok(await knowledge.stat({ user: 'alice', id }))
    const shown = await send(`${url}/api/v1/cores/${encodeURIComponent(id)}`, {
      headers: as('alice'),
    })
    t.equal(json(shown).id, id)
  }
})

t.test('a path part that is not percent-encoded UTF-8 is refused', async (t) => {
  const { url, port } = await serve(t)
  for (const part of ['%', '%ff', 'a%zz']) {
    const reply = await send(`${url}/api/v1/cores/${part}`, { headers: as('alice') })
    t.equal(reply.status, 400, part)
    t.equal(json(reply).code, 'LK_HTTP_REQUEST')
  }
  const { socket, ended } = await wire(t, port)
  socket.write(Buffer.from(importHead('x', 0).replace('id=x', 'id=é')))
  t.match(await ended(), /^HTTP\/1.1 400 /)
})

t.test('there are so many parameters at the most', (t) => {
  t.equal(parsePairs('a=&'.repeat(4999)).length, 4999)
  t.throws(() => parsePairs('a=&'.repeat(5000)), { code: 'LK_HTTP_REQUEST' })
  t.end()
})
