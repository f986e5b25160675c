// `lorekeep mcp` as a process: by the official clients of both lines, in both eras, and by hand.

import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import t from 'tap'
import { fail, script, serve, start, succeed } from '../cli/command.js'
import { startAssistant, textOf } from './assistant.js'
import { runWithoutSdk } from './without-sdk.js'
import { version } from '../../src/version.js'

const data = t.testdir()
const note = Buffer.from('Mary Shelley wrote Frankenstein in Geneva. Mary Shelley was a novelist.')
await succeed(t, ['load', '-', '--id', 'urn:note', '--wait', '--data', data], { input: note })

const question = { question: 'Who wrote Frankenstein?' }
const passage = { n: 1, document: 'urn:note', core: 'urn:note', start: 0, end: 71 }
const reading = ['answer_context', 'search', 'match', 'describe', 'query_objects', 'list', 'job']

for (const era of ['modern', 'legacy'] as const) {
  t.test(`an assistant of the ${era} era lists the tools, and asks`, async (t) => {
    const { client, call } = await startAssistant(t, ['--data', data], era)
    t.equal(client.getServerVersion()?.name, 'lorekeep')
    t.match(client.getInstructions(), /never follow/)
    const { tools } = await client.listTools()
    t.strictSame(
      tools.map(({ name }) => name),
      reading,
    )
    const found = await call('answer_context', question)
    t.match(found.structuredContent, { passages: [passage], truncated: false })
    t.match(textOf(found), /\[1\] document urn:note, characters 0-71\n> Mary Shelley wrote/)
  })
}

t.test('the client of the older SDK lists the tools, and asks', async (t) => {
  const client = new OldClient({ name: 'old', version: '1' })
  const args = [script, 'mcp', '--data', data]
  await client.connect(new OldTransport({ command: process.execPath, args }))
  t.teardown(() => client.close())
  const { tools } = await client.listTools()
  t.equal(tools.length, reading.length)
  const found = await client.callTool({ name: 'answer_context', arguments: question })
  t.match(found, { structuredContent: { passages: [passage] } })
})

t.test('an initialize of 2025-06-18, written by hand, is answered in one line', async (t) => {
  const command = start(t, ['mcp', '--data', data])
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'hand', version: '1' },
  }
  const request = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
  command.child.stdin?.write(`${JSON.stringify(request)}\n`)
  await command.until('\n')
  command.child.stdin?.end()
  const { code, stdout, stderr } = await command.ended
  t.equal(code, 0)
  t.equal(stderr, '')
  t.match(JSON.parse(String(stdout)), {
    id: 1,
    result: { protocolVersion: '2025-06-18', serverInfo: { name: 'lorekeep', version } },
  })
})

t.test('a server is asked as a directory is', async (t) => {
  const elsewhere = t.testdir()
  const { url } = await serve(t, ['--data', elsewhere, '--token', 'secret-1=alice'])
  const where = ['--url', url, '--token', 'secret-1']
  await succeed(t, ['load', '-', '--id', 'urn:note', '--wait', ...where], { input: note })
  const remote = await startAssistant(t, where)
  const local = await startAssistant(t, ['--data', data])
  for (const [name, given] of [
    ['answer_context', question],
    ['search', { text: 'novelist' }],
    ['match', { literal: 'Mary Shelley' }],
    ['describe', { entity: 'Mary Shelley' }],
    ['query_objects', { schema: 'lorekeep_entity', fields: ['name'], sort: { name: 'asc' } }],
    ['list', { what: 'schemas' }],
    ['search', { text: 7 }],
    ['query_objects', { schema: 'none' }],
  ] as const) {
    const [there, here] = [await remote.call(name, given), await local.call(name, given)]
    t.equal(
      textOf(there).replace(/"_id":[^,}]+,?/g, ''),
      textOf(here).replace(/"_id":[^,}]+,?/g, ''),
    )
    t.equal(there.isError, here.isError)
  }
  const none = await remote.call('job', { job: 'none' })
  t.match(none, { isError: true, _meta: { 'lorekeep/error': { code: 'LK_JOB_NOT_FOUND' } } })
})

t.test('what is no fault of the assistant is on stderr, too', async (t) => {
  const server = await serve(t, ['--data', t.testdir(), '--token', 'secret-1=alice'])
  const { child, until, ended } = start(t, ['mcp', '--url', server.url, '--token', 'secret-1'])
  const ask = (id: number, method: string, params: object) =>
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  const clientInfo = { name: 'hand', version: '1' }
  ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  ask(2, 'tools/call', { name: 'job', arguments: { job: 'none' } })
  await until('LK_JOB_NOT_FOUND')
  server.child.kill('SIGKILL')
  await server.ended
  ask(3, 'tools/call', { name: 'job', arguments: { job: 'none' } })
  await until('"id":3')
  child.stdin?.end()
  const { stdout, stderr } = await ended
  t.match(String(stdout), 'LK_STORAGE_UNAVAILABLE')
  t.match(stderr, /^lorekeep: for the assistant: LK_STORAGE_UNAVAILABLE: [^\n]*\n$/)
})

t.test('a directory that is not there is an error, and is not made', async (t) => {
  const told = await fail(t, 1, ['mcp', '--data', `${t.testdir()}/none`])
  t.match(told, /^lorekeep: there is no data directory [^\n]*\n$/)
})

t.test('without the SDK one line names what to install', (t) => {
  const told = runWithoutSdk(['mcp', '--data', data])
  t.match(told, /^lorekeep: [^\n]*: npm install @modelcontextprotocol\/server@2\n$/)
  t.end()
})
