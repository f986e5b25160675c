// What a user does on the first day, on whichever runtime runs this file: the library over both
// adapters with all three stores, the HTTP handler, and the command. Ends with `smoke: ok`, or throws.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { createHandler } from '../../src/http/index.js'
import { createLorekeep } from '../../src/index.js'
import type { Backend, CoreRef, Lorekeep } from '../../src/index.js'

const core: CoreRef = { user: 'alice', id: 'urn:visit' }
const content = 'Ellen lives in a house by the Thames. The Guest is a visitor from the past.'

const directory = await mkdtemp(join(tmpdir(), 'lorekeep-smoke-'))
try {
  const exported = await library(new MemoryBackend())
  const data = join(directory, 'data')
  const stored = await library(new LevelBackend(data))
  assert.equal(stored.triples, exported.triples)
  await reopened(data, stored.bytes)
  await command(data, stored.bytes)
  console.log('smoke: ok')
} finally {
  await rm(directory, { recursive: true })
}

interface Exported {
  readonly bytes: Buffer
  readonly triples: number
}

async function library(backend: Backend): Promise<Exported> {
  const keep = await createLorekeep({ backend })
  try {
    keep.flows.run()
    const { job } = await keep.flows.load('default', { ...core, content })
    for await (const { type } of keep.flows.watch({ job })) assert.notEqual(type, 'dead')
    assert.equal((await keep.flows.job(job))?.state, 'done')

    const stream = await keep.knowledge.export(core)
    const { triples } = stream
    const bytes = await buffer(stream)
    assert.ok(triples > 0)

    // Elsewhere under the same name: the same bytes.
    const elsewhere = await createLorekeep({ backend: new MemoryBackend() })
    await elsewhere.knowledge.import(core, [bytes])
    assert.ok(bytes.equals(await buffer(await elsewhere.knowledge.export(core))))
    await elsewhere.close()

    const { sources } = await keep.knowledge
      .graph({ user: 'alice' })
      .retrieve({ text: 'Where does Ellen live?' })
    assert.match(sources[0]?.text ?? '', /^Ellen lives/)

    await keep.objects.defineSchema({
      name: 'book',
      fields: { id: { type: 'string', required: true }, year: { type: 'number' } },
      indexes: ['year'],
    })
    await keep.objects.import({
      metadata: { id: 'batch-1', user: 'alice', collection: 'shelf' },
      schema_name: 'book',
      values: [
        { id: 'a', year: 1890 },
        { id: 'b', year: 1891 },
      ],
    })
    const page = await keep.objects.query({ schema_name: 'book', filters: { year: { $gt: 1890 } } })
    assert.equal(page.total, 1)
    await overHttp(keep, bytes)
    return { bytes, triples }
  } finally {
    await keep.close()
  }
}

async function overHttp(keep: Lorekeep, bytes: Buffer): Promise<void> {
  const authenticate = (token: string | undefined) =>
    token === 'secret' ? { user: 'alice' } : null
  const { knowledge, objects, flows } = keep
  const handler = createHandler({ knowledge, objects, flows, authenticate })
  const server = createServer((request, response) => void handler(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const headers = { authorization: 'Bearer secret' }
  const place = (id: string) => `id=${encodeURIComponent(id)}&user=alice`
  try {
    assert.equal((await fetch(`${base}/export-core?${place(core.id)}`)).status, 401)
    const sent = await fetch(`${base}/import-core?${place('urn:copy')}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: Uint8Array.from(bytes),
    })
    assert.equal(sent.status, 200)
    const answer = await fetch(`${base}/export-core?${place(core.id)}`, { headers })
    assert.ok(bytes.equals(Buffer.from(await answer.arrayBuffer())))
    const query = await fetch(`${base}/flow/default/objects/query`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ schema_name: 'book' }),
    })
    assert.equal(((await query.json()) as { total: number }).total, 2)
    assert.equal(await knowledge.delete({ user: 'alice', id: 'urn:copy' }), true)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function reopened(data: string, bytes: Buffer): Promise<void> {
  const keep = await createLorekeep({ backend: new LevelBackend(data) })
  assert.ok(bytes.equals(await buffer(await keep.knowledge.export(core))))
  assert.equal((await keep.objects.query({ schema_name: 'book' })).total, 2)
  await keep.close()
}

async function command(data: string, bytes: Buffer): Promise<void> {
  const child = lorekeep('export', '--id', core.id, '--user', core.user, '--data', data)
  const [[code], stdout] = await Promise.all([once(child, 'close'), buffer(child.stdout)])
  assert.equal(code, 0)
  assert.ok(bytes.equals(stdout))

  const server = lorekeep('serve', '--port', '0', '--data', data)
  const ended = once(server, 'close')
  let said = ''
  for await (const chunk of server.stdout as AsyncIterable<Buffer>) {
    said += chunk.toString()
    if (said.includes('\n')) break
  }
  const [, url] = /^lorekeep listening on (\S+)/.exec(said) ?? []
  assert.ok(url, said)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  // Deno's own kill() reports the signal, whatever the process made of it.
  process.kill(server.pid ?? NaN, 'SIGTERM')
  assert.deepEqual(await ended, [0, null])
}

function lorekeep(...args: string[]) {
  const runtime = 'Deno' in globalThis ? ['run', '--allow-all'] : []
  const script = resolve('dist/src/cli/main.js')
  const child = spawn(process.execPath, [...runtime, script, ...args])
  text(child.stderr).then(
    (told) => child.exitCode === 0 || process.stderr.write(told),
    () => {},
  )
  return child
}
