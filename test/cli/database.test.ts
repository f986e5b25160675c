import { join } from 'node:path'
import t from 'tap'
import { shownPlace } from '../../src/cli/config/place.js'
import { sampleId } from '../../src/cli/commands/cores/sample.js'
import { Cluster, skip } from '../adapters/postgres/cluster.js'
import { fail, run, serve, start, succeed } from './command.js'

t.test('a password is not shown', async (t) => {
  t.equal(shownPlace('postgres://a:secret@b,c:1/d'), 'postgres://a:…@b,c:1/d')
  t.equal(
    shownPlace('postgres://b/d?user=a&password=secret&x=1'),
    'postgres://b/d?user=a&password=…&x=1',
  )
  t.equal(shownPlace('./a:b@c'), './a:b@c')
})

if (skip !== false) t.test('PostgreSQL', { skip }, async () => undefined)
else {
  const cluster = await Cluster.start()
  t.teardown(() => cluster.stop())
  const data = `${cluster.url}?schema=one`
  const id = ['--id', sampleId]

  t.test('what is looked for is not made', async (t) => {
    const told = await fail(t, 1, ['cores', '--data', cluster.url])
    t.match(told, /there is no store in the schema 'lorekeep' of 'postgres:/u)
    t.match(
      await fail(t, 2, ['verify', cluster.url]),
      /there is no store in the schema 'lorekeep'/u,
    )
    t.strictSame(await cluster.query("SELECT to_regnamespace('lorekeep')::text"), [[null]])
    t.match(
      await fail(t, 2, ['cores', '--data', `${cluster.url}?schema=A-b`]),
      /--data: schema must be a name of 1 to 63/u,
    )
  })

  t.test('a store moves from a database to a directory and back', async (t) => {
    const dir = t.testdir()
    const sample = await succeed(t, ['sample'])
    await succeed(t, ['import', '-', ...id, '--data', data], { input: sample })
    t.same(await succeed(t, ['export', ...id, '--data', data]), sample)
    const text = join(dir, 'text')
    await succeed(t, ['load', '-', '--id', 'urn:text', '--wait', '--data', data], {
      input: Buffer.from('Ada Lovelace was born in London.'),
    })
    const cores = await succeed(t, ['cores', '--data', data])
    const [first, second, directory] = ['first', 'second', 'directory'].map((name) =>
      join(dir, name),
    )
    await succeed(t, ['index', '--data', data])
    await succeed(t, ['backup', first!, '--data', data])
    await succeed(t, ['restore', first!, directory!])
    t.same(await succeed(t, ['cores', '--data', directory!]), cores)
    await succeed(t, ['backup', second!, '--data', directory!])
    const other = `${cluster.url}?schema=two`
    await succeed(t, ['restore', second!, other])
    t.same(await succeed(t, ['cores', '--data', other]), cores)
    t.same(await succeed(t, ['export', ...id, '--data', other]), sample)
    const verified = await run(t, ['verify', '--deep', other])
    t.match(verified, { code: 0, stderr: /: nothing is wrong\n$/u })
    t.match(await fail(t, 1, ['restore', second!, other]), /there is a store in .*schema=two/u)
    t.match(await fail(t, 2, ['verify', '--salvage', other, text]), /not a database/u)
  })

  t.test('a server has a database to itself, and leaves it to the next', async (t) => {
    const first = await serve(t, ['--data', data])
    t.match(first.stderr(), `# data in ${data}\n`)
    const second = start(t, ['serve', '--port', '0', '--data', data])
    t.match(await second.ended, {
      code: 1,
      stderr: /the data is in use: .* has cores of the schema one open/u,
    })
    // Whoever only reads needs nobody's leave.
    const file = join(t.testdir(), 'backup')
    await succeed(t, ['backup', file, '--data', data])
    const verified = await run(t, ['verify', '--deep', data])
    t.match(verified, { code: 0, stderr: /: nothing is wrong\b/u })
    const copy = `${cluster.url}?schema=copy`
    await succeed(t, ['restore', file, copy])
    t.match(String(await succeed(t, ['cores', '--data', copy])), /urn:text/u)
    t.match(await fail(t, 1, ['restore', file, data]), /has flows of the schema one open/u)
    const remote = ['--url', first.url, '--token', first.token]
    t.match(String(await succeed(t, ['ask', 'Where was Ada born?', ...remote])), /London/u)
    // Whoever is killed leaves nothing behind that the next would have to wait for.
    first.child.kill('SIGKILL')
    await first.ended
    t.match(String(await succeed(t, ['cores', '--data', data])), /urn:text/u)
  })
}
