import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Job } from '../../src/flow/types.js'
import { fail, inTerminal, run, serve, succeed } from './command.js'

const flow = { id: 'a b', steps: ['chunk', { name: 'embed', options: { dimensions: 8 } }] }

t.test('flows are kept, in a directory and in a server alike', async (t) => {
  const data = join(t.testdir(), 'data')
  const bad = { id: 'bad', steps: ['cut'] }
  const input = Buffer.from(JSON.stringify([flow, bad]))
  const define = (where: readonly string[], from: Buffer) =>
    run(t, ['flows', 'define', '-', ...where], { input: from })
  const refused = await define(['--data', data], input)
  t.match(refused, { code: 1, stderr: /bad.*steps\[0\].*a b/ })
  const list = async (where: readonly string[]) => String(await succeed(t, ['flows', ...where]))
  t.equal(
    await list(['--data', data]),
    'a b\tactive\t0\t0\t0\t0\t0\tchunk embed\ndefault\tactive\t0\t0\t0\t0\t0\tchunk embed extract store index\n',
  )
  const shown = await succeed(t, ['flows', 'show', 'a b', '--data', data])

  const oneLine = String(await succeed(t, ['flows', 'show', 'a b', '--json', '--data', data]))
  t.match(oneLine, /^[^\n]+\n$/, 'one line with --json')
  t.strictSame(JSON.parse(oneLine), JSON.parse(String(shown)))
  t.ok(String(shown).split('\n').length > 10, 'many lines without')

  const { url, token, child, ended } = await serve(t, ['--data', data])
  const remote = ['--url', url, '--token', token]
  t.strictSame(await succeed(t, ['flows', 'show', 'a b', ...remote]), shown)
  t.equal((await define(remote, input)).stderr, refused.stderr)
  const stopped = await succeed(t, ['flows', 'stop', 'a b', '--json', ...remote])
  t.match(JSON.parse(String(stopped)), { id: 'a b', active: false })
  await fail(t, 1, ['load', 'package.json', '--flow', 'a b', ...remote])
  await fail(t, 1, ['flows', 'stop', 'none', ...remote])
  t.equal((await define(remote, shown)).code, 0)
  t.match(await list(remote), /^a b\tactive\t/)
  await succeed(t, ['flows', 'stop', 'a b', ...remote])
  child.kill('SIGTERM')
  await ended

  t.match(await list(['--data', data]), /^a b\tstopped\t/)
  await succeed(t, ['flows', 'start', 'a b', '--data', data])
  await succeed(t, ['load', 'package.json', '--flow', 'a b', '--data', data])
  await fail(t, 1, ['flows', 'remove', 'a b', '--data', data])
  await succeed(t, ['flows', 'remove', 'default', '--data', data])
  await fail(t, 1, ['flows', 'remove', 'default', '--data', data])
  const [line] = (await list(['--json', '--data', data])).split('\n')
  t.match(JSON.parse(line ?? ''), { id: 'a b', active: true, stats: { queued: 1 } })
})

t.test('the columns of jobs are in the order that is documented', async (t) => {
  const data = join(t.testdir(), 'data')
  const user = ['--user', 'alice']
  const loaded = await succeed(t, ['load', 'package.json', '--id', 'd', ...user, '--data', data])
  t.equal(loaded.length, 0)
  const row = String(await succeed(t, ['jobs', '--data', data]))
    .slice(0, -1)
    .split('\t')
  const job = JSON.parse(String(await succeed(t, ['jobs', '--json', '--data', data]))) as Job
  const fields: readonly (readonly [name: string, value: string])[] = [
    ['id', job.id],
    ['state', job.state],
    ['attempts', '0'],
    ['document', 'd'],
    ['user', 'alice'],
    ['time of the last change', job.updatedAt],
    ['steps that are done', ''],
  ]
  t.strictSame(
    row,
    fields.map(([, value]) => value),
  )
  const names = fields.map(([name]) => name)
  // Less what each of them says of a column.
  const page = readFileSync('docs/cli.md', 'utf8').replace(
    / \(`queued`[^)]*\)| and the|, with/g,
    '',
  )
  const listed = /a line per job with ([^.]*?) with spaces between, separated by tabs/.exec(page)
  t.strictSame(listed?.[1]?.split(', '), names)
  const help = String(await succeed(t, ['jobs', 'list', '--help'])).replace(/\s+/g, ' ')
  t.match(help, `job, ${names.slice(1).join(', ')}, separated by tabs`)
})

t.test('all jobs that match are changed, and none by leaving something out', async (t) => {
  const data = join(t.testdir(), 'data')
  const here = ['--data', data]
  for (const id of ['a', 'b', 'c', 'd']) {
    await succeed(t, ['load', 'package.json', '--id', id, '--user', 'alice', ...here])
  }
  // A server would process them.
  await succeed(t, ['flows', 'stop', 'default', ...here])
  for (const work of ['retry', 'cancel']) {
    t.match(await fail(t, 2, ['jobs', work, ...here]), '--all')
    t.match(await fail(t, 2, ['jobs', work, 'x', '--state', 'dead', ...here]), 'not both')
  }
  const cancel = ['jobs', 'cancel', '--json']
  const said = async (args: readonly string[], where = here) =>
    JSON.parse(String(await succeed(t, [...args, ...where]))) as unknown
  t.strictSame(await said([...cancel, '--document', 'a']), { cancelled: 1 })
  const { id } = (await said(['jobs', '--document', 'd', '--json'])) as { id: string }
  t.strictSame(await said([...cancel, id]), { cancelled: 1 })
  t.strictSame(await said(['jobs', 'retry', '--all', '--json']), { retried: 0 })
  t.match((await run(t, ['jobs', 'cancel', '--user', 'bob', ...here])).stderr, 'cancelled 0 jobs')
  const { url, token } = await serve(t, here)
  const remote = ['--url', url, '--token', token]
  t.strictSame(await said([...cancel, '--all'], remote), { cancelled: 2 })
  t.strictSame(await said([...cancel, '--all'], remote), { cancelled: 0 })
})

t.test('on a terminal flows and jobs are tables with a head', async (t) => {
  const data = join(t.testdir(), 'data')
  await succeed(t, ['load', 'package.json', '--id', 'urn:a', '--data', data])
  const flows = inTerminal(['flows', '--data', data])
  const jobs = inTerminal(['jobs', '--data', data])
  if (flows === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  t.match(flows.text, /^ID +STATE +QUEUED [^\n]+\r?\ndefault +active +1 /)
  t.match(jobs?.text, /^JOB +STATE [^\n]+\r?\n\S+ +queued /)
})

t.test('looking into a directory that is not there does not make it', async (t) => {
  const data = join(t.testdir(), 'none')
  for (const command of ['flows', 'jobs']) await fail(t, 1, [command, '--data', data])
  await fail(t, 1, ['flows', 'stop', 'default', '--data', data])
  await fail(t, 1, ['documents', 'show', 'a', '--data', data])
  t.notOk(existsSync(data))
})
