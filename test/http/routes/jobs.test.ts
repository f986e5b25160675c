import t from 'tap'
import { LorekeepError } from '../../../src/errors.js'
import { defineQuick, end, jobsIn, load, run, text } from '../fixtures/flows.js'
import { ask } from '../fixtures/objects.js'
import { as, serve } from '../fixtures/serving.js'

const jobs = '/flow/quick/jobs'

t.test('a job is shown, retried where it is dead, and cancelled', async (t) => {
  const serving = await serve(t)
  const given: string[] = []
  await defineQuick(serving, (id) => {
    given.push(id)
    if (given.length === 1) throw new LorekeepError('LK_STEP_UNRECOVERABLE', 'it is empty')
  })
  const id = await load(serving, text('a'))
  const runner = run(t, serving)
  await end(serving, id)
  const dead = await ask(serving, `GET ${jobs}/${id}`)
  t.match(dead, { status: 200, value: { id, state: 'dead', attempts: 1, document: 'a' } })
  t.match(dead.value['failures'], [{ step: 'only', code: 'LK_STEP_UNRECOVERABLE' }])

  const retried = await ask(serving, `POST ${jobs}/${id}/retry`)
  t.match(retried, { status: 200, value: { id, state: 'queued', attempts: 0 } })
  t.match(await end(serving, id), { state: 'done', completedSteps: ['only'] })
  for (const line of [`POST ${jobs}/${id}/retry`, `DELETE ${jobs}/${id}`]) {
    const late = await ask(serving, line)
    t.match(late, { status: 409, value: { code: 'LK_JOB_STATE', state: 'done' } }, line)
  }

  await runner.stop()
  const other = await load(serving, text('b'))
  t.equal((await ask(serving, `DELETE ${jobs}/${other}`)).status, 204)
  t.equal(await serving.flows.job(other), undefined)
  t.match(await ask(serving, `DELETE ${jobs}/${other}`), { status: 404 })
})

t.test('all jobs that match are retried, and cancelled', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving, (id) => {
    throw new LorekeepError('LK_STEP_UNRECOVERABLE', `not ${id}`)
  })
  const runner = run(t, serving)
  for (const token of ['alice', 'bob']) {
    for (const id of ['a', 'b', 'c']) await end(serving, await load(serving, text(id), token))
  }
  await runner.stop()
  const change = async (line: string, token = 'alice') => {
    const { status, value } = await ask(serving, `POST ${line}`, undefined, as(token))
    return { status, value }
  }
  t.strictSame(await change(`${jobs}/retry?state=queued,done`), {
    status: 200,
    value: { retried: 0 },
  })
  t.strictSame(await change(`${jobs}/retry?error=NOT%20B`), { status: 200, value: { retried: 1 } })
  t.match(await serving.flows.stats('quick'), { queued: 1, dead: 5 })
  const first = await change(`${jobs}/cancel?limit=2`)
  t.match(first, { status: 200, value: { cancelled: 2, next: String } })
  const after = `after=${String(first.value['next'])}`
  t.match(await change(`${jobs}/cancel?${after}`, 'bob'), {
    status: 400,
    value: { code: 'LK_CURSOR' },
  })
  t.strictSame(await change(`${jobs}/cancel?${after}`), { status: 200, value: { cancelled: 1 } })
  t.match(await change('/jobs/cancel?user=bob'), { status: 403 })
  t.match(await change('/jobs/cancel?limit=10001'), { status: 400 })
  t.match(await change('/jobs/cancel?flow=none'), { status: 404 })
  t.match(await change(`/flow/none/jobs/cancel`), { status: 404 })
  t.strictSame(await change('/jobs/cancel'), { status: 200, value: { cancelled: 0 } })
  t.strictSame(await change('/jobs/retry?flow=quick', 'admin'), {
    status: 200,
    value: { retried: 3 },
  })
  t.match(await serving.flows.stats('quick'), { queued: 3, dead: 0 })
})

