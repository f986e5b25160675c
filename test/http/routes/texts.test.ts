import { createServer } from 'node:http'
import t from 'tap'
import { createHandler } from '../../../src/http/index.js'
import { ask } from '../fixtures/objects.js'
import { defineQuick, end, load, loadPath, run, text } from '../fixtures/flows.js'
import { as, json, listen, openStore, send, serve } from '../fixtures/serving.js'

const base64 = (text: string, encoding?: BufferEncoding) =>
  Buffer.from(text, encoding).toString('base64')

t.test(
  'a document that is accepted is answered with no body, and says which job it is',
  async (t) => {
    const serving = await serve(t)
    await defineQuick(serving)
    const reply = await ask(serving, `POST ${loadPath}`, text('a/b'))
    t.equal(reply.status, 200)
    t.equal(reply.body.byteLength, 0)
    t.equal(reply.headers['content-length'], '0')
    t.notOk('content-type' in reply.headers)
    const id = String(reply.headers['lorekeep-job'])
    t.match(await serving.flows.job(id), {
      flow: 'quick',
      user: 'alice',
      document: 'a/b',
      collection: 'default',
      state: 'queued',
    })
    const place = new URL(reply.headers.location ?? '', `${serving.url}/api/v1${loadPath}`)
    t.match(json(await send(place.href, { headers: as('alice') })), { id })
  },
)

t.test('clients that insist on JSON get it', async (t) => {
  const serving = await serve(t, { compat: { emptyJson: true } })
  await defineQuick(serving)
  const reply = await ask(serving, `POST ${loadPath}`, text('a'))
  t.equal(reply.status, 200)
  t.equal(reply.body.toString(), '{}')
  t.equal(reply.headers['content-type'], 'application/json')
  t.ok(await serving.flows.job(String(reply.headers['lorekeep-job'])))
})

t.test('whose a document is', async (t) => {
  const serving = await serve(t, {
    stores: { defaultUser: 'nobody' },
    authenticate: (token = '') =>
      JSON.parse(Buffer.from(token, 'base64').toString()) as { user: string },
  })
  await defineQuick(serving)
  const cases = [
    [{ user: 'alice' }, {}, 'alice'],
    [{ user: 'alice' }, { user: 'alice' }, 'alice'],
    [{ user: 'alice' }, { user: 'bob' }, 403],
    [{ user: 'alice' }, { user: '*' }, 403],
    [{ user: 'alice' }, { user: 7 }, 400],
    [{ user: 'alice' }, { user: null }, 'alice'],
    [{ user: '*' }, { user: null }, 'nobody'],
    [{ user: 'alice', collections: ['a'] }, { collection: null }, 403],
    [{ user: 'alice' }, { user: '' }, 400],
    [{ user: '*' }, {}, 'nobody'],
    [{ user: '*' }, { user: 'bob' }, 'bob'],
    [{ user: 'alice', collections: ['a'] }, {}, 403],
    [{ user: 'alice', collections: ['a'] }, { collection: 'b' }, 403],
    [{ user: 'alice', collections: ['a'] }, { collection: 'a' }, 'alice'],
    [{ user: 'alice', collections: ['a'] }, { collection: ['a'] }, 400],
    [{ user: 'alice', collections: ['default'] }, {}, 'alice'],
    [{ user: '*', collections: ['a'] }, {}, 403],
    [{ user: '*', collections: ['a'] }, { collection: 'a', user: 'bob' }, 'bob'],
  ] as const
  for (const [n, [principal, fields, expected]] of cases.entries()) {
    const name = `${JSON.stringify(principal)} ${JSON.stringify(fields)}`
    const headers = as(base64(JSON.stringify(principal)))
    const before = await serving.flows.stats('quick')
    const reply = await ask(serving, `POST ${loadPath}`, text(`d${n}`, fields), headers)
    if (typeof expected === 'number') {
      t.equal(reply.status, expected, name)
      t.strictSame(await serving.flows.stats('quick'), before, name)
    } else {
      t.equal(reply.status, 200, name)
      const job = await serving.flows.job(String(reply.headers['lorekeep-job']))
      t.equal(job?.user, expected, name)
    }
  }
})

