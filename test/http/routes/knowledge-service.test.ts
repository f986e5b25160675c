import t from 'tap'
import { fillCores } from '../fixtures/graphs.js'
import { ask } from '../fixtures/objects.js'
import { as, serve } from '../fixtures/serving.js'

t.test('cores are listed and deleted by operations', async (t) => {
  const serving = await serve(t, { defaultUser: 'alice' })
  await fillCores(serving.knowledge)
  const operate = async (body: object, token = 'alice') => {
    const { status, value } = await ask(serving, 'POST /knowledge', body, as(token))
    return status === 200 ? value : value['code']
  }
  const list = { operation: 'list-kg-cores' }
  const ids = ['family', 'firm']
  t.strictSame(await operate(list), { ids })
  t.strictSame(await operate({ ...list, user: 'alice' }, 'admin'), { ids })
  t.strictSame(await operate(list, 'admin'), { ids }, 'of the default user')
  t.strictSame(await operate(list, 'bob'), { ids: [] })
  t.equal(await operate({ ...list, user: 'alice' }, 'bob'), 'LK_HTTP_FORBIDDEN')

  const remove = { operation: 'delete-kg-core', id: 'firm', user: 'alice' }
  t.equal(await operate(remove, 'bob'), 'LK_HTTP_FORBIDDEN')
  t.strictSame(await operate(remove), {})
  t.equal(await operate(remove), 'LK_CORE_NOT_FOUND')
  t.strictSame(await operate(list), { ids: ['family'] })
})

t.test('loading and unloading a core is looked through, and does nothing', async (t) => {
  const serving = await serve(t)
  await fillCores(serving.knowledge)
  const operate = async (body: object, token = 'alice') => {
    const { status, value } = await ask(serving, 'POST /knowledge', body, as(token))
    return status === 200 ? value : value['code']
  }
  for (const operation of ['load-kg-core', 'unload-kg-core']) {
    const load = { operation, id: 'family', flow: 'default', collection: 'default' }
    t.strictSame(await operate(load), {})
    t.strictSame(await operate({ ...load, workspace: 'alice' }, 'admin'), {})
    t.strictSame(await operate({ operation, id: 'family', flow: null }), {})
    t.equal(await operate({ ...load, id: 'nothing' }), 'LK_CORE_NOT_FOUND')
    t.equal(await operate({ ...load, flow: 'nowhere' }), 'LK_FLOW_NOT_FOUND')
    t.equal(await operate({ ...load, flow: 7 }), 'LK_HTTP_REQUEST')
    t.equal(await operate({ ...load, workspace: 'alice' }, 'bob'), 'LK_HTTP_FORBIDDEN')
    t.equal(await operate({ operation }), 'LK_HTTP_REQUEST')
  }
})

t.test('what is no such operation is a 400 that says where', async (t) => {
  const serving = await serve(t)
  for (const [body, path] of [
    [{}, 'operation'],
    [{ operation: 'get-kg-core', id: 'family' }, 'operation'],
    [{ operation: ['list-kg-cores'] }, 'operation'],
    [{ operation: 'toString' }, 'operation'],
    [{ operation: 'list-de-cores' }, 'operation'],
    [{ operation: 'list-kg-cores', workspace: [] }, 'workspace'],
    [{ operation: 'delete-kg-core' }, 'id'],
    [{ operation: 'delete-kg-core', id: 7 }, 'id'],
    [{ operation: 'list-kg-cores', user: {} }, 'user'],
  ] as const) {
    const { value } = await ask(serving, 'POST /knowledge', body)
    t.match(
      value,
      { status: 400, code: 'LK_HTTP_REQUEST', errors: [{ path }] },
      JSON.stringify(body),
    )
  }
})