t.test('jobs are found by state, user and document, and no more than asked for', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const runner = run(t, serving)
  const done = await load(serving, text('a'))
  await end(serving, done)
  await runner.stop()
  const again = await load(serving, text('a'))
  const other = await load(serving, text('b'))
  const bobs = await load(serving, text('a'), 'bob')
  const found = async (query: string, token = 'alice') => {
    const reply = await ask(serving, `GET ${jobs}?${query}`, undefined, as(token))
    t.equal(reply.status, 200, query)
    return jobsIn(reply).map(({ id }) => id)
  }
  t.same(await found(''), [done, again, other])
  t.same(await found('order=desc'), [other, again, done])
  t.same(await found('state=queued,done'), [done, again, other])
  t.same(await found('state=queued'), [again, other])
  t.same(await found('state=done'), [done])
  t.same(await found('state=dead'), [])
  t.same(await found('document=a'), [done, again])
  t.same(await found('document=none'), [])
  t.same(await found('limit=1'), [done])
  t.same(await found('state=queued&user=alice&document=b&limit=1000'), [other])
  t.same(await found('', 'bob'), [bobs])
  t.same(new Set(await found('', 'admin')), new Set([again, other, done, bobs]))
  t.same(await found('user=bob', 'admin'), [bobs])

  for (const query of [
    'state=waiting',
    'state=',
    'state=dead,',
    'createdTo=then',
    'limit=0',
    'limit=1001',
    'limit=x',
  ]) {
    const reply = await ask(serving, `GET ${jobs}?${query}`)
    t.match(reply, { status: 400, value: { code: 'LK_HTTP_REQUEST' } }, query)
  }
  t.match(await ask(serving, `GET ${jobs}?user=bob`), { status: 403 })
  for (const id of await Promise.all(
    Array.from({ length: 101 }, (_, at) => load(serving, text(`${at}`))),
  )) {
    t.ok(id)
  }
  t.equal((await found('state=queued')).length, 100, '100 unless told otherwise')
})

t.test('a job is of one flow', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const id = await load(serving, text('a'))
  for (const flow of ['default', 'none']) {
    for (const line of ['GET', 'DELETE', 'POST'] as const) {
      const path = `/flow/${flow}/jobs/${id}${line === 'POST' ? '/retry' : ''}`
      const reply = await ask(serving, `${line} ${path}`)
      t.match(reply, { status: 404, value: { code: 'LK_JOB_NOT_FOUND' } }, `${line} ${path}`)
    }
  }
  t.match(await ask(serving, `GET ${jobs}/none`), {
    status: 404,
    value: { code: 'LK_JOB_NOT_FOUND' },
  })
  t.match(await serving.flows.job(id), { state: 'queued' })
})

t.test('a job that is not for their eyes does not exist for others', async (t) => {
  const principals: Readonly<Record<string, { user: string; collections?: readonly string[] }>> = {
    alice: { user: 'alice' },
    bob: { user: 'bob' },
    any: { user: '*' },
    'alice-in-a': { user: 'alice', collections: ['a'] },
    'any-in-b': { user: '*', collections: ['b'] },
    'alice-nowhere': { user: 'alice', collections: [] },
  }
  const serving = await serve(t, { authenticate: (token = '') => principals[token] })
  await defineQuick(serving)
  const inA = await load(serving, text('x', { collection: 'a' }))
  const inB = await load(serving, text('y', { collection: 'b' }))
  const seen = [
    ['alice', [inA, inB]],
    ['bob', []],
    ['any', [inA, inB]],
    ['alice-in-a', [inA]],
    ['any-in-b', [inB]],
    ['alice-nowhere', []],
  ] as const
  const none = await ask(serving, `GET ${jobs}/none`, undefined, as('alice'))
  for (const [name, visible] of seen) {
    const listed = await ask(serving, `GET ${jobs}`, undefined, as(name))
    t.strictSame(
      jobsIn(listed).map(({ id }) => id),
      visible,
      name,
    )
    for (const id of [inA, inB]) {
      const isVisible = (visible as readonly string[]).includes(id)
      const shown = await ask(serving, `GET ${jobs}/${id}`, undefined, as(name))
      t.equal(shown.status, isVisible ? 200 : 404, name)
      // A queued job cannot be retried: 409 says that it is there.
      const retried = await ask(serving, `POST ${jobs}/${id}/retry`, undefined, as(name))
      t.equal(retried.status, isVisible ? 409 : 404, name)
      if (isVisible) continue
      t.equal((await ask(serving, `DELETE ${jobs}/${id}`, undefined, as(name))).status, 404, name)
      t.strictSame(
        { ...shown.value, requestId: '' },
        JSON.parse(JSON.stringify({ ...none.value, requestId: '' }).replaceAll('none', id)),
        'no more is told than of one that is not there',
      )
    }
  }
  t.match(await serving.flows.stats('quick'), { queued: 2 })
})
