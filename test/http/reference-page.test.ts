// The page made of the document: everything is on it, nothing is loaded, and nothing said in a document is
// markup on the page.

import { createHash } from 'node:crypto'
import t from 'tap'
import { pageOf } from '../../src/http/openapi/page/page.js'
import { typeOf } from '../../src/http/openapi/page/type.js'
import type { JsonObject } from '../../src/types.js'
import { dereferenced } from './fixtures/dereferenced.js'
import { send, serve } from './fixtures/serving.js'

t.test('every operation and schema is on the page, which loads nothing', async (t) => {
  const { url } = await serve(t)
  const reply = await send(`${url}/api/v1/reference`)
  t.equal(reply.status, 200)
  const page = reply.body.toString()
  const { body } = await send(`${url}/api/v1/openapi.json`)
  const { paths, components } = dereferenced(JSON.parse(body.toString()) as JsonObject) as {
    paths: Record<string, Record<string, { operationId: string }>>
    components: { schemas: object }
  }
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  t.equal(new Set(ids).size, ids.length, 'each anchor is there once')
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  for (const { operationId } of operations) t.ok(ids.includes(operationId), operationId)
  for (const name of Object.keys(components.schemas)) t.ok(ids.includes(`schema-${name}`), name)
  for (const [, target = ''] of page.matchAll(/ href="#([^"]+)"/g))
    t.ok(ids.includes(target), target)

  const styles = [...page.matchAll(/<style>([^]*?)<\/style>/g)].map(([, style = '']) => style)
  const digest = createHash('sha256').update(styles.join('')).digest('base64')
  t.equal(
    reply.headers['content-security-policy'],
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  t.equal(styles.length, 1)
  t.notMatch(page, /<(?:script|img|link|iframe|object|embed|form|base|svg)\b/i)
  t.notMatch(page, / (?:style|src|on\w+)="/i)
  t.notMatch(styles.join(''), /@import|url\(/)
  for (const [, target = ''] of page.matchAll(/ href="([^#"][^"]*)"/g)) {
    t.equal(target, 'openapi.json', 'no link leads elsewhere')
  }
  t.equal((await send(`${url}/api/v1/reference`)).body.compare(reply.body), 0)
})

t.test('what a parameter may be is said in words', (t) => {
  const said: readonly [schema: JsonObject, words: string][] = [
    [{ type: 'string' }, ''],
    [{ type: 'string', minLength: 1 }, 'Not empty.'],
    [{ type: 'string', format: 'uri' }, 'uri.'],
    [{ type: 'string', pattern: '^a' }, 'As ^a.'],
    [{ type: 'string', enum: ['a', 'b', 'c'], default: 'b' }, 'a, b or c, b by default.'],
    [{ type: 'integer', minimum: 1, maximum: 9 }, 'Integer, from 1 to 9.'],
    [{ type: 'array', items: { type: 'string' } }, 'May be there several times.'],
    [
      { type: 'string', maxLength: 3 },
      '{&quot;type&quot;:&quot;string&quot;,&quot;maxLength&quot;:3}',
    ],
    [{ $ref: '#' }, '{&quot;$ref&quot;:&quot;#&quot;}'],
  ]
  for (const [schema, words] of said) {
    t.equal(typeOf(schema).text.replace(/<[^>]*>/g, ''), words, JSON.stringify(schema))
  }
  t.end()
})

t.test('operations of one group have names of their own', async (t) => {
  const { url } = await serve(t)
  const { body } = await send(`${url}/api/v1/openapi.json`)
  const { paths } = JSON.parse(body.toString()) as {
    paths: Record<string, Record<string, { tags: string[]; summary: string }>>
  }
  const names = Object.values(paths).flatMap((path) =>
    Object.entries(path)
      .filter(([method]) => method !== 'head')
      .map(([, { tags, summary }]) => `${tags.join()} ${summary}`),
  )
  t.strictSame(
    names.filter((name, n) => names.indexOf(name) !== n),
    [],
  )
})

t.test('what is said in a document is no markup, and no command', (t) => {
  const evil = `"><script>alert(1)</script>'\`<b>\`$(id)`
  const schema = { type: 'string', description: evil }
  const operation = {
    operationId: 'op',
    tags: ['a'],
    summary: evil,
    description: evil,
    parameters: [{ name: 'q', in: 'query', description: evil, schema, example: evil }],
    requestBody: { required: true, content: { 'application/json': { schema, example: evil } } },
    responses: { 200: { description: evil, headers: { 'X-A': { description: evil } } } },
  }
  const page = pageOf({
    info: { title: evil, summary: evil, description: evil },
    tags: [{ name: 'a', description: evil }],
    paths: { '/a': { post: operation } },
    components: { schemas: { A: schema } },
  })
  t.notMatch(page, /<script|<b>`|<b>\$/)
  t.ok((page.match(/&lt;script&gt;/g)?.length ?? 0) > 10)
  // In the shell a quote ends the text, and is put between two.
  t.match(page, /--data-binary &#39;&quot;&gt;.*alert\(1\)&lt;\/script&gt;&#39;\\&#39;&#39;/)
  t.end()
})
