// The official clients of both lines, in both eras, do all that there is, over stdio and HTTP.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t, { type Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { script, serve } from '../cli/command.js'
import { createClient } from './assistant.js'

interface Result {
  readonly structuredContent?: unknown
  readonly isError?: unknown
}

interface Listed {
  readonly resources: readonly { readonly uri: string }[]
  readonly nextCursor?: string | undefined
}

interface Options {
  readonly signal?: AbortSignal
  readonly onprogress?: (told: { readonly progress: number; readonly message?: string }) => void
}

interface Connected {
  readonly client: Client | OldClient
  call(name: string, given: Readonly<Record<string, unknown>>, options?: Options): Promise<Result>
}

/** How a client reaches a server: a program that it starts, or a URL. */
type Door = { readonly args: readonly string[] } | { readonly url: string }

const requestInit = { headers: { authorization: 'Bearer secret-1' } }
const command = process.execPath

const clients: Readonly<Record<string, (door: Door) => Promise<Connected>>> = {
  'of 2026-07-28': (door) => connectNew(createClient('modern'), door),
  'of initialize': (door) => connectNew(createClient('legacy'), door),
  async 'of the 1.x line'(door) {
    const client = new OldClient({ name: 'old', version: '1' })
    const transport =
      'url' in door
        ? new OldHttp(new URL(door.url), { requestInit })
        : new OldStdio({ command, args: [...door.args] })
    await client.connect(transport as never)
    const call: Connected['call'] = (name, given, options) =>
      client.callTool({ name, arguments: given }, undefined, options as never) as Promise<Result>
    return { client, call }
  },
}

async function connectNew(client: Client, door: Door): Promise<Connected> {
  const transport =
    'url' in door
      ? new StreamableHTTPClientTransport(new URL(door.url), { requestInit })
      : new StdioClientTransport({ command, args: [...door.args] })
  await client.connect(transport)
  const call: Connected['call'] = (name, given, options) =>
    client.callTool({ name, arguments: given }, options as never)
  return { client, call }
}

const schemas = 130
const original = t.testdir()
const keep = await createLorekeep({ backend: new LevelBackend(join(original, 'data')) })
for (let n = 0; n < schemas; n++) {
  await keep.objects.defineSchema({ name: `s${n}`, fields: { id: { type: 'string' } } })
}
const runner = keep.flows.run()
const content = 'Mary Shelley wrote Frankenstein in Geneva. Mary Shelley was a novelist.'
const { job } = await keep.flows.load('default', { id: 'urn:note', content, user: 'alice' })
for await (const _event of keep.flows.watch({ job })) continue
await runner.stop()
await keep.close()

for (const [name, connect] of Object.entries(clients)) {
  t.test(`a client ${name} does everything over stdio`, async (t) => {
    const args = [script, 'mcp', '--write', '--user', 'alice', '--data', copied(t)]
    await doEverything(t, await connect({ args }))
  })

  t.test(`a client ${name} does everything over HTTP`, async (t) => {
    const flags = ['--data', copied(t), '--token', 'secret-1=alice', '--mcp', 'write']
    const { url } = await serve(t, flags)
    await doEverything(t, await connect({ url: `${url}/mcp` }))
  })
}

function copied(t: Test): string {
  const data = join(t.testdir(), 'data')
  cpSync(join(original, 'data'), data, { recursive: true })
  return data
}

async function doEverything(t: Test, { client, call }: Connected): Promise<void> {
  t.teardown(() => client.close())
  const { tools } = await client.listTools()
  t.equal(tools.length, 8)
  t.match(await call('answer_context', { question: 'Who wrote Frankenstein?' }), {
    structuredContent: { passages: [{ n: 1, document: 'urn:note' }] },
  })
  t.match(await call('search', { text: 7 }), { isError: true })

  t.equal((await client.listResourceTemplates()).resourceTemplates.length, 3)
  const uris: string[] = []
  // The newer client goes through all pages by itself.
  let cursor: string | undefined
  do {
    const page: Listed = await client.listResources(cursor === undefined ? {} : { cursor })
    uris.push(...page.resources.map(({ uri }) => uri))
    cursor = page.nextCursor
  } while (cursor !== undefined && uris.length < 1000)
  t.equal(new Set(uris).size, uris.length)
  t.ok(uris.length >= schemas + 2, `${uris.length} resources`)
  for (const uri of uris.slice(0, 3)) {
    const [contents] = (await client.readResource({ uri })).contents
    t.match(contents, { uri, text: /./ })
  }
  await t.rejects(client.readResource({ uri: 'lorekeep://document/none' }), { code: -32602 })

  t.equal((await client.listPrompts()).prompts.length, 2)
  const asking = { name: 'ask', arguments: { question: 'Who wrote Frankenstein?' } }
  t.match(await client.getPrompt(asking), {
    messages: [{ role: 'user', content: { type: 'text', text: /> Mary Shelley wrote/ } }],
  })
  await waitForLong(t, call)
}

/** With progress, with a cancellation on the way, and to the end. */
async function waitForLong(t: Test, call: Connected['call']): Promise<void> {
  const sentence = (n: number) => `Keeper ${n} lives in Eddystone, and writes to Mary Shelley.`
  const text = Array.from({ length: 1500 }, (_, n) => sentence(n)).join(' ')
  const { structuredContent } = await call('load', { document: 'urn:keepers', text })
  const { job } = structuredContent as { job: string }
  const told: number[] = []
  const leaving = new AbortController()
  const waiting = call(
    'job',
    { job, wait_seconds: 60 },
    {
      signal: leaving.signal,
      onprogress({ progress, message }) {
        told.push(progress)
        t.match(message, /^(queued|active|done)/)
        if (told.length === 2) leaving.abort()
      },
    },
  )
  await t.rejects(waiting)
  t.equal(told.length, 2, 'it told how far it was')
  t.ok(told[0]! < told[1]!)
  t.match(await call('job', { job, wait_seconds: 60 }), { structuredContent: { state: 'done' } })
}
