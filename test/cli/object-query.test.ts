import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fail, inTerminal, run, serve, succeed } from './command.js'
import { productSchema, stockedShop } from './products.js'

const ofProducts = ['--schema', 'product']

t.test('a page is lines with tabs, lines of JSON, or a JSON document', async (t) => {
  const { data } = await stockedShop(t, 150)
  const { url, token, child, ended } = await serve(t, ['--data', data])

  const check = async (where: readonly string[]) => {
    const query = (...args: readonly string[]) =>
      run(t, ['objects', 'query', ...ofProducts, ...args, ...where])
    const range = ['--filter', '{"price":{"$gte":20,"$lt":100}}', '--sort', 'price:desc']
    const plain = await query(...range, '--limit', '2')
    t.equal(String(plain.stdout), 'p99\tProduct 99\t99\t\np98\tProduct 98\t98\t\n')
    t.match(plain.stderr, /^lorekeep: 2 of 80 objects, [^\n]* --after \S+\n$/)
    const after = /--after (\S+)/.exec(plain.stderr)?.[1] ?? ''
    const next = await query(...range, '--limit', '100', '--after', after, '--fields', 'price')
    t.match(String(next.stdout), /^p97\t97\np96\t96\n/)
    t.match(next.stderr, /^lorekeep: 78 of 80 objects\n$/)

    const page = JSON.parse(String((await query('--json', ...range, '--offset', '79')).stdout))
    t.match(page, {
      objects: [{ _id: 'p20', _collection: 'shop' }],
      total: 80,
      limit: 100,
      offset: 79,
    })
    const lines = String((await query('--ndjson', '--limit', '3')).stdout)
      .trimEnd()
      .split('\n')
    t.equal(lines.length, 3)
    for (const line of lines) t.match(JSON.parse(line), { _schema: 'product', price: Number })
    return page
  }

  const remote = await check(['--url', url, '--token', token])
  child.kill('SIGTERM')
  await ended
  t.same(await check(['--data', data]), remote)
})

t.test('--all gives every match, however many pages they are', async (t) => {
  const { data } = await stockedShop(t, 2345)
  const { url, token, child, ended } = await serve(t, ['--data', data])

  const check = async (where: readonly string[]) => {
    const all = async (...args: readonly string[]) => {
      const { stdout, stderr } = await run(t, [
        'objects',
        'query',
        ...ofProducts,
        '--all',
        ...args,
        ...where,
      ])
      return {
        ids: String(stdout)
          .split('\n')
          .map((line) => line.split('\t')[0])
          .slice(0, -1),
        stderr,
      }
    }
    const { ids, stderr } = await all()
    t.equal(new Set(ids).size, 2345)
    t.equal(ids.length, 2345)
    t.match(stderr, /^lorekeep: 2,345 objects\n$/)
    const some = (await all('--sort', 'price:desc,name', '--limit', '1500', '--offset', '1')).ids
    t.equal(some.length, 1500)
    t.equal(some[0], 'p999')
    t.same((await all('--filter', '{"price":-1}')).ids, [])
  }

  await check(['--url', url, '--token', token])
  child.kill('SIGTERM')
  await ended
  await check(['--data', data])
})

t.test('on a terminal it is a table that fits, with the head once', async (t) => {
  const { data } = await stockedShop(t, 300)
  const args = ['objects', 'query', ...ofProducts, '--all', '--sort', 'price', '--data', data]
  const outcome = inTerminal(args)
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  const lines = outcome.text.trimEnd().split(/\r?\n/)
  t.equal(lines.length, 302)
  t.match(lines[0], /^_id +name +price +tags$/)
  t.match(lines[8], /^p7 +Product 7 +7$/)
  t.match(lines.at(-1), /^lorekeep: 300 objects$/)
})

t.test('explain says how a query is run', async (t) => {
  const { data } = await stockedShop(t, 150)
  const { url, token, child, ended } = await serve(t, ['--data', data])
  const check = async (where: readonly string[]) => {
    const explain = async (...args: readonly string[]) =>
      String(await succeed(t, ['objects', 'explain', ...ofProducts, ...args, ...where]))
    const filter = ['--filter', '{"price":{"$lt":10}}']
    const text = await explain(...filter)
    t.match(text, /^plan +index/)
    t.match(text, /^index +price in .*: 10 keys$/m)
    t.match(await explain('--filter', '{"name":"x"}'), /^plan +scan/)
    const { milliseconds, ...plan } = JSON.parse(await explain(...filter, '--json'))
    t.type(milliseconds, 'number')
    return plan as unknown
  }
  const remote = await check(['--url', url, '--token', token])
  t.match(remote, { plan: 'index', total: 10, indexes: [{ path: 'price', keys: 10 }] })
  child.kill('SIGTERM')
  await ended
  t.same(await check(['--data', data]), remote)
})

