import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fail, inTerminal, run, serve, succeed } from './command.js'
import { ndjson, product, stockedShop, stored } from './products.js'

t.test('collections are listed and deleted, in a directory and in a server alike', async (t) => {
  const { data } = await stockedShop(t, 3)
  const into = ['objects', 'import', '-', '--schema', 'product', '--data', data]
  const input = Buffer.from(ndjson([product(1)]))
  await succeed(t, [...into, '--collection', '..'], { input })
  await succeed(t, [...into, '--collection', 'tab\there'], { input })
  const list = async (...args: readonly string[]) =>
    String(await succeed(t, ['collections', ...args]))

  const local = await list('--data', data)
  const lines = local.trimEnd().split('\n')
  t.match(lines[0], /^\.\.\t1\t\d{4}-[^\t]+Z\tproduct$/)
  t.match(lines[1], /^shop\t3\t/)
  t.match(lines[2], /^tab\\u0009here\t1\t/)
  const json = await list('list', '--json', '--data', data)
  t.match(JSON.parse(json.split('\n')[1] ?? ''), { name: 'shop', schemas: { product: 3 } })

  const { url, token, child, ended } = await serve(t, ['--data', data])
  const remote = ['--url', url, '--token', token]
  t.equal(await list(...remote), local)
  const away = await run(t, ['collections', 'delete', '..', ...remote])
  t.match(away, { code: 0, stderr: /1 object\n$/ })
  const unknown = await fail(t, 1, ['collections', 'delete', '..', ...remote])
  child.kill('SIGTERM')
  await ended
  t.equal(await fail(t, 1, ['collections', 'delete', '..', '--data', data]), unknown)
  t.same(JSON.parse(await list('delete', 'shop', '--json', '--data', data)), { deleted: 3 })
  t.equal((await stored(t, ['--data', data])).length, 1)
})

t.test('on a terminal the list is a table with a head', async (t) => {
  const { data } = await stockedShop(t, 2000)
  const outcome = inTerminal(['collections', '--data', data])
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  t.match(
    outcome.text,
    /^NAME +OBJECTS +CREATED +SCHEMAS\r?\nshop +2,000 +\d{4}-\S+ \S+ +product\r?\n/,
  )
})

t.test('looking into a directory that is not there does not make it', async (t) => {
  const data = join(t.testdir(), 'none')
  await fail(t, 1, ['collections', '--data', data])
  await fail(t, 1, ['collections', 'delete', 'a', '--data', data])
  t.notOk(existsSync(data))
})
