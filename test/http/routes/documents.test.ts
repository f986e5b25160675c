import t from 'tap'
import { createServer } from 'node:http'
import { createHandler } from '../../../src/http/index.js'
import { defineQuick, end, load, run, text } from '../fixtures/flows.js'
import { ask } from '../fixtures/objects.js'
import { as, listen, serve } from '../fixtures/serving.js'

const defaultLoad = '/flow/default/service/text-load'

t.test('what became of a document is told, and deleted', async (t) => {
  const serving = await serve(t)
  run(t, serving)
  const content = 'Alice Walker met Robert Moses in London.'
  const document = { id: 'urn:a/b', content, collection: 'shelf' }
  const job = await load(serving, document, 'alice', defaultLoad)
  const path = '/flow/default/documents/urn%3Aa%2Fb'
  t.match(await ask(serving, `GET ${path}`), { status: 200, value: { jobs: [{ id: job }] } })
  await end(serving, job)
  const shown = await ask(serving, `GET ${path}`)
  t.match(shown.value, {
    user: 'alice',
    document: 'urn:a/b',
    jobs: [{ id: job, state: 'done' }],
    completed: { job, flow: 'default' },
    core: { id: 'urn:a/b', user: 'alice' },
  })
  t.match(await serving.objects.collections(), [{ name: 'shelf' }])

  const handler = createHandler({ flows: serving.flows, authenticate: 'none' })
  const url = `http://127.0.0.1:${await listen(
    t,
    createServer((request, response) => void handler(request, response)),
  )}`
  const without = await ask({ url }, `GET ${path}?user=alice`)
  t.equal(without.status, 200)
  t.notOk('core' in without.value, 'of a store that is not mounted nothing is told')

  t.match(await ask(serving, `DELETE ${path}`, undefined, as('bob')), { status: 404 })
  t.equal((await ask(serving, `DELETE ${path}`)).status, 204)
  t.equal(await serving.knowledge.stat({ user: 'alice', id: 'urn:a/b' }), undefined)
  for (const method of ['GET', 'DELETE']) {
    const gone = await ask(serving, `${method} ${path}`)
    t.match(gone, { status: 404, value: { code: 'LK_DOCUMENT_NOT_FOUND' } }, method)
    const { value } = await ask(serving, `${method} /documents/nope`)
    t.match(value, { document: 'nope', detail: /no flow has 'nope'/ }, method)
  }
})

t.test('a document is one of the flows that it was loaded into', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const [first, second] = [
    await load(serving, text('a')),
    await load(serving, text('a'), 'alice', defaultLoad),
  ]
  for (const [flow, id] of [
    ['quick', first],
    ['default', second],
  ] as const) {
    const { value } = await ask(serving, `GET /flow/${flow}/documents/a`)
    t.match(value, { jobs: [{ id }] })
    t.equal((value['jobs'] as unknown[]).length, 1)
  }
  await serving.flows.define({ id: 'other' })
  for (const line of ['GET /flow/other/documents/a', 'DELETE /flow/none/documents/a']) {
    t.match(
      await ask(serving, line),
      { status: 404, value: { code: 'LK_DOCUMENT_NOT_FOUND' } },
      line,
    )
  }
  t.ok(await serving.flows.job(first))
})

t.test('a core that was imported is not deleted as a document', async (t) => {
  const serving = await serve(t)
  const ref = { user: 'alice', id: 'mine' }
  await serving.knowledge.write(ref, [])
  t.match(await ask(serving, 'DELETE /flow/default/documents/mine'), { status: 404 })
  t.ok(await serving.knowledge.stat(ref))
})

