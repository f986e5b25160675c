// What the environment says in place of flags.

import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { serve as serveFromMemory } from '../http/fixtures/serving.js'
import { fail, run, serve, succeed } from './command.js'

const sample = await succeed(t, ['sample'])

/** A directory with the core `local` of trustgraph's and of bob's, and a server with `remote` of alice's. */
async function places(t: Test) {
  const data = join(t.testdir(), 'data')
  const local = ['import', '-', '--id', 'local', '--data', data]
  await succeed(t, local, { input: sample })
  await succeed(t, [...local, '--user', 'bob', '--id', 'of-bob'], { input: sample })
  const { url, knowledge } = await serveFromMemory(t)
  await knowledge.import({ user: 'alice', id: 'remote' }, new Uint8Array(0))
  return { data, url }
}

const cores = async (
  t: Test,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
) => String(await succeed(t, ['cores', ...args], { env })).replace(/\t.*/g, '')

t.test('variables stand in for flags, and flags win', async (t) => {
  const { data, url } = await places(t)
  const [LOREKEEP_DATA, LOREKEEP_URL] = [data, url]
  const server = { LOREKEEP_URL, LOREKEEP_TOKEN: 'alice' }
  t.equal(await cores(t, { LOREKEEP_DATA }), 'local\n')
  t.equal(await cores(t, { LOREKEEP_DATA, LOREKEEP_USER: 'bob' }), 'of-bob\n')
  t.equal(await cores(t, { LOREKEEP_DATA, LOREKEEP_USER: 'bob' }, ['--user', 'x']), '')
  t.equal(await cores(t, server), 'remote\n')
  t.equal(await cores(t, { ...server, LOREKEEP_DATA }), 'remote\n')
  t.equal(await cores(t, server, ['--data', data]), 'local\n')
  t.equal(await cores(t, { ...server, LOREKEEP_DATA: 'none' }, ['--url', url]), 'remote\n')
  t.equal(await cores(t, { ...server, LOREKEEP_TOKEN: 'bob' }, ['--token', 'alice']), 'remote\n')
  const admin = { ...server, LOREKEEP_TOKEN: 'admin', LOREKEEP_USER: 'alice' }
  t.equal(await cores(t, admin), 'remote\n')
  t.equal(await cores(t, { LOREKEEP_URL }, ['--token', 'alice']), 'remote\n')
})

t.test(
  'a variable that is empty is none, and one that is wrong is told where it is used',
  async (t) => {
    const { data } = await places(t)
    const empty = { LOREKEEP_URL: '', LOREKEEP_USER: '', LOREKEEP_TOKEN: '', LOREKEEP_DATA: data }
    t.equal(await cores(t, empty), 'local\n')
    t.match(await fail(t, 2, ['cores'], { env: { LOREKEEP_URL: 'here' } }), 'LOREKEEP_URL')
    t.equal(await cores(t, { LOREKEEP_URL: 'here' }, ['--data', data]), 'local\n')
    const asked = ['nearest', '--text', 'a', '--config', 'none.json']
    t.match(await fail(t, 2, asked, { env: { LOREKEEP_URL: 'http://a' } }), 'LOREKEEP_URL')
  },
)

t.test('serve, verify and jobs take them too', async (t) => {
  const { data } = await places(t)
  const env = { LOREKEEP_DATA: data }
  t.equal((await run(t, ['verify'], { env })).code, 0)
  const queued = ['load', '-', '--id', 'urn:a', '--user', 'alice', '--data', data]
  await succeed(t, queued, { input: Buffer.from('Ellen lives in Bath.') })
  const jobs = async (LOREKEEP_USER: string) =>
    String(await succeed(t, ['jobs'], { env: { ...env, LOREKEEP_USER } })).split('\n').length - 1
  t.same([await jobs(''), await jobs('alice'), await jobs('bob')], [1, 1, 0])
  const { url, token } = await serve(t, [], env)
  t.equal(await cores(t, { LOREKEEP_URL: url, LOREKEEP_TOKEN: token }), 'local\n')
})