t.test('what a document became is replaced only where it is for the token to touch', async (t) => {
  const serving = await serve(t, {
    authenticate: (token = '') => {
      const [user = '', ...collections] = token.split('-')
      return { user, ...(collections.length > 0 && { collections }) }
    },
  })
  await defineQuick(serving, (id) => (id === 'slow' ? new Promise(() => {}) : null))
  const into = (id: string, collection: string) => text(id, { collection })
  const status = async (document: object, token: string, path = loadPath) =>
    (await ask(serving, `POST ${path}`, document, as(token))).status
  // Known by what is left of it: its job has gone with its flow.
  await serving.flows.define({ id: 'past', steps: [{ name: 'only', run: () => null }] })
  const runner = run(t, serving)
  const past = '/flow/past/service/text-load'
  await end(serving, await load(serving, into('done', 'a'), 'alice', past))
  await runner.stop()
  await serving.flows.remove('past')
  // Known by its job alone.
  await load(serving, into('slow', 'a'))
  run(t, serving)
  await serving.flows.define({ id: 'other' })
  const other = '/flow/other/service/text-load'
  for (const id of ['slow', 'done']) {
    for (const path of [loadPath, other]) {
      t.equal(await status(into(id, 'b'), 'alice-b', path), 403, id)
      t.equal(await status(into(id, 'b'), 'alice-b-c', path), 403, id)
    }
    const { jobs } = (await serving.flows.document({ user: 'alice', document: id })) ?? {}
    t.equal(jobs?.length, id === 'slow' ? 1 : 0, 'nothing was loaded')
    // Another user's document of that name is another document.
    t.equal(await status(into(id, 'b'), 'bob-b'), 200, id)
    t.equal(await status({ ...into(id, 'b'), user: 'alice' }, '*-b'), 403, id)
    t.equal(await status(into(id, 'a'), 'alice-a'), 200, id)
    t.equal(await status(into(id, 'b'), 'alice-a-b'), 200, id)
    t.equal(await status(into(id, 'b'), 'alice'), 200, id)
  }
  t.equal(await status(into('new', 'b'), 'alice-b'), 200)
  for (const id of ['', '\ud800', 7]) {
    t.equal(await status({ ...into('x', 'b'), id }, 'alice-b'), 400, JSON.stringify(id))
  }
})

t.test('each thing that is wrong has its status, and leaves the queue as it was', async (t) => {
  const serving = await serve(t, { stores: { limits: { maxTextBytes: 1000 } } })
  await defineQuick(serving)
  await serving.flows.define({ id: 'idle', active: false })
  await serving.flows.define({ id: 'full', maxQueued: 1 })
  await load(serving, text('first'), 'alice', '/flow/full/service/text-load')
  const stats = async () => {
    const flows = await serving.flows.list()
    return Promise.all(flows.map(({ id }) => serving.flows.stats(id)))
  }
  const before = await stats()
  const term = { v: 'urn:a', e: true }
  const triple = { s: term, p: term, o: term }
  const invalid = [400, 'LK_DOCUMENT_INVALID'] as const
  const cases: readonly (readonly [string, unknown, number, string, string?])[] = [
    ['no id', { text: base64('x') }, ...invalid, 'id'],
    ['an empty id', text(''), ...invalid, 'id'],
    ['an id that is a number', { id: 7, text: '' }, ...invalid, 'id'],
    ['half a surrogate pair in the id', '{"id":"\\ud800","text":""}', ...invalid, 'id'],
    ['an id that is too long', text('x'.repeat(1025)), ...invalid, 'id'],
    ['no text', { id: 'a' }, ...invalid, 'text'],
    ['a text that is null', { id: 'a', text: null }, ...invalid, 'text'],
    ['a plain text', { id: 'a', text: 'It was a dark night.' }, ...invalid, 'text'],
    ['a data URL', { id: 'a', text: 'data:text/plain;base64,QQ==' }, ...invalid, 'text'],
    ['base64url', { id: 'a', text: '-_-_' }, ...invalid, 'text'],
    ['no padding', { id: 'a', text: 'QQ' }, ...invalid, 'text'],
    ['a character too many', { id: 'a', text: 'QUJDR' }, ...invalid, 'text'],
    ['no such charset', text('a', { charset: 'utf-9' }), ...invalid, 'charset'],
    ['another charset', { id: 'a', text: base64('ff', 'hex') }, ...invalid, 'text'],
    ['metadata that is no list', text('a', { metadata: {} }), ...invalid, 'metadata'],
    [
      'a triple without o',
      text('a', { metadata: [triple, { s: term, p: term }] }),
      ...invalid,
      'metadata[1].o',
    ],
    [
      'a term that is a string',
      text('a', { metadata: [{ ...triple, s: 'x' }] }),
      ...invalid,
      'metadata[0].s',
    ],
    [
      '10,000 triples',
      text('a', { metadata: Array(10_000).fill(triple) }),
      413,
      'LK_DOCUMENT_TOO_LARGE',
    ],
    ['a long text', { id: 'a', text: base64('x'.repeat(1001)) }, 413, 'LK_DOCUMENT_TOO_LARGE'],
    ['an empty collection', text('a', { collection: '' }), ...invalid, 'collection'],
    ['an unknown member', text('a', { titel: 'x' }), ...invalid, 'titel'],
    ['a list', [text('a')], 400, 'LK_HTTP_JSON'],
    ['no JSON', 'id=a', 400, 'LK_HTTP_JSON'],
    ['an id twice', '{"id":"a","id":"b","text":""}', 400, 'LK_HTTP_JSON'],
  ]
  for (const [name, body, status, code, path] of cases) {
    const { value, ...reply } = await ask(serving, `POST ${loadPath}`, body)
    t.match({ ...reply, code: value['code'] }, { status, code }, name)
    if (path !== undefined) t.match(value['errors'], [{ path, message: String }], name)
    t.notOk('lorekeep-job' in reply.headers, name)
  }
  for (const [flow, status, code] of [
    ['none', 404, 'LK_FLOW_NOT_FOUND'],
    ['idle', 409, 'LK_FLOW_INACTIVE'],
    ['full', 503, 'LK_FLOW_FULL'],
  ] as const) {
    const reply = await ask(serving, `POST /flow/${flow}/service/text-load`, text('a'))
    t.match(reply, { status, value: { code } }, flow)
    t.equal('retry-after' in reply.headers, status === 503, flow)
  }
  t.strictSame(await stats(), before)
  const full = await ask(serving, 'POST /flow/full/service/text-load', text('a'))
  t.match(full.value, { flow: 'full', maxQueued: 1, errors: [{ maxQueued: 1 }] })
  t.match(serving.errors, [{ code: 'LK_FLOW_FULL' }, { code: 'LK_FLOW_FULL' }])
})