t.test('who may see and delete documents', async (t) => {
  const principals: Readonly<Record<string, { user: string; collections?: readonly string[] }>> = {
    alice: { user: 'alice' },
    bob: { user: 'bob' },
    any: { user: '*' },
    'alice-in-a': { user: 'alice', collections: ['a'] },
    'alice-in-b': { user: 'alice', collections: ['b'] },
    'alice-in-c': { user: 'alice', collections: ['c'] },
    'alice-in-ab': { user: 'alice', collections: ['a', 'b'] },
  }
  const serving = await serve(t, { authenticate: (token = '') => principals[token] })
  await defineQuick(serving)
  const inA = await load(serving, text('x', { collection: 'a' }))
  const runner = run(t, serving)
  await end(serving, inA)
  await runner.stop()
  const inB = await load(serving, text('x', { collection: 'b' }))
  const rows = [
    ['alice', '', [inB, inA], true],
    ['any', '?user=alice', [inB, inA], true],
    ['alice-in-ab', '', [inB, inA], true],
    ['alice-in-a', '', [inA], true],
    ['alice-in-b', '', [inB], false],
  ] as const
  for (const [name, query, jobs, isCompleted] of rows) {
    const { value } = await ask(serving, `GET /flow/quick/documents/x${query}`, undefined, as(name))
    const shown = value['jobs'] as { id: string }[]
    t.strictSame(
      shown.map(({ id }) => id),
      jobs,
      name,
    )
    t.equal('completed' in value, isCompleted, name)
  }
  const refused = [
    ['bob', '', 404],
    ['bob', '?user=alice', 403],
    ['any', '', 400],
    ['alice-in-c', '', 404],
  ] as const
  for (const [name, query, status] of refused) {
    for (const method of ['GET', 'DELETE']) {
      const line = `${method} /flow/quick/documents/x${query}`
      t.equal((await ask(serving, line, undefined, as(name))).status, status, `${name}: ${line}`)
    }
  }
  for (const [name, status] of [
    ['alice-in-a', 403],
    ['alice-in-b', 403],
    ['alice-in-ab', 204],
  ] as const) {
    const reply = await ask(serving, 'DELETE /flow/quick/documents/x', undefined, as(name))
    t.equal(reply.status, status, name)
    t.equal((await serving.flows.job(inA)) === undefined, status === 204)
  }
})

t.test(
  'knowledge in a collection that nothing on record tells is not for some to delete',
  async (t) => {
    const serving = await serve(t, {
      authenticate: (user = '') => ({ user, ...(user === 'bob' && { collections: ['b'] }) }),
    })
    await defineQuick(serving)
    await serving.flows.define({ id: 'past', steps: [{ name: 'only', run: () => null }] })
    const runner = run(t, serving)
    const past = '/flow/past/service/text-load'
    await end(serving, await load(serving, text('x', { user: 'bob' }), '*', past))
    await runner.stop()
    await serving.flows.remove('past')
    await load(serving, text('x', { user: 'bob', collection: 'b' }), '*')
    const line = 'DELETE /flow/quick/documents/x'
    t.equal((await ask(serving, line, undefined, as('bob'))).status, 403)
    t.equal((await ask(serving, `${line}?user=bob`, undefined, as('*'))).status, 204)
  },
)

t.test('documents that are done are listed page by page, as far as one may see', async (t) => {
  const authenticate = (token = '') => {
    if (token === 'shelf') return { user: 'alice', collections: ['shelf'] }
    return token === 'none' ? null : { user: token === 'admin' ? '*' : token }
  }
  const serving = await serve(t, { authenticate })
  await defineQuick(serving)
  for (const [id, collection] of [
    ['c', 'shelf'],
    ['a', 'shelf'],
    ['b', 'shop'],
    ['d', 'shelf'],
  ]) {
    await load(serving, { ...text(String(id)), collection })
  }
  await load(serving, text('b'), 'bob')
  t.match(await ask(serving, 'GET /documents'), { status: 200, value: { documents: [] } })
  run(t, serving)
  let left = 5
  for await (const { type } of serving.flows.watch()) if (type === 'done' && --left === 0) break

  const list = async (query: string, token = 'alice') => {
    const { value } = await ask(serving, `GET /documents${query}`, undefined, as(token))
    const { documents, next } = value as { documents: { document: string }[]; next?: string }
    return [documents.map(({ document }) => document).join(), next]
  }
  t.strictSame(await list(''), ['a,b,c,d', undefined])
  const [found, next] = await list('?limit=2')
  t.equal(found, 'a,b')
  t.strictSame(await list(`?limit=2&after=${next}`), ['c,d', undefined])
  t.equal((await list('?limit=2', 'shelf'))[0], 'a,c')
  t.strictSame(await list('?prefix=c'), ['c', undefined])
  t.strictSame(await list('?collection=shop&flow=quick'), ['b', undefined])
  t.strictSame(await list('?completedTo=2020-01-01'), ['', undefined])
  t.strictSame(await list('', 'bob'), ['b', undefined])
  t.strictSame(await list('?user=bob', 'admin'), ['b', undefined])
  t.match(await ask(serving, 'GET /documents', undefined, as('admin')), { status: 400 })
  t.match(await ask(serving, 'GET /documents?user=bob'), { status: 403 })
  t.match(await ask(serving, 'GET /documents'), {
    value: { documents: [{ user: 'alice', document: 'a', completed: { flow: 'quick' } }] },
  })
  await serving.flows.removeDocument({ user: 'alice', document: 'a' })
  t.strictSame(await list(''), ['b,c,d', undefined])
})
