import t from 'tap'
import { defineQuick, load, text } from '../fixtures/flows.js'
import { ask } from '../fixtures/objects.js'
import { as, serve } from '../fixtures/serving.js'

const admin = as('admin')

t.test('a flow is defined, shown, listed, redefined, stopped, started and removed', async (t) => {
  const serving = await serve(t)
  const made = await ask(serving, 'PUT /flows/mine', { concurrency: 2 }, admin)
  t.match(made, { status: 201, value: { id: 'mine', active: true, concurrency: 2 } })
  const five = ['chunk', 'embed', 'extract', 'store', 'index'].map((name) => ({ name }))
  t.strictSame(made.value['steps'], five)
  t.strictSame((await ask(serving, 'GET /flows/mine')).value, made.value)
  const all = await ask(serving, 'GET /flows')
  t.match(all, { status: 200, value: { flows: [{ id: 'default' }, made.value] } })

  const steps = [{ name: 'chunk', options: { size: 500 } }, 'extract', 'store']
  const redefined = await ask(serving, 'PUT /flows/mine', { id: 'mine', steps }, admin)
  t.match(redefined, { status: 200, value: { concurrency: 32, steps: { length: 3 } } })
  const same = await ask(serving, 'PUT /flows/mine', redefined.value, admin)
  t.strictSame(same.value, redefined.value, 'what is shown can be sent again')

  for (const [verb, active, status] of [
    ['stop', false, 409],
    ['start', true, 200],
  ] as const) {
    const changed = await ask(serving, `POST /flows/mine/${verb}`, undefined, admin)
    t.match(changed, { status: 200, value: { id: 'mine', active } })
    const loaded = await ask(serving, 'POST /flow/mine/service/text-load', text('a'))
    t.equal(loaded.status, status, verb)
  }
  const stats = { queued: 1, active: 0, delayed: 0, done: 0, dead: 0 }
  t.strictSame((await ask(serving, 'GET /flow/mine/stats', undefined, admin)).value, stats)

  const used = await ask(serving, 'DELETE /flows/mine', undefined, admin)
  t.match(used, { status: 409, value: { code: 'LK_FLOW_IN_USE', queued: 1 } })
  for await (const { id } of serving.flows.jobs({ flow: 'mine' })) await serving.flows.cancel(id)
  t.equal((await ask(serving, 'DELETE /flows/mine', undefined, admin)).status, 204)
  t.equal((await ask(serving, 'GET /flows/mine')).status, 404)
})

t.test('what is wrong with a flow is told', async (t) => {
  const serving = await serve(t)
  const cases = [
    ['PUT /flows/mine', { id: 'other' }, 400, 'LK_HTTP_REQUEST'],
    ['PUT /flows/mine', { id: null }, 400, 'LK_HTTP_REQUEST'],
    ['PUT /flows/mine', [], 400, 'LK_HTTP_JSON'],
    ['PUT /flows/mine', { steps: ['none'] }, 400, 'LK_FLOW_INVALID'],
    ['PUT /flows/mine', { steps: {} }, 400, 'LK_FLOW_INVALID'],
    ['PUT /flows/mine', { steps: [null] }, 400, 'LK_FLOW_INVALID'],
    ['PUT /flows/mine', { steps: [{ name: 'x', run: 'rm' }] }, 400, 'LK_FLOW_INVALID'],
    [
      'PUT /flows/mine',
      { steps: [{ name: 'embed', options: { sice: 1 } }] },
      400,
      'LK_FLOW_INVALID',
    ],
    ['PUT /flows/mine', '{"__proto__":{"steps":["none"]}}', 400, 'LK_FLOW_INVALID'],
    [`PUT /flows/${'x'.repeat(257)}`, {}, 400, 'LK_FLOW_INVALID'],
    ['GET /flows/none', undefined, 404, 'LK_FLOW_NOT_FOUND'],
    ['DELETE /flows/none', undefined, 404, 'LK_FLOW_NOT_FOUND'],
    ['POST /flows/none/start', undefined, 404, 'LK_FLOW_NOT_FOUND'],
    ['POST /flows/none/stop', undefined, 404, 'LK_FLOW_NOT_FOUND'],
    ['GET /flow/none/jobs', undefined, 404, 'LK_FLOW_NOT_FOUND'],
    ['GET /flow/none/events', undefined, 404, 'LK_FLOW_NOT_FOUND'],
    ['POST /flows', {}, 405, 'LK_HTTP_METHOD'],
  ] as const
  const before = await serving.flows.list()
  for (const [line, body, status, code] of cases) {
    const { value, ...reply } = await ask(serving, line, body, admin)
    t.match({ ...reply, code: value['code'] }, { status, code }, `${line} ${JSON.stringify(body)}`)
  }
  t.strictSame(await serving.flows.list(), before)
  const several = await ask(
    serving,
    'PUT /flows/mine',
    { steps: ['a', 'b'], maxAttempts: 0 },
    admin,
  )
  t.match(several.value['errors'], [
    { path: 'steps[0]' },
    { path: 'steps[1]' },
    { path: 'maxAttempts' },
  ])
  t.strictSame(serving.errors, [])
})

