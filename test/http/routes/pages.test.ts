// Every list over HTTP: pages, and what is no cursor of it.

import t from 'tap'
import { ask } from '../fixtures/objects.js'
import { as, serve } from '../fixtures/serving.js'

const lists = ['cores', 'documents', 'jobs', 'flow/default/jobs', 'flows', 'schemas', 'collections']

t.test('each list is had page by page, and takes no cursor but its own', async (t) => {
  const serving = await serve(t)
  const { knowledge, objects, flows } = serving
  for (const id of ['a', 'b', 'c']) {
    await knowledge.write({ user: 'alice', id }, [])
    await knowledge.write({ user: 'bob', id }, [])
    await objects.defineSchema({ name: id, fields: { id: { type: 'string' } } })
    await objects.createCollection(id)
    await flows.define({ id: `flow-${id}`, steps: ['chunk'] })
    const { job } = await flows.load(`flow-${id}`, { id, user: 'alice', content: 'x' })
    const runner = flows.run()
    for await (const _ of flows.watch({ job }));
    await runner.stop()
    for (const user of ['alice', 'bob']) await flows.load('default', { id, user, content: 'x' })
  }
  const cursors = new Map<string, string>()
  for (const list of lists) {
    const name = list.split('/').at(-1) ?? ''
    const all = await ask(serving, `GET /${list}`)
    const { [name]: items, ...rest } = all.value as Record<string, unknown>
    t.ok((items as unknown[]).length >= 3, list)
    t.equal(rest['limit'], 100)
    t.notOk('next' in rest)
    if ('total' in rest) t.equal(rest['total'], (items as unknown[]).length)
    const found: unknown[] = []
    let after: string | undefined
    do {
      const query = after === undefined ? '' : `&after=${after}`
      const { status, value } = await ask(serving, `GET /${list}?limit=2${query}`)
      t.equal(status, 200)
      const page = value as Record<string, unknown[]> & { next?: string; limit: number }
      t.equal(page.limit, 2)
      found.push(...(page[name] ?? []))
      after = page.next
      if (after !== undefined) cursors.set(list, after)
    } while (after !== undefined)
    t.strictSame(found, items, list)
  }
  const refused = async (path: string, token = 'alice') => {
    const reply = await ask(serving, `GET /${path}`, undefined, as(token))
    t.match(reply, { status: 400, value: { code: 'LK_CURSOR' } }, path)
  }
  for (const list of lists) {
    await refused(`${list}?after=made-up`)
    await refused(`${list}?after=`)
    for (const [other, cursor] of cursors) {
      if (other !== list) await refused(`${list}?after=${cursor}`)
    }
  }
  // What only alice has, and what is sought otherwise.
  for (const list of ['cores', 'documents', 'jobs', 'flow/default/jobs']) {
    await refused(`${list}?after=${cursors.get(list)}`, 'bob')
  }
  for (const list of ['cores', 'documents', 'flows', 'schemas', 'collections']) {
    await refused(`${list}?prefix=a&after=${cursors.get(list)}`)
  }
  await refused(`jobs?order=desc&after=${cursors.get('jobs')}`)
  await refused(`jobs?state=dead&after=${cursors.get('jobs')}`)
})

t.test('jobs are found by what failed, by collection, and by time, in all flows', async (t) => {
  const serving = await serve(t)
  const { flows } = serving
  const run = () => Promise.reject(new Error('The Key is Wrong'))
  await flows.define({ id: 'failing', steps: [{ name: 'fail', run }], maxAttempts: 1 })
  const load = async (flow: string, id: string, collection: string) =>
    (await flows.load(flow, { id, user: 'alice', collection, content: 'x' })).job
  const dead = await load('failing', 'a', 'one')
  const runner = flows.run({ flows: ['failing'] })
  for await (const _ of flows.watch({ job: dead }));
  await runner.stop()
  const queued = await load('default', 'b', 'two')
  const found = async (query: string) => {
    const { status, value } = await ask(serving, `GET /jobs?${query}`)
    t.equal(status, 200, query)
    return (value as { jobs: { id: string }[] }).jobs.map(({ id }) => id)
  }
  t.strictSame(await found(''), [dead, queued])
  t.strictSame(await found('order=desc'), [queued, dead])
  t.strictSame(await found('error=key%20is%20WRONG'), [dead])
  t.strictSame(await found('error=another'), [])
  t.strictSame(await found('collection=two'), [queued])
  t.strictSame(await found('flow=default'), [queued])
  t.strictSame(await found('state=dead,done'), [dead])
  const { createdAt = '', updatedAt = '' } = (await flows.job(dead)) ?? {}
  t.notOk((await found(`createdTo=${createdAt}`)).includes(dead))
  t.ok((await found(`createdFrom=${createdAt}`)).includes(dead))
  t.notOk((await found(`updatedTo=${updatedAt}`)).includes(dead))
  t.ok((await found(`updatedFrom=${updatedAt}`)).includes(dead))
  const none = { status: 404, value: { code: 'LK_FLOW_NOT_FOUND' } }
  const long = 'x'.repeat(257)
  // What can be no id is a flow that there is not, too.
  for (const id of ['none', '', long]) {
    for (const line of ['GET /jobs', 'POST /jobs/retry', 'POST /jobs/cancel']) {
      t.match(await ask(serving, `${line}?flow=${id}`), none, `${line} ${id}`)
    }
    const completed = await ask(serving, `GET /documents?flow=${id}`)
    t.match(completed, { status: 200, value: { documents: [] } }, id)
  }
  t.match(await ask(serving, `GET /flow/${long}/jobs`), none)
  const any = await ask(serving, 'GET /jobs?state=dead', undefined, as('admin'))
  t.match(any.value, { total: 1 })
})
