// What stderr says of a failure.

import { join } from 'node:path'
import t from 'tap'
import { LorekeepError } from '../../src/errors.js'
import { CutShort, Interrupted, UsageError } from '../../src/cli/output/failure.js'
import { toldError, toldLines } from '../../src/cli/output/report.js'
import { run, serve, succeed } from './command.js'

interface Told {
  readonly error: Record<string, unknown>
}

t.test('with --json a failure is one object, in a directory and of a server alike', async (t) => {
  const data = join(t.testdir(), 'data')
  const schema = '{"name":"note","fields":{"id":{"type":"string"}}}'
  await succeed(t, ['schema', 'define', '-', '--data', data], { input: Buffer.from(schema) })
  const told = async (args: readonly string[], input: Uint8Array = new Uint8Array()) => {
    const { code, stdout, stderr } = await run(t, args, { input })
    t.equal(code, 1)
    t.equal(stdout.length, 0)
    return (JSON.parse(stderr) as Told).error
  }
  const failures = async (where: readonly string[]) => [
    await told(['cores', 'show', 'none', '--json', ...where]),
    await told(
      ['schema', 'define', '-', '--json', ...where],
      Buffer.from('{"name":"x","feilds":{},"indexes":7}'),
    ),
    await told([
      ...['objects', 'query', '--schema', 'note', '--json', ...where],
      ...['--filter', '{"id":{"$ltt":3,"$gtt":4}}'],
    ]),
    await told(['objects', 'query', '--schema', 'note', '--json', ...where, '--after', 'x']),
  ]
  const local = await failures(['--data', data])
  t.match(local[0], { code: 'LK_CORE_NOT_FOUND', message: 'none' })
  t.match(local[1], { code: 'LK_SCHEMA_INVALID', errors: [{ path: /./, message: /./ }] })
  t.match(local[2], { code: 'LK_QUERY', errors: [{ path: /ltt/ }, { path: /gtt/ }] })
  t.match(local[3], { code: 'LK_CURSOR', errors: [{ path: 'after' }] })
  const { url, token } = await serve(t, ['--data', data])
  const remote = await failures(['--url', url, '--token', token])
  for (const [index, error] of remote.entries()) {
    // What is not there is no failure of the request.
    if (index > 0) t.match(error['details'], { requestId: String })
    const { requestId: _id, ...details } = (error['details'] ?? {}) as Record<string, unknown>
    const rest = { ...error, details }
    if (Object.keys(details).length === 0) delete (rest as { details?: unknown }).details
    t.strictSame(rest, local[index])
  }
})

t.test('with --json wrong usage is an object too', async (t) => {
  for (const args of [
    ['cores', '--jsno', '--json'],
    ['match', '--count', '--limit', '1', '--json', '--data', 'none'],
  ]) {
    const { code, stderr } = await run(t, args)
    t.equal(code, 2)
    t.match(JSON.parse(stderr), { error: { code: 'USAGE', message: /./ } })
  }
  t.match((await run(t, ['cores', '--', '--json'])).stderr, /^lorekeep: /)
})

t.test('several problems of an input are a line each', async (t) => {
  const input = Buffer.from('{"name":"x","feilds":{},"indexes":7}')
  const data = join(t.testdir(), 'data')
  const { code, stderr } = await run(t, ['schema', 'define', '-', '--data', data], { input })
  t.equal(code, 1)
  const [head, ...lines] = stderr.trimEnd().split('\n')
  t.match(head, /^lorekeep: [^;]*not a valid schema[^;]*:$/)
  t.ok(lines.length > 1)
  t.match(lines.join('\n'), /^ {2}feilds is unknown/m)
})

t.test('an error is told with what it knows', async (t) => {
  const errors = [
    { path: 'a', message: 'is missing' },
    { path: '', message: 'is odd' },
  ]
  const error = new LorekeepError('LK_QUERY', 'a is missing; is odd (and 3 more)', {
    details: { errors, errorsOmitted: 3, line: 7 },
  })
  const cut = new CutShort(`x.json: ${error.message} (2 are done)`, error)
  t.strictSame(toldError(cut), {
    code: 'LK_QUERY',
    message: cut.message,
    errors,
    errorsOmitted: 3,
    details: { line: 7 },
  })
  const head = 'x.json: not a valid query (2 are done):'
  t.strictSame(toldLines(cut), [head, '  a is missing', '  is odd', '  and 3 more'])
  const objects = new LorekeepError('LK_OBJECT_INVALID', 'two of them', {
    details: {
      errors: [
        { index: 2, id: 'p', path: 'x', message: 'must be a string' },
        { index: 3, message: 'is null' },
      ],
    },
  })
  t.strictSame(toldLines(objects).slice(1), ['  [2] p x must be a string', '  [3] is null'])
  const one = new LorekeepError('LK_QUERY', 'a is missing', { details: { errors: [errors[0]] } })
  t.strictSame(toldLines(one), [one.message])
  const codes = [
    new UsageError('no'),
    new Interrupted('SIGINT'),
    new Error('no', { cause: Object.assign(new Error('gone'), { code: 'ENOENT' }) }),
    new Error('no'),
    7,
  ].map((error) => toldError(error).code)
  t.strictSame(codes, ['USAGE', 'INTERRUPTED', 'ENOENT', 'FAILED', 'FAILED'])
})