t.test('where texts and keys go is not for whoever has a token to say', async (t) => {
  const serving = await serve(t)
  const model = { type: 'openai', model: 'm' }
  for (const option of [{ url: 'http://evil.example/v1' }, { keyVariable: 'OTHER_API_KEY' }]) {
    for (const name of ['embed', 'extract', 'none']) {
      const steps = ['chunk', { name, options: { ...model, ...option } }]
      const refused = await ask(serving, 'PUT /flows/mine', { steps }, admin)
      t.match(refused, { status: 403, value: { code: 'LK_HTTP_FORBIDDEN' } })
    }
  }
  t.equal(await serving.flows.get('mine'), undefined)
  const steps = ['chunk', { name: 'extract', options: model }, 'store']
  t.equal((await ask(serving, 'PUT /flows/mine', { steps }, admin)).status, 201)
})

t.test('only a token for every user and collection changes flows', async (t) => {
  const principals: Readonly<Record<string, { user: string; collections?: readonly string[] }>> = {
    any: { user: '*' },
    'any-in-a': { user: '*', collections: ['a'] },
    alice: { user: 'alice' },
  }
  const lines = [
    ['PUT /flows/default', {}, 200],
    ['PUT /flows/new', {}, 201],
    ['POST /flows/default/stop', undefined, 200],
    ['POST /flows/default/start', undefined, 200],
    ['DELETE /flows/default', undefined, 204],
    ['DELETE /flows/none', undefined, 404],
  ] as const
  for (const name of Object.keys(principals)) {
    const serving = await serve(t, { authenticate: (token = '') => principals[token] })
    const before = await serving.flows.list()
    for (const [line, body, status] of lines) {
      const reply = await ask(serving, line, body, as(name))
      t.equal(reply.status, name === 'any' ? status : 403, `${name}: ${line}`)
    }
    if (name !== 'any') t.strictSame(await serving.flows.list(), before)
    const stats = await ask(serving, 'GET /flow/default/stats', undefined, as(name))
    t.equal(stats.status, name === 'any' ? 404 : 403)
    for (const line of ['GET /flows', 'GET /flows/default']) {
      const there = name !== 'any' || line === 'GET /flows'
      t.equal((await ask(serving, line, undefined, as(name))).status, there ? 200 : 404, line)
    }
  }
})

t.test('every route for flows wants a token', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const job = `/flow/quick/jobs/${await load(serving, text('a'))}`
  for (const line of [
    'POST /flow/quick/service/text-load',
    'GET /flows',
    'GET /flows/quick',
    'PUT /flows/quick',
    'DELETE /flows/quick',
    'POST /flows/quick/start',
    'POST /flows/quick/stop',
    'GET /flow/quick/stats',
    'GET /flow/quick/jobs',
    `GET ${job}`,
    `DELETE ${job}`,
    `POST ${job}/retry`,
    'GET /flow/quick/documents/a',
    'DELETE /flow/quick/documents/a',
    'GET /flow/quick/events',
  ]) {
    t.equal((await ask(serving, line, undefined, {})).status, 401, line)
  }
})
