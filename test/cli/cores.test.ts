import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { serve as serveFromMemory } from '../http/fixtures/serving.js'
import { fail, inTerminal, run, serve, succeed } from './command.js'

const sample = await succeed(t, ['sample'])

/** Three cores of alice's, one with a name that plays tricks. */
async function shelf(t: Test): Promise<string> {
  const data = t.testdir()
  for (const id of ['a', '..', 'tab\there']) {
    const name = ['--id', id, '--user', 'alice', '--data', data]
    await succeed(t, ['import', '-', ...name], { input: sample })
  }
  return data
}

t.test('cores are listed, shown and deleted, in a directory and in a server alike', async (t) => {
  const data = await shelf(t)
  const alice = ['--user', 'alice']

  const check = async (where: readonly string[]) => {
    const cores = async (...args: readonly string[]) =>
      String(await succeed(t, ['cores', ...args, ...alice, ...where]))
    const plain = (await cores()).trimEnd().split('\n')
    t.equal(plain.length, 3)
    for (const line of plain) t.match(line, /^[^\t]+\t6\t44\t8\t\d{4}\t\d{4}-[^\t]+Z$/)
    const json = (await cores('list', '--json')).trimEnd().split('\n')
    const listed = json.map((line) => JSON.parse(line) as { id: string })
    t.same(
      listed.map(({ id }) => id),
      ['..', 'a', 'tab\there'],
    )
    t.same(JSON.parse(await cores('show', '..', '--json')), listed[0])
    t.match(await cores('show', 'tab\there'), /^id +tab\\u0009here$[^]*^triples +44$/m)
    return listed
  }

  const local = await check(['--data', data])
  const { url, token, child, ended } = await serve(t, ['--data', data])
  const remote = ['--url', url, '--token', token]
  t.same(await check(remote), local)

  const away = ['cores', 'delete', '..', ...alice]
  const { stdout, code } = await run(t, [...away, ...remote])
  t.equal(code, 0)
  t.equal(stdout.length, 0)
  const unknown = await fail(t, 1, [...away, ...remote])
  child.kill('SIGTERM')
  await ended
  t.equal(await fail(t, 1, [...away, '--data', data]), unknown)
  await succeed(t, ['cores', 'delete', 'a', ...alice, '--data', data])
  t.match(
    String(await succeed(t, ['cores', ...alice, '--data', data])),
    /^tab\\u0009here\t[^\n]+\n$/,
  )
})

t.test('a server gives its cores page by page', async (t) => {
  const { url, knowledge } = await serveFromMemory(t)
  for (let n = 0; n < 1001; n++) {
    await knowledge.import({ user: 'alice', id: String(n).padStart(4, '0') }, new Uint8Array(0))
  }
  const args = ['cores', '--user', 'alice', '--url', url, '--token', 'admin']
  const lines = String(await succeed(t, args))
    .trimEnd()
    .split('\n')
  t.equal(lines.length, 1001)
  t.match(lines.at(-1), /^1000\t0\t0\t0\t0\t/)
})

t.test('a user without cores has an empty list', async (t) => {
  const data = await shelf(t)
  t.equal(String(await succeed(t, ['cores', '--user', 'bob', '--data', data])), '')
})

t.test('looking into a directory that is not there does not make it', async (t) => {
  const data = join(t.testdir(), 'none')
  await fail(t, 1, ['cores', '--data', data])
  await fail(t, 1, ['cores', 'show', 'a', '--data', data])
  await fail(t, 1, ['cores', 'delete', 'a', '--data', data])
  t.notOk(existsSync(data))
  await fail(t, 1, ['cores', '--data', 'package.json'])
})

t.test('looking into a directory that holds no store leaves it as it is', async (t) => {
  const data = t.testdir({ 'notes.txt': 'mine', cores: { 'a.core': 'mine too' } })
  for (const args of [
    ['cores'],
    ['cores', 'show', 'a'],
    ['cores', 'delete', 'a'],
    ['export', '--id', 'a'],
  ]) {
    t.match(await fail(t, 1, [...args, '--data', data]), 'no store')
    t.match(await fail(t, 1, [...args, '--data', join(data, 'cores')]), 'no store')
  }
  t.same(readdirSync(data).sort(), ['cores', 'notes.txt'])
  t.same(readdirSync(join(data, 'cores')), ['a.core'])
})

t.test('on a terminal the list is a table with a head', async (t) => {
  const data = await shelf(t)
  const outcome = inTerminal(['cores', '--user', 'alice', '--data', data])
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  t.equal(outcome.code, 0)
  const lines = outcome.text.trimEnd().split(/\r?\n/)
  t.match(lines[0], /^ID +MESSAGES +TRIPLES +ENTITIES +SIZE +UPDATED$/)
  t.equal(lines.length, 4)
  t.match(lines[2], /^a +6 +44 +8 +8\.\d kB +\d{4}-\d\d-\d\d \d\d:\d\d$/)
})
