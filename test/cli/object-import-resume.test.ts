// Imports that are cut short, and go on.

import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { fail, start } from './command.js'
import {
  idsIn,
  importing,
  ndjson,
  products,
  productSchema,
  reportIn,
  shop,
  summarized,
  toShop,
} from './products.js'

t.test('a broken end is told with how far it got, and --skip goes on there', async (t) => {
  const { dir, data } = await shop(t)
  const where = ['--data', data]
  const values: unknown[] = products(2500)
  values[2400] = { id: 'bad' }
  const text = ndjson(values)
  const file = join(dir, 'cut.ndjson')
  writeFileSync(file, text.slice(0, -10))
  const cut = await summarized(t, [file, ...toShop, ...where])
  t.equal(cut.code, 1)
  t.match(
    cut.stderr,
    /^lorekeep: line 2,500: [^\n]*0 to 2,498 are done, refused 1 \(see [^\n]*cut\.ndjson\.refused\.ndjson\): mend line 2500, then go on with --skip 2499\n$/,
  )
  t.match(cut.summary, { done: 2499, complete: false, imported: 2498, refused: 1 })
  t.equal((await idsIn(t, where)).length, 2498)

  writeFileSync(file, `${text}{"id":"worse"}\n`)
  const rest = await summarized(t, [file, ...toShop, ...where, '--skip', '2499'])
  t.match(rest.summary, { from: 2499, done: 2501, complete: true, imported: 1, refused: 1 })
  t.same(
    reportIn(`${file}.refused.ndjson`).map(({ index, id }) => [index, id]),
    [
      [2400, 'bad'],
      [2500, 'worse'],
    ],
    'the report goes on too',
  )
  await fail(t, 1, [...importing, file, ...toShop, ...where, '--skip', '2502'])
  const last = await summarized(t, [file, ...toShop, ...where, '--skip', '2500'])
  t.equal(last.code, 1)
  await summarized(t, [file, ...toShop, ...where])
  t.equal(reportIn(`${file}.refused.ndjson`).length, 2501, 'and is written anew without --skip')
})

t.test('a broken end names the report where objects were refused, and only then', async (t) => {
  const { dir, data } = await shop(t)
  const args = ['-', ...toShop, '--data', data, '--report', join(dir, 'report')]
  const good = products(4)
  const bad = good.slice(1).map(({ id }) => ({ id }))
  const refused = await summarized(t, args, `${ndjson([...good.slice(0, 1), ...bad])}{"id":\n`)
  t.match(
    refused.stderr,
    /objects 0 to 3 are done, refused 3 \(see [^\n]*report\): mend line \d+, then go on with --skip 4\n$/,
  )
  t.match(refused.summary, { done: 4, complete: false, imported: 1, refused: 3 })
  t.equal(reportIn(join(dir, 'report')).length, 3)
  const rest = await summarized(t, args, `${ndjson(good.slice(1))}{"id":\n`)
  t.match(rest.stderr, /objects 0 to 2 are done: mend line/)
})

t.test('what breaks before the first object stores nothing', async (t) => {
  const { dir, data } = await shop(t)
  const args = [...importing, '-', ...toShop, '--data', data]
  for (const text of [
    '',
    ' \n',
    '{"id":',
    '[{"id":"a","price":1',
    'id,price\na,1\n',
    '<a/>',
    ']',
  ]) {
    await fail(t, 1, args, { cwd: dir, input: Buffer.from(text) })
  }
  t.same(await idsIn(t, ['--data', data]), [])
  t.match((await summarized(t, ['-', ...toShop, '--data', data], '[]')).summary, { imported: 0 })
  t.notOk(existsSync(join(dir, 'lorekeep-refused.ndjson')))
})

t.test('an interrupt ends with 130, and says from where to go on', async (t) => {
  const { data } = await shop(t)
  const args = [...importing, '-', ...toShop, '--data', data, '--batch', '100', '--json']
  const { child, ended } = start(t, args)
  // More than pipes hold: when all of it is gone, the import is under way. It does not end.
  const text = ndjson(products(50_000))
  await new Promise<void>((resolve) => child.stdin?.write(text, () => resolve()))
  child.kill('SIGINT')
  const { code, stderr, stdout } = await ended
  t.equal(code, 130)
  const done = Number(/ --skip (\d+)"/.exec(stderr)?.[1])
  t.match(JSON.parse(String(stdout)), { done, imported: done, complete: false })
  t.same((await idsIn(t, ['--data', data])).length, done)
  const rest = ['-', ...toShop, '--data', data, '--skip', String(done)]
  const { summary } = await summarized(t, rest, text)
  t.match(summary, { imported: 50_000 - done, refused: 0, complete: true })
})

t.test(
  'a connection that breaks leaves it open what was stored, and going on is safe',
  async (t) => {
    // The first two batches are taken, then there is silence.
    let batches = 0
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const answer = (body: unknown) => response.end(JSON.stringify(body))
        if (request.method === 'GET') answer({ ...productSchema, id_field: 'id' })
        else if (++batches > 2) response.destroy()
        else answer({ imported: 10, replaced: 0, skipped: 0 })
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const args = ['-', ...toShop, '--batch', '10', '--url', `http://127.0.0.1:${port}`]
    const { code, stderr, summary } = await summarized(t, args, ndjson(products(100)))
    t.equal(code, 1)
    t.match(stderr, /^lorekeep: [^\n]*not known[^\n]* --skip \d+ --on-duplicate skip\n$/)
    t.match(summary, { complete: false, imported: 20 })
    t.match(
      await fail(t, 1, [...importing, '-', ...toShop, '--url', 'http://127.0.0.1:1'], {
        input: Buffer.from('{}'),
      }),
      'ECONNREFUSED',
    )
  },
)