t.test('a query that is wrong is one line, the same here and from a server', async (t) => {
  const { data } = await stockedShop(t, 1)
  const { url, token, child, ended } = await serve(t, ['--data', data])
  const wrong: readonly (readonly string[])[] = [
    ['--schema', 'none'],
    ['--schema', 'product', '--filter', '{"price":{"$near":1}}'],
    ['--schema', 'product', '--after', 'x'],
  ]
  const complain = async (where: readonly string[]) => {
    const lines: string[] = []
    for (const args of wrong) {
      for (const command of ['query', 'explain']) {
        lines.push(await fail(t, 1, ['objects', command, ...args, ...where]))
      }
    }
    return lines
  }
  const remote = await complain(['--url', url, '--token', token])
  const flow = ['--url', url, '--token', token, '--flow', 'none']
  t.match(await fail(t, 1, ['objects', 'query', ...ofProducts, ...flow]), '--flow')
  child.kill('SIGTERM')
  await ended
  t.same(await complain(['--data', data]), remote)
})

t.test('flags that cannot be are wrong usage', async (t) => {
  const query = ['objects', 'query']
  await fail(t, 2, query)
  await fail(t, 2, ['objects', 'explain', ...ofProducts, '--all'])
  const wrong: readonly (readonly string[])[] = [
    ['--filter', '{"price":'],
    ['--filter', '[1]'],
    ['--sort', ''],
    ['--sort', 'price,,name'],
    ['--limit', '-1'],
    ['--offset', '1.5'],
    ['--fields', 'a,,b'],
    ['--json', '--ndjson'],
    ['--json', '--all'],
    ['--after', ''],
  ]
  for (const args of wrong) await fail(t, 2, [...query, ...ofProducts, ...args])
})

t.test('a filter with $text finds objects by their words, the best first', async (t) => {
  const { dir, data } = await stockedShop(t, 30)
  const file = join(dir, 'searched.json')
  const indexes = ['price', { text: ['name'] }]
  writeFileSync(file, JSON.stringify({ ...productSchema, indexes }))
  await succeed(t, ['schema', 'define', file, '--data', data])
  const query = ['objects', 'query', ...ofProducts, '--data', data]
  const filter = ['--filter', '{"$text":{"$search":"products 7"},"price":{"$gte":5}}']
  const { stdout, stderr } = await run(t, [...query, ...filter, '--limit', '2', '--fields', 'name'])
  t.equal(String(stdout), 'p7\tProduct 7\np5\tProduct 5\n')
  t.match(stderr, /2 of 25 objects/)
  const listed = await run(t, ['schema', 'list', '--data', data])
  t.match(String(listed.stdout), /price text\(name\)/)
  const explained = await run(t, ['objects', 'explain', ...ofProducts, ...filter, '--data', data])
  t.match(String(explained.stdout), /text: lists of words/)
})

t.test('no name or text moves the cursor of a terminal', async (t) => {
  const dir = t.testdir()
  const where = ['--data', join(dir, 'data')]
  const [red, c1] = ['\u001b[31m', '\u009b31m']
  const name = `re${red}d${c1}`
  const schema = { name: 'odd', id_field: 'id', fields: { id: { type: 'string' } } }
  const fields = { ...schema.fields, [name]: { type: 'string' } }
  const input = (value: unknown) => ({ input: Buffer.from(JSON.stringify(value)) })
  await succeed(t, ['schema', 'define', '-', ...where], input({ ...schema, fields }))
  const object = { id: 'one', [name]: `value${red}${c1}` }
  const named = ['--schema', 'odd', '--collection', 'shop']
  await succeed(t, ['objects', 'import', '-', ...named, ...where], input(object))
  const query = ['objects', 'query', '--schema', 'odd']
  for (const args of [
    query,
    [...query, '--ndjson'],
    [...query, '--json'],
    ['schema', 'show', 'odd'],
  ]) {
    const outcome = inTerminal([...args, ...where])
    if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
    t.match(outcome.text, /re\\u001b\[31md\\u009b31m/, args.join(' '))
    t.notMatch(outcome.text, /[\u001b\u009b]/, args.join(' '))
    if (args.includes('show')) t.match(JSON.parse(outcome.text), { fields })
  }
})