t.test('the longest text there may be fits into the body there may be', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  // In lines, as base64(1) writes it, each of whose ends JSON makes two characters longer.
  const lines = Buffer.alloc(10 * 1024 ** 2, 'x')
    .toString('base64')
    .replace(/.{76}/g, '$&\r\n')
  await t.resolves(load(serving, { id: 'long', text: lines }))
})

t.test('Location leads to the job under a mount', async (t) => {
  const { flows } = await openStore(t)
  await defineQuick({ flows })
  const handler = createHandler({ flows, authenticate: 'none' })
  const server = createServer((request, response) => {
    request.url = request.url?.replace('/deep', '')
    void handler(request, response)
  })
  const target = `http://127.0.0.1:${await listen(t, server)}/deep/api/v1${loadPath}`
  const body = Buffer.from(JSON.stringify(text('a')))
  const { headers } = await send(target, { method: 'POST', body })
  const job = await send(new URL(headers.location ?? '', target).href)
  t.match(json(job), { document: 'a' })
})

t.test('a text becomes a core that is exported and imported elsewhere', async (t) => {
  const [serving, elsewhere] = [await serve(t), await serve(t)]
  const id = 'https://example.com/visit'
  const document = {
    id,
    text: base64('Alice Walker met Robert Moses in London. London lies on the Thames.'),
    title: 'A visit to London',
  }
  run(t, serving)
  const job = await load(serving, document, 'alice', '/flow/default/service/text-load')
  t.match(await end(serving, job), { state: 'done' })
  const query = new URLSearchParams({ id })
  const exported = await send(`${serving.url}/api/v1/export-core?${query}`, {
    headers: as('alice'),
  })
  t.equal(exported.status, 200)
  t.ok(exported.body.includes('http://trustgraph.ai/e/london'))
  t.ok(exported.body.includes('A visit to London'))
  const imported = await ask(elsewhere, `POST /import-core?${query}`, exported.body)
  t.match(imported, { status: 200, value: { duplicate: false } })
  const again = await send(`${elsewhere.url}/api/v1/export-core?${query}`, { headers: as('alice') })
  t.ok(again.body.equals(exported.body))
  const path = `/flow/default/documents/${encodeURIComponent(id)}`
  t.match((await ask(serving, `GET ${path}`)).value, {
    core: { id, bytes: exported.body.byteLength },
  })
})

t.test('a document of newer clients names a workspace and has typed terms', async (t) => {
  const serving = await serve(t, { stores: { defaultUser: 'nobody' } })
  await defineQuick(serving)
  const loaded = async (body: object, token = 'alice') => {
    const reply = await ask(serving, `POST ${loadPath}`, { ...text('a'), ...body }, as(token))
    const id = reply.headers['lorekeep-job']
    return id === undefined ? reply.status : (await serving.flows.job(String(id)))?.user
  }
  t.equal(await loaded({ workspace: 'default' }), 'alice')
  t.equal(await loaded({ workspace: 'alice' }), 'alice')
  t.equal(await loaded({ workspace: 'bob' }), 403)
  t.equal(await loaded({ workspace: 'default' }, 'admin'), 'nobody')
  t.equal(await loaded({ workspace: 'bob' }, 'admin'), 'bob')
  const term = (i: string) => ({ t: 'i', i })
  const label = { s: term('urn:a'), p: term('urn:label'), o: { t: 'l', v: 'A' } }
  t.equal(await loaded({ metadata: [label] }), 'alice')
  t.equal(await loaded({ metadata: [{ ...label, s: { t: 't' } }] }), 400)
})
