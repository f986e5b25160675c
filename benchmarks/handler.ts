// Small requests: the processor time of a server that answers them by createHandler(), against one of bare node:http that
// answers the same bytes; and with somebody who listens to node:diagnostics_channel against nobody.

import { fork } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { fileURLToPath } from 'node:url'
import { MemoryBackend } from '../adapters/memory.js'
import { createHandler } from '../src/http/index.js'
import { createLorekeep } from '../src/index.js'
import { operations } from '../src/tracing.js'
import type { Asked, Asking } from './handler-client.js'
import { serve } from './http-server.js'
import { check, compareOperations, report } from './measure.js'

const rounds = 5
const count = 1000
const boats = 1000

const query = { schema_name: 'boats', filters: { oars: { $gte: 2 } }, limit: 100 }
const kinds: Readonly<Record<string, Asked>> = {
  whoami: { method: 'GET', path: '/api/v1/whoami' },
  'GET of an object': { method: 'GET', path: '/api/v1/collections/c/objects/boat-7' },
  'a page of 100 objects': {
    method: 'POST',
    path: '/api/v1/flow/default/objects/query',
    body: JSON.stringify(query),
  },
}

await using keep = await createLorekeep({ backend: new MemoryBackend() })
await keep.objects.defineSchema({
  name: 'boats',
  fields: { id: { type: 'string' }, oars: { type: 'number' }, text: { type: 'text' } },
  indexes: ['oars'],
})
await keep.objects.import({
  metadata: { id: 'b', user: 'alice', collection: 'c' },
  schema_name: 'boats',
  values: Array.from({ length: boats }, (_, n) => ({
    id: `boat-${n}`,
    oars: n % 8,
    text: `The boat ${n} lies below the bridge of Hammersmith.`,
  })),
})
const { knowledge, flows } = keep
const handler = createHandler({
  ...{ knowledge, objects: keep.objects, flows },
  authenticate: (token) => (token === 'secret' ? { user: 'alice' } : null),
})
const server = await serve((request, response) => void handler(request, response))
const client = fork(fileURLToPath(new URL('./handler-client.js', import.meta.url)))

for (const [name, asked] of Object.entries(kinds)) {
  const sample = await fetch(server.url + asked.path, init(asked))
  check(sample.status === 200, `${name}: ${sample.status}`)
  const bytes = Buffer.from(await sample.arrayBuffer())
  const bare = await serve(answering(bytes, sample.headers))
  const times = { ours: [] as number[], bare: [] as number[], told: [] as number[] }
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const ours = await taken(server.url, asked, bytes.length)
    const theirs = await taken(bare.url, asked, bytes.length)
    const told = await listening(() => taken(server.url, asked, bytes.length))
    if (round === 0) continue
    times.ours.push(ours)
    times.bare.push(theirs)
    times.told.push(told)
  }
  await bare.close()
  const unit = { count, unit: 'requests/s' }
  const scenario = `${name}, processor time of the server`
  report(compareOperations({ scenario, peer: 'node:http alone' }, unit, times.ours, times.bare))
  const subscribed = `${name}, all diagnostics channels listened to`
  const names = { scenario: subscribed, peer: 'nobody listens' }
  report(compareOperations(names, unit, times.told, times.ours))
}
client.disconnect()
await server.close()

function init({ method, body }: Asked): RequestInit {
  return {
    method,
    headers: { Authorization: 'Bearer secret', 'Accept-Encoding': 'identity' },
    ...(body !== undefined && { body }),
  }
}

/** What a server has to do at the least: take what comes, and send what is there. */
function answering(bytes: Uint8Array, from: Headers): RequestListener {
  const own = ['date', 'connection', 'keep-alive', 'transfer-encoding']
  const headers = Object.fromEntries([...from].filter(([name]) => !own.includes(name)))
  return (request, response) => {
    request.resume().on('end', () => response.writeHead(200, headers).end(bytes))
  }
}

/** Seconds of this process, in which nothing else is done. */
async function taken(url: string, asked: Asked, length: number): Promise<number> {
  globalThis.gc?.()
  const before = process.cpuUsage()
  client.send({ url, ...asked, count } satisfies Asking)
  const [bytes] = (await once(client, 'message')) as [number]
  const { user, system } = process.cpuUsage(before)
  check(bytes === count * length, `${bytes} bytes came, not ${count} times ${length}`)
  return (user + system) / 1e6
}

async function listening<T>(work: () => Promise<T>): Promise<T> {
  let told = 0
  const listen = () => void told++
  const channels = operations.flatMap((name) =>
    ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map(
      (event) => `tracing:lorekeep:${name}:${event}`,
    ),
  )
  for (const channel of channels) subscribe(channel, listen)
  const result = await work()
  for (const channel of channels) unsubscribe(channel, listen)
  check(told >= count, 'somebody listened')
  return result
}
