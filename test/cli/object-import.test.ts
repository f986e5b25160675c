import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fail, inTerminal, run, serve, start, succeed } from './command.js'
import {
  idsIn,
  importing,
  ndjson,
  product,
  products,
  reportIn,
  shop,
  stored,
  summarized,
  toShop,
} from './products.js'

t.test('NDJSON, an array and an import request bring the same objects', async (t) => {
  const { dir, data } = await shop(t)
  const values = products(2500)
  const metadata = { id: 'b', user: 'alice', collection: 'third', metadata: { source: 'x' } }
  writeFileSync(join(dir, 'lines'), ndjson(values))
  writeFileSync(join(dir, 'array'), JSON.stringify(values, null, 2))
  writeFileSync(join(dir, 'request'), JSON.stringify({ metadata, schema_name: 'product', values }))

  const check = async (where: readonly string[]) => {
    const load = async (name: string, ...args: readonly string[]) => {
      const command = [...importing, join(dir, name), ...args, ...where]
      const { code, stdout, stderr } = await run(t, command)
      t.match(stderr, /^lorekeep: imported 2,500 objects [^\n]*\n$/)
      t.match({ code, length: stdout.length }, { code: 0, length: 0 })
    }
    const note = ['--user', 'bob', '--metadata', '{"source":"y"}']
    await load('lines', '--schema', 'product', '--collection', 'first')
    await load('array', '--schema', 'product', '--collection', 'second', ...note)
    await load('request')
    const found = await stored(t, where)
    const of = (name: string) => found.filter(({ _collection }) => _collection === name)
    const fieldsOf = ({ id, name, price }: Record<string, unknown>) =>
      JSON.stringify({ id, name, price })
    for (const name of ['first', 'second', 'third']) {
      t.same(of(name).map(fieldsOf).sort(), values.map((it) => JSON.stringify(it)).sort())
    }
    t.match(of('first')[0], { _user: 'trustgraph', _schema: 'product' })
    t.match(of('second')[0], { _user: 'bob', _metadata: { source: 'y' } })
    t.match(of('third')[0], { _user: 'alice', _metadata: { source: 'x' } })
    for (const name of ['first', 'second', 'third']) {
      await succeed(t, ['collections', 'delete', name, ...where])
    }
  }

  await check(['--data', data])
  const { url, token } = await serve(t, ['--data', data])
  await check(['--url', url, '--token', token])
  t.notOk(existsSync(join(dir, 'lines.refused.ndjson')), 'nothing was refused')
})

t.test(
  'three bad ones among 50,000 hold up nobody, and are imported once they are mended',
  async (t) => {
    const { dir, data } = await shop(t)
    const file = join(dir, 'products.ndjson')
    const report = `${file}.refused.ndjson`
    const values: unknown[] = products(50_000)
    values[0] = { id: 'p0', name: 5, price: 'much' }
    values[25_555] = { id: 'p25555', name: 'Product' }
    values[49_999] = 'no object'
    writeFileSync(file, ndjson(values))

    const check = async (where: readonly string[]) => {
      const { code, stderr, summary } = await summarized(t, [file, ...toShop, ...where])
      t.equal(code, 1)
      t.match(stderr, /^lorekeep: imported 49,997 objects [^\n]*refused 3 [^\n]*\n$/)
      t.same(summary, {
        schema_name: 'product',
        collection: 'shop',
        from: 0,
        done: 50_000,
        complete: true,
        imported: 49_997,
        replaced: 0,
        skipped: 0,
        refused: 3,
        report,
      })
      t.match(reportIn(report), [
        { line: 1, index: 0, id: 'p0', errors: [{ path: 'name' }, { path: 'price' }] },
        { line: 25_556, index: 25_555, id: 'p25555', errors: [{ path: 'price', message: String }] },
        { line: 50_000, index: 49_999, id: null, object: 'no object' },
      ])

      const again = await summarized(t, [report, ...toShop, ...where])
      t.match(again.summary, { imported: 0, refused: 3 }, 'as it is')
      const mended = readFileSync(report, 'utf8')
        .replace('"name":5,"price":"much"', '"price":1')
        .replace('"name":"Product"', '"price":2')
        .replace('"object":"no object"', '"object":{"id":"new","price":3}')
      writeFileSync(join(dir, 'mended'), mended)
      await succeed(t, [...importing, join(dir, 'mended'), ...toShop, ...where])
      t.equal(new Set(await idsIn(t, where)).size, 50_000)
      await succeed(t, ['collections', 'delete', 'shop', ...where])
    }

    await check(['--data', data])
    const { url, token } = await serve(t, ['--data', data])
    await check(['--url', url, '--token', token])
  },
)

