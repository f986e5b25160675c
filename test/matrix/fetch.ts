// createFetchHandler() in the server of the runtime that runs this file, Bun.serve or Deno.serve, over both adapters,
// and lorekeep/client with the fetch of that runtime. Ends with `fetch: ok`, or throws.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { connect } from '../../src/client/index.js'
import { createFetchHandler } from '../../src/http/index.js'
import type { FetchHandler } from '../../src/http/index.js'
import { createLorekeep } from '../../src/index.js'
import type { Backend } from '../../src/index.js'
import { fetchTrip, ofTrip } from '../http/fixtures/fetch-trip.js'
import { core } from '../http/fixtures/serving.js'

interface Serving {
  readonly port: number
  readonly stop: () => Promise<void>
}
interface Runtimes {
  readonly Bun?: {
    serve(options: { port: number; idleTimeout: number; fetch: FetchHandler }): {
      readonly port: number
      stop(isAbrupt: boolean): Promise<void>
    }
  }
  readonly Deno?: {
    serve(
      options: { port: number; onListen: () => void },
      answer: FetchHandler,
    ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> }
  }
}

function serve(answer: FetchHandler): Serving {
  const { Bun, Deno } = globalThis as Runtimes
  if (Bun !== undefined) {
    const server = Bun.serve({ port: 0, idleTimeout: 60, fetch: answer })
    return { port: server.port, stop: () => server.stop(true) }
  }
  assert.ok(Deno, 'neither Bun nor Deno')
  const server = Deno.serve({ port: 0, onListen: () => {} }, answer)
  return { port: server.addr.port, stop: () => server.shutdown() }
}

const directory = await mkdtemp(join(tmpdir(), 'lorekeep-fetch-'))
try {
  await over('memory', new MemoryBackend())
  await over('LevelDB', new LevelBackend(join(directory, 'data')))
  console.log('fetch: ok')
} finally {
  await rm(directory, { recursive: true })
}

async function over(name: string, backend: Backend): Promise<void> {
  const keep = await createLorekeep({ backend })
  const ending = new AbortController()
  const { knowledge, objects, flows } = keep
  const stores = { knowledge, objects, flows }
  const trip = createFetchHandler({ ...stores, ...ofTrip, signal: ending.signal })
  const server = serve(trip)
  try {
    await fetchTrip(fetch, `http://127.0.0.1:${server.port}/api/v1`)
    console.log(`${name}: the handler`)
    keep.flows.run()
    await client(`http://127.0.0.1:${server.port}`)
    console.log(`${name}: the client`)
  } finally {
    ending.abort()
    await server.stop()
    await keep.close()
  }
}

async function client(url: string): Promise<void> {
  const keep = connect({ url, token: 'admin' })
  const ref = { user: 'alice', id: 'urn:by-client' }
  const bytes = core(ref.id, ref.user, 3000)

  const told: number[] = []
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000)
  }
  const onProgress = ({ bytes }: { bytes: number }) => void told.push(bytes)
  const summary = await keep.knowledge.import(ref, pieces(), { onProgress })
  assert.equal(summary.bytes, bytes.length)
  assert.equal(told.at(-1), bytes.length)
  const out: Uint8Array[] = []
  for await (const chunk of await keep.knowledge.export(ref)) out.push(chunk)
  assert.ok(Buffer.concat(out).equals(bytes))
  assert.equal(await keep.knowledge.graph({ user: 'alice', cores: [ref.id] }).count(), 6000)
  const missing = { ...ref, id: 'none' }
  await assert.rejects(
    async () => keep.knowledge.export(missing),
    ({ code }: { code?: string }) => code === 'LK_CORE_NOT_FOUND',
  )

  await keep.objects.defineSchema({ name: 'book', fields: { id: { type: 'string' } } })
  const metadata = { id: 'b', user: 'alice', collection: 'shelf' }
  await keep.objects.import({ metadata, schema_name: 'book', values: [{ id: '1' }, { id: '2' }] })
  assert.equal((await keep.objects.query({ schema_name: 'book' })).total, 2)

  const text = { id: 'urn:text', user: 'alice', content: 'Alice met Bob in Berlin.' }
  const { job } = await keep.flows.load('default', text)
  let last = ''
  for await (const { type, state } of keep.flows.watch({ job })) last = `${type} ${state}`
  assert.match(last, /done$/)

  const leaving = new AbortController()
  const watching = (async () => {
    for await (const _ of keep.flows.watch({ signal: leaving.signal }));
  })()
  const at = performance.now()
  leaving.abort()
  await watching
  assert.ok(performance.now() - at < 1000)
  await keep.close()
}
