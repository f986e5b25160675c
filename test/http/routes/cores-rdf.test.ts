import t from 'tap'
import { decodeMulti } from '@msgpack/msgpack'
import { as, core, json, send, serve } from '../fixtures/serving.js'
import type { Serving } from '../fixtures/serving.js'

const text = `@prefix ex: <http://example.org/> .
ex:ishmael ex:name "Ishmael"@en ; ex:age 30 .
`
const extras = { statements: 2, datatypes: 1, languages: 1, directions: 0, graphs: 0 }

async function upload(
  { url }: Serving,
  body: string,
  query: Record<string, string> = {},
  type = 'text/turtle',
) {
  const parameters = new URLSearchParams({ id: 'x', ...query })
  return send(`${url}/api/v1/import-core?${parameters}`, {
    method: 'POST',
    headers: { ...as('alice'), 'Content-Type': type },
    body: Buffer.from(body),
  })
}

async function download({ url }: Serving, accept?: string, method = 'GET') {
  return send(`${url}/api/v1/export-core?id=x`, {
    method,
    headers: { ...as('alice'), ...(accept !== undefined && { Accept: accept }) },
  })
}

t.test('a body of RDF becomes a core, by its Content-Type', async (t) => {
  const line = '<http://example.org/a> <http://example.org/b> "c" .\n'
  for (const [type, body, triples] of [
    ['text/turtle; charset="UTF-8"', text, 2],
    ['Application/N-Triples', line, 1],
    ['application/n-quads', line, 1],
    ['application/trig', `<urn:g> { ${line} }`, 1],
  ] as const) {
    const reply = await upload(await serve(t), body, {}, type)
    t.equal(reply.status, 200, type)
    t.match(json(reply), { triples, duplicate: false })
  }
  t.equal((await upload(await serve(t), text, {}, 'application/octet-stream')).status, 400)
})

t.test('loss, base and collection say how', async (t) => {
  const serving = await serve(t)
  t.match(json(await upload(serving, text)), { triples: 2, kept: extras })
  const dropped = await upload(serving, text, { loss: 'drop', mode: 'replace' })
  t.match(json(dropped), { triples: 2, lost: extras })
  const again = await upload(serving, text, { loss: 'drop' })
  t.match(json(again), { triples: 2, duplicate: true })
  const kept = await upload(serving, text, { loss: 'reify', mode: 'replace', collection: 'shelf' })
  t.match(json(kept), { triples: 12, reified: extras })
  const { body } = await download(serving)
  const [message] = [...decodeMulti(body)] as [string, { m: { c: string; i: string } }][]
  t.match(message?.[1].m, { c: 'shelf', i: 'x', u: 'alice' })

  const refused = await upload(serving, text, { loss: 'refuse', mode: 'replace' })
  t.equal(refused.status, 422)
  t.match(json(refused), { code: 'LK_RDF_LOSS', ...extras })
  const relative = await upload(serving, '<a> <b> <c> .', { base: 'urn:x/', mode: 'replace' })
  t.equal(relative.status, 200)
  t.match((await download(serving, 'application/n-triples')).body.toString(), '<urn:x/a>')
})

t.test('what is wrong with it is a 400, and leaves nothing', async (t) => {
  const serving = await serve(t)
  for (const [body, query, type, code] of [
    ['<a', {}, 'text/turtle', 'LK_RDF_FORMAT'],
    [text, { loss: 'all' }, 'text/turtle', 'LK_HTTP_REQUEST'],
    [text, { base: '/a' }, 'text/turtle', 'LK_HTTP_REQUEST'],
    [text, {}, 'text/turtle; charset=latin1', 'LK_HTTP_REQUEST'],
  ] as const) {
    const reply = await upload(serving, body, query, type)
    t.equal(reply.status, 400)
    t.equal(json(reply).code, code)
  }
  t.equal((await download(serving)).status, 404)
})

t.test('a core is exported in the format that the client likes best', async (t) => {
  const serving = await serve(t)
  await upload(serving, text, { loss: 'reify' })
  for (const [accept, type] of [
    [undefined, 'application/octet-stream'],
    ['*/*', 'application/octet-stream'],
    ['text/html, */*;q=0.8', 'application/octet-stream'],
    ['application/octet-stream;q=0.1, text/turtle;q=0.2', 'text/turtle; charset=utf-8'],
    ['text/*', 'text/turtle; charset=utf-8'],
    ['application/n-triples', 'application/n-triples'],
    ['application/trig, application/n-quads;q=0.9', 'application/trig'],
    ['application/n-quads', 'application/n-quads'],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, body } = await download(serving, accept, method)
      t.equal(status, 200)
      t.equal(headers['content-type'], type, accept ?? 'nothing')
      t.equal(headers.vary, 'Accept-Encoding, Authorization, Accept')
      if (method === 'HEAD') t.equal(body.byteLength, 0)
      else if (type !== 'application/octet-stream') t.match(body.toString(), '"Ishmael"@en')
    }
  }
  const nothing = await download(serving, 'application/rdf+xml, */*;q=0')
  t.equal(nothing.status, 406)
  t.equal(json(nothing).code, 'LK_HTTP_NOT_ACCEPTABLE')
})

t.test('of a core that is not there, there is no RDF either', async (t) => {
  const serving = await serve(t)
  for (const method of ['GET', 'HEAD']) {
    t.equal((await download(serving, 'text/turtle', method)).status, 404)
  }
  await serving.knowledge.import({ user: 'alice', id: 'x' }, core('x', 'alice'))
  const { body } = await download(serving, 'text/turtle')
  t.equal(body.toString().match(/round/g)?.length, 2)
})
