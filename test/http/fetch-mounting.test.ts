// createFetchHandler() where docs/http.md puts it: in Hono, in modules as Next.js and SvelteKit have them, and behind
// a server. Bun and Deno have their own in test/matrix/.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import t from 'tap'
import type { Test } from 'tap'
import type { FetchHandler, HandlerOptions } from '../../src/http/index.js'
import { openFetch } from './fixtures/fetching.js'
import { fetchTrip, ofTrip } from './fixtures/fetch-trip.js'
import { listen, openStore } from './fixtures/serving.js'

async function open(t: Test, options: Partial<HandlerOptions<Request>> = {}) {
  const { knowledge, objects, flows } = await openStore(t)
  return openFetch({ knowledge, objects, flows, ...ofTrip, ...options })
}

const host = 'http://lorekeep.example'

t.test('in Hono, by app.request() and behind a server', async (t) => {
  const app = new Hono().get('/mine', (c) => c.text('mine'))
  const answer = await open(t)
  app.all('/api/v1/*', (c) => answer(c.req.raw))
  t.equal(await (await app.request('/mine')).text(), 'mine')
  await fetchTrip(async (request) => app.request(request), `${host}/api/v1`)
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const server = createServer((request, response) => void listener(request, response))
  const port = await listen(t, server)
  await fetchTrip(fetch, `http://127.0.0.1:${port}/api/v1`)
})

t.test('under app.mount() of Hono, which takes its path off', async (t) => {
  const app = new Hono().mount('/lore', await open(t, { prefix: '' }))
  await fetchTrip(async (request) => app.request(request), `${host}/lore`)
})

/** How the table of docs/http.md has a module, as what it exports. */
function moduleIn(server: string, answer: FetchHandler): Record<string, unknown> {
  const row = readFileSync('docs/http.md', 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`| ${server}`))
  const code = row?.split('|')[2]?.trim().replace(/^`|`$/g, '') ?? ''
  const named = /^export \{ (.*) \}$/.exec(code)?.[1]
  const members = named
    ? named.replace(/(\w+) as (\w+)/g, '$2: $1')
    : code.replace(/^export const (\w+) = (.*)$/, '$1: $2')
  return new Function('answer', `return { ${members} }`)(answer) as Record<string, unknown>
}

t.test('in a route module of Next.js', async (t) => {
  const module = moduleIn('Next.js', await open(t)) as Record<string, FetchHandler>
  t.strictSame(Object.keys(module), ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
  // A HEAD is a GET there whose body nobody reads.
  await fetchTrip(async (request) => {
    const method = request.method === 'HEAD' ? 'GET' : request.method
    return (module[method] as FetchHandler)(request)
  }, `${host}/api/v1`)
})

t.test('in a +server of SvelteKit', async (t) => {
  const { fallback } = moduleIn('SvelteKit', await open(t)) as {
    fallback: (event: { request: Request }) => Promise<Response>
  }
  await fetchTrip(async (request) => fallback({ request }), `${host}/api/v1`)
})