t.test('a whole batch of bad ones is refused, past what one error lists', async (t) => {
  const { dir, data } = await shop(t)
  const values = products(350).map(({ id }) => ({ id }))
  const report = join(dir, 'report')
  const args = ['-', ...toShop, '--data', data, '--report', report]
  const { summary } = await summarized(t, args, ndjson([...values, product(1000)]))
  t.match(summary, { imported: 1, refused: 350 })
  t.same(
    reportIn(report).map(({ index }) => index),
    values.map((_, index) => index),
  )
})

t.test('an id that is there again is a duplicate of the first, wherever batches end', async (t) => {
  const { dir, data } = await shop(t)
  const { url, token } = await serve(t, ['--data', data])
  // Every id three times: in a row, and far away.
  const values = [...products(30).flatMap((it) => [it, { ...it, price: 2 }]), ...products(30)].map(
    (it, n) => ({ ...it, name: `${n}` }),
  )
  const first = values.filter(({ id }, n) => values.findIndex((it) => it.id === id) === n)
  const last = values.filter(({ id }, n) => values.findLastIndex((it) => it.id === id) === n)
  const names = async (collection: string) =>
    (await stored(t, ['--url', url, '--token', token]))
      .filter(({ _collection }) => _collection === collection)
      .map(({ name }) => Number(name))
      .sort((a, b) => a - b)
  for (const size of ['7', '1000']) {
    for (const mode of ['reject', 'skip', 'replace']) {
      const collection = `${mode}-${size}`
      const { code, summary } = await summarized(
        t,
        [
          ...['-', '--schema', 'product', '--collection', collection, '--batch', size],
          ...['--on-duplicate', mode, '--report', join(dir, collection)],
          ...['--url', url, '--token', token],
        ],
        ndjson(values),
      )
      t.equal(code, mode === 'reject' ? 1 : 0)
      t.match(summary, {
        imported: mode === 'replace' ? 90 : 30,
        replaced: mode === 'replace' ? 60 : 0,
        skipped: mode === 'skip' ? 60 : 0,
        refused: mode === 'reject' ? 60 : 0,
      })
      const kept = mode === 'replace' ? last : first
      t.same(
        await names(collection),
        kept.map(({ name }) => Number(name)),
        collection,
      )
    }
  }
  const refused = reportIn(join(dir, 'reject-7'))
  t.match(refused[0], { index: 1, id: 'p0', errors: [{ path: 'id' }] })
  t.same(
    refused.map(({ index }) => index),
    refused.map(({ index }) => index).sort((a, b) => a - b),
  )
})

t.test('the line at the end says what was replaced and skipped, where something was', async (t) => {
  const { data } = await shop(t)
  const last = async (count: number, mode: string) => {
    const args = [...importing, '-', ...toShop, '--on-duplicate', mode, '--data', data]
    const { stderr } = await run(t, args, { input: Buffer.from(ndjson(products(count))) })
    return stderr
  }
  t.match(await last(1, 'reject'), "imported 1 object into 'shop': ")
  t.match(await last(1, 'replace'), "imported 1 object into 'shop' (1 replaced): ")
  t.match(await last(1, 'skip'), "imported 0 objects into 'shop' (1 skipped): ")
  t.match(await last(3, 'replace'), "imported 3 objects into 'shop' (1 replaced): ")
})

t.test(
  'batches that are too long for a server are halved, and objects that are are refused',
  async (t) => {
    const { dir, data } = await shop(t)
    const config = {
      data,
      limits: { maxJsonBytes: 20_000, maxBatchObjects: 40, maxObjectBytes: 15_000 },
    }
    const file = join(dir, 'lorekeep.json')
    writeFileSync(file, JSON.stringify(config))
    const { url, token } = await serve(t, ['--config', file])
    const values = products(500).map((it) => ({ ...it, name: 'x'.repeat(300) }))
    const huge = { id: 'huge', price: 1, name: 'x'.repeat(30_000) }
    const big = { id: 'big', price: 1, name: 'x'.repeat(16_000) }
    const report = join(dir, 'report')
    const where = ['--url', url, '--token', token]
    const args = ['-', ...toShop, ...where, '--report', report]
    const { summary } = await summarized(t, args, ndjson([...values, huge, big, product(1000)]))
    t.match(summary, { imported: 501, refused: 2, complete: true })
    t.same(
      reportIn(report).map(({ id }) => id),
      ['huge', 'big'],
    )
    t.equal((await idsIn(t, where)).length, 501)
  },
)

