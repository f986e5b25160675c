import { STATUS_CODES } from 'node:http'
import t from 'tap'
import { LorekeepError, catalogue } from '../../src/errors.js'
import type { ErrorCode } from '../../src/errors.js'
import { problemHeaders, problemOf, status } from '../../src/http/problem.js'
import { as, json, send, serve } from './fixtures/serving.js'

const codes = Object.keys(catalogue) as ErrorCode[]

t.test('every code has a status that says something went wrong', async (t) => {
  t.strictSame(Object.keys(status).sort(), [...codes].sort())
  for (const code of codes) {
    t.ok(status[code] >= 400 && STATUS_CODES[status[code]], code)
    t.equal('Retry-After' in problemHeaders({ code }), [429, 503].includes(status[code]), code)
  }
})

t.test('a problem has the members of RFC 9457, ours, and the one older clients read', async (t) => {
  const error = new LorekeepError('LK_CORE_FORMAT', 'byte 7', { details: { offset: 7, hint: 'h' } })
  t.strictSame(problemOf(error, 'r-1'), {
    offset: 7,
    hint: 'h',
    type: 'urn:lorekeep:error:LK_CORE_FORMAT',
    title: 'not a valid core stream',
    status: 400,
    detail: 'not a valid core stream: byte 7',
    code: 'LK_CORE_FORMAT',
    kind: 'format',
    requestId: 'r-1',
    errors: [{ offset: 7, hint: 'h', message: 'not a valid core stream: byte 7' }],
    error: { type: 'format', message: 'not a valid core stream: byte 7' },
  })
})

t.test('details never replace a member of the problem', async (t) => {
  const details = { status: 200, code: 'x', error: 'x', requestId: 'x', message: 'x' }
  const problem = problemOf(new LorekeepError('LK_CORE_TYPE', undefined, { details }), 'r')
  t.match(problem, { status: 400, code: 'LK_CORE_TYPE', requestId: 'r', error: { type: 'type' } })
  t.equal(problem.errors[0]?.message, problem.detail)
})

t.test('several errors are listed, each with its plain details only', async (t) => {
  const errors = [{ index: 1, message: 'a', cause: new Error('x') }, 'text', null, { index: 2n }]
  const error = new LorekeepError('LK_CORE_MESSAGE', 'two', { details: { errors, inner: {} } })
  const problem = problemOf(error, 'r')
  t.strictSame(problem.errors, [{ index: 1, message: 'a' }, {}])
  t.notOk('inner' in problem)
  const empty = new LorekeepError('LK_CORE_MESSAGE', 'none', { details: { errors: [] } })
  t.equal(problemOf(empty, 'r').errors.length, 1)
})

t.test('lists of plain values are told, and no other lists', async (t) => {
  const details = { ids: ['a', 7], count: 2, mixed: ['a', {}], deep: [['a']] }
  const problem = problemOf(new LorekeepError('LK_OBJECT_DUPLICATE', 'two', { details }), 'r')
  t.strictSame(problem.errors, [{ ids: ['a', 7], count: 2, message: problem.detail }])
  t.match(problem, { ids: ['a', 7], count: 2 })
  t.notOk('mixed' in problem || 'deep' in problem)
})

t.test('a full disk is told, without the name of a file', async (t) => {
  const level = Object.assign(new Error('IO error: /secret/5.log: No space left on device'), {
    code: 'LEVEL_IO_ERROR',
  })
  const node = Object.assign(new Error('ENOSPC: /secret'), { code: 'ENOSPC' })
  for (const cause of [level, node, new Error('/secret', { cause: node })]) {
    for (const code of ['LK_STORAGE_FAILED', 'LK_STORAGE_UNAVAILABLE'] as const) {
      const problem = problemOf(new LorekeepError(code, '/secret', { cause }), 'r')
      const detail = `${catalogue[code].message}: no space is left on the server's disk`
      t.match(problem, { detail, errors: [{ message: detail }], error: { message: detail } })
      t.notMatch(JSON.stringify(problem), /secret/)
    }
    const inside = problemOf(new LorekeepError('LK_INTERNAL', undefined, { cause }), 'r')
    t.equal(inside.detail, 'internal error')
  }
  const itself = new Error('/secret')
  itself.cause = itself
  const other = problemOf(new LorekeepError('LK_STORAGE_FAILED', 'x', { cause: itself }), 'r')
  t.equal(other.detail, 'the storage failed')
})

t.test('what a server error says stays inside', async (t) => {
  for (const code of codes) {
    const error = new LorekeepError(code, '/var/secret', {
      cause: new Error('secret'),
      details: { path: '/var/secret' },
    })
    const told = JSON.stringify(problemOf(error, 'r')).includes('secret')
    // LK_HTTP errors are worded by the handler itself.
    const open =
      code.startsWith('LK_HTTP_') ||
      code === 'LK_FLOW_FULL' ||
      code === 'LK_PEER_MISSING' ||
      (status[code] < 500 && code !== 'LK_STORAGE_CONFLICT')
    t.equal(told, open, code)
  }
  const problem = problemOf(new TypeError('secret'), 'r')
  t.match(problem, { code: 'LK_INTERNAL', status: 500, kind: 'internal', detail: 'internal error' })
  t.notMatch(JSON.stringify(problem), /secret/)
  t.match(problemOf(undefined, 'r'), { code: 'LK_INTERNAL' })
})

t.test('on the wire it is application/problem+json with its length', async (t) => {
  const { url } = await serve(t)
  const reply = await send(`${url}/api/v1/cores/none`, { headers: as('alice') })
  t.equal(reply.status, 404)
  t.equal(reply.headers['content-type'], 'application/problem+json')
  t.equal(reply.headers['content-length'], String(reply.body.byteLength))
  t.match(json(reply), { code: 'LK_CORE_NOT_FOUND', kind: 'not-found', status: 404 })
})
