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

t.test('what is no such operation is a 400 that says where', async (t) => {
  const serving = await serve(t)
  for (const [body, path] of [
    [{}, 'operation'],
    [{ operation: 'get-kg-core', id: 'family' }, 'operation'],
    [{ operation: ['list-kg-cores'] }, 'operation'],
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
