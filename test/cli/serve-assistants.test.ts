// `lorekeep serve` for assistants: whether `/mcp` is there, and what may be done by it.

import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { createClient } from '../mcp/assistant.js'
import { runWithoutSdk } from '../mcp/without-sdk.js'
import { fail, serve } from './command.js'

const token = ['--token', 'secret-1=alice']

async function toolsAt(t: Test, url: string): Promise<string[]> {
  const client = createClient('modern')
  const requestInit = { headers: { authorization: 'Bearer secret-1' } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  t.teardown(() => client.close())
  return (await client.listTools()).tools.map(({ name }) => name)
}

t.test('assistants are answered where that is asked for, and write where that is', async (t) => {
  const place = t.testdir({
    'reads.json': '{ "mcp": true }',
    'writes.json': '{ "mcp": "write" }',
  })
  const config = (name: string) => ['--config', join(place, name)]
  for (const [flags, count] of [
    [['--mcp'], 7],
    [['--mcp', 'write'], 8],
    [config('reads.json'), 7],
    [config('writes.json'), 8],
    [[...config('writes.json'), '--mcp'], 7],
    [[...config('reads.json'), '--mcp', 'write'], 8],
  ] as const) {
    const data = join(place, flags.map((flag) => flag.replace(/\W/g, '')).join('-'))
    const { url, stderr, child, ended } = await serve(t, ['--data', data, ...token, ...flags])
    const tools = await toolsAt(t, url)
    t.equal(tools.length, count, flags.join(' '))
    t.equal(tools.includes('load'), count === 8)
    const may = count === 8 ? 'read and load texts' : 'read'
    t.match(stderr(), `# assistants ${may} at ${url}/mcp\n`)
    child.kill('SIGTERM')
    t.equal((await ended).code, 0)
  }
})

t.test('by default there is no such path, and other words are refused', async (t) => {
  const { url, stderr } = await serve(t, ['--data', t.testdir(), ...token])
  t.equal((await fetch(`${url}/mcp`, { method: 'POST', body: '{}' })).status, 404)
  t.notMatch(stderr(), /^# assistants/m)
  t.match(await fail(t, 2, ['serve', '--mcp', 'all']), /Allowed choices are write/)
  const file = join(t.testdir({ 'config.json': '{ "mcp": "all" }' }), 'config.json')
  t.match(await fail(t, 1, ['serve', '--config', file]), /mcp must be true, false or 'write'/)
})

t.test('without the SDK the start ends, and names what to install', (t) => {
  const told = runWithoutSdk(['serve', '--port', '0', '--data', t.testdir(), '--mcp'])
  t.match(told, /^lorekeep: [^\n]*: npm install @modelcontextprotocol\/server@2\n$/)
  t.end()
})
