import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fail, inTerminal, run, serve, start, succeed } from './command.js'
import { productSchema } from './products.js'

const tag = { name: 'tag', fields: [{ name: 'label', type: 'string' }], id_field: 'label' }

t.test('schemas are defined, listed and shown, in a directory and in a server alike', async (t) => {
  const dir = t.testdir({
    'one.json': JSON.stringify(productSchema),
    'two.json': JSON.stringify([productSchema, tag]),
  })
  const data = join(dir, 'data')

  const check = async (where: readonly string[]) => {
    const schema = async (...args: readonly string[]) =>
      String(await succeed(t, ['schema', ...args, ...where]))
    const defined = await run(t, ['schema', 'define', join(dir, 'one.json'), ...where])
    t.match(defined, { code: 0, stderr: /^lorekeep: [^\n]*'product'[^\n]*4 fields, 1 index\n$/ })
    t.equal(defined.stdout.length, 0)
    const json = (await schema('define', join(dir, 'two.json'), '--json')).trimEnd().split('\n')
    t.equal(json.length, 2)
    t.equal(await schema(), 'product\t4\tid\topen\tprice\ntag\t1\tlabel\topen\t\n')
    t.equal(await schema('list', '--json'), `${json.join('\n')}\n`)
    const shown = await schema('show', 'product')
    t.match(JSON.parse(shown), { name: 'product', indexes: ['price'], strict: false })
    const again = { input: Buffer.from(shown) }
    await succeed(t, ['schema', 'define', '-', ...where], again)
    t.equal(await schema('show', 'product'), shown, 'what show prints, define takes')
    return shown
  }

  const local = await check(['--data', data])
  const { url, token } = await serve(t, ['--data', data])
  const remote = ['--url', url, '--token', token]
  t.equal(await check(remote), local)
  await fail(t, 1, ['schema', 'show', 'none', ...remote])
})

t.test(
  'a schema that is refused is told by its name, and the ones before it are there',
  async (t) => {
    const wrong = { name: 'wrong', fields: { a: { type: 'strnig' }, b: { type: 5 } } }
    const dir = t.testdir({ 'a.json': JSON.stringify([tag, wrong, productSchema]) })
    const where = ['--data', join(dir, 'data')]
    const { code, stderr } = await run(t, ['schema', 'define', join(dir, 'a.json'), ...where])
    t.equal(code, 1)
    for (const part of ['wrong', 'strnig', 'tag']) t.match(stderr, part)
    t.match(String(await succeed(t, ['schema', ...where])), /^tag\t[^\n]+\n$/)
  },
)

t.test('all are defined, and a refusal is told, also where nobody reads of it', async (t) => {
  const wrong = { name: 'wrong', fields: {} }
  const dir = t.testdir({ 'a.json': JSON.stringify([tag, productSchema, wrong]) })
  const where = ['--data', join(dir, 'data')]
  const define = ['schema', 'define', join(dir, 'a.json'), '--json', ...where]
  const { child, ended } = start(t, define)
  child.stdout?.destroy()
  const { code, stderr } = await ended
  t.equal(code, 1)
  t.match(stderr, "schema 'wrong'")
  t.match(String(await succeed(t, ['schema', ...where])), /^product\t[^\n]+\ntag\t[^\n]+\n$/)
})

t.test('what is no definition at all is refused before anything is defined', async (t) => {
  const dir = t.testdir()
  const data = join(dir, 'data')
  for (const text of [
    '{ "name": ',
    '{}',
    '[5]',
    '[{"name":"a","fields":{}}, null]',
    '{"name":5}',
  ]) {
    const input = Buffer.from(text)
    await fail(t, 1, ['schema', 'define', '-', '--data', data], { input })
  }
  await fail(t, 1, ['schema', 'define', join(dir, 'none.json'), '--data', data])
  t.notOk(existsSync(data))
})

t.test('looking for schemas in a directory that is not there does not make it', async (t) => {
  const data = join(t.testdir(), 'none')
  await fail(t, 1, ['schema', '--data', data])
  await fail(t, 1, ['schema', 'show', 'a', '--data', data])
  t.notOk(existsSync(data))
})

t.test('on a terminal the list is a table with a head', async (t) => {
  const data = t.testdir()
  const input = Buffer.from(JSON.stringify([productSchema, tag]))
  await succeed(t, ['schema', 'define', '-', '--data', data], { input })
  const outcome = inTerminal(['schema', '--data', data])
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  t.match(outcome.text, /^NAME +FIELDS +ID +STRICT +INDEXES\r?\nproduct +4 +id +open +price\r?\n/)
})