t.test(
  'numbers go as they are written, and one that no double holds is refused everywhere',
  async (t) => {
    const { dir, data } = await shop(t)
    const text =
      '{"id":"a","price":1e400}\n{"id":"b","price":1.50}\n{"id":"c","price":1,"price":2}\n'
    const check = async (where: readonly string[]) => {
      const report = join(dir, 'report')
      const args = ['-', ...toShop, ...where, '--report', report]
      t.match((await summarized(t, args, text)).summary, { imported: 1, refused: 2 })
      t.match(readFileSync(report, 'utf8'), '"object":{"id":"a","price":1e400}}\n')
      t.match(readFileSync(report, 'utf8'), '"object":{"id":"c","price":1,"price":2}}\n')
      const again = await summarized(t, [report, ...toShop, ...where])
      t.match(again.summary, { imported: 0, refused: 2 })
      await succeed(t, ['collections', 'delete', 'shop', ...where])
    }
    await check(['--data', data])
    const { url, token } = await serve(t, ['--data', data])
    await check(['--url', url, '--token', token])
  },
)

t.test('what cannot be is told before anything is stored', async (t) => {
  const { dir, data } = await shop(t)
  const file = join(dir, 'a.ndjson')
  writeFileSync(file, ndjson(products(1)))
  const where = ['--data', data]
  await fail(t, 2, [...importing, file, '--schema', 'product', ...where])
  await fail(t, 2, [...importing, file, '--collection', 'shop', ...where])
  await fail(t, 2, [...importing, file, ...toShop, '--batch', '0', ...where])
  await fail(t, 2, [...importing, file, ...toShop, '--skip', '-1', ...where])
  await fail(t, 2, [...importing, file, ...toShop, '--metadata', '[]', ...where])
  await fail(t, 2, [...importing, file, ...toShop, '--on-duplicate', 'merge', ...where])
  await fail(t, 2, [...importing, file, ...toShop, '--report', file, ...where])
  await fail(t, 2, [...importing, file, ...toShop, '--report', dir, ...where])
  await fail(t, 1, [...importing, file, '--schema', 'none', '--collection', 'shop', ...where])
  await fail(t, 1, [...importing, join(dir, 'none'), ...toShop, ...where])
  await fail(t, 1, [...importing, file, ...toShop, '--data', join(dir, 'other')])
  t.notOk(existsSync(join(dir, 'other')))
  for (const metadata of [5, { user: 5, collection: 'shop' }, { collection: 'shop', more: 1 }]) {
    const input = Buffer.from(JSON.stringify({ metadata, schema_name: 'product', values: [] }))
    await fail(t, 1, [...importing, '-', ...where], { input })
  }
  t.same(await idsIn(t, where), [])
})

t.test('there is a progress bar on a terminal, and nowhere else', async (t) => {
  const { dir, data } = await shop(t)
  const file = join(dir, 'a.ndjson')
  writeFileSync(file, ndjson(products(20_000)))
  const outcome = inTerminal([...importing, file, ...toShop, '--data', data])
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  t.equal(outcome.code, 0)
  t.match(outcome.text, /% \| [^|]+ of [^|]+ \| [^|]+\/s \| [\d,]+ objects, [\d,]+\/s \|/)
  t.match(outcome.text, /lorekeep: imported 20,000 objects/)
})

t.test('that objects were refused is told, also where nobody reads the summary', async (t) => {
  const { dir, data } = await shop(t)
  const file = join(dir, 'bad.ndjson')
  writeFileSync(file, ndjson([product(1), { id: 'bad' }]))
  const { child, ended } = start(t, [...importing, file, ...toShop, '--data', data, '--json'])
  child.stdout?.destroy()
  const { code, stderr } = await ended
  t.equal(code, 1)
  t.match(stderr, /1 (?:object )?(?:was )?refused|refused 1/)
})
