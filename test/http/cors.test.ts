// Pages of other origins, by both doors.

import t from 'tap'
import { createHandler } from '../../src/http/index.js'
import type { HandlerOptions } from '../../src/http/index.js'
import { openFetch } from './fixtures/fetching.js'
import { as, send, serve } from './fixtures/serving.js'

const origin = 'https://app.example.com'
type Answer = readonly [status: number, headers: Readonly<Record<string, string | undefined>>]

t.test('pages of origins that are listed read answers, and no others', async (t) => {
  for (const cors of [
    undefined,
    { origins: [origin], credentials: true },
    { origins: '*' as const },
  ]) {
    const serving = await serve(t, cors === undefined ? {} : { cors })
    const { knowledge, objects, flows } = serving
    const handler = openFetch({
      knowledge,
      objects,
      flows,
      authenticate: (token) => (token === 'alice' ? { user: 'alice' } : null),
      ...(cors && { cors }),
    })
    const doors = {
      node: async (
        method: string,
        path: string,
        headers: Record<string, string>,
      ): Promise<Answer> => {
        const reply = await send(serving.url + path, { method, headers })
        return [reply.status, reply.headers as Answer[1]]
      },
      fetch: async (
        method: string,
        path: string,
        headers: Record<string, string>,
      ): Promise<Answer> => {
        const reply = await handler(new Request(`http://host${path}`, { method, headers }))
        return [reply.status, Object.fromEntries(reply.headers)]
      },
    }
    for (const [door, ask] of Object.entries(doors)) {
      await t.test(`${door}, ${JSON.stringify(cors)}`, async (t) => {
        const isOpen = cors?.origins === '*'
        const paths = ['/api/v1/schemas', '/api/v1/flows/default', '/api/v1/nowhere', '/healthz']
        for (const path of paths) {
          for (const token of [as('alice'), as('nobody')]) {
            for (const from of [
              origin,
              'https://evil.example.com',
              `${origin}.evil.com`,
              'null',
              '',
            ]) {
              const [, headers] = await ask('GET', path, {
                ...token,
                ...(from && { Origin: from }),
              })
              const isAllowed = cors !== undefined && from !== '' && (isOpen || from === origin)
              const allowed = isOpen ? '*' : origin
              t.equal(headers['access-control-allow-origin'], isAllowed ? allowed : undefined)
              t.equal(headers['access-control-expose-headers'] !== undefined, isAllowed)
              const hasCookies = isAllowed && !isOpen
              t.equal(headers['access-control-allow-credentials'], hasCookies ? 'true' : undefined)
              const varies = (headers['vary'] ?? '').split(', ').includes('Origin')
              t.equal(varies, cors !== undefined && !isOpen, `Vary: ${headers['vary']}`)
            }
          }
        }
        const [, { vary }] = await ask('GET', '/api/v1/flows/default', as('alice'))
        t.match(vary, /Authorization/)
        const preflight = (from: string) => {
          const wanted = { 'Access-Control-Request-Method': 'PUT' }
          return ask('OPTIONS', '/api/v1/schemas/x', { Origin: from, ...wanted })
        }
        const [status, allowed] = await preflight(origin)
        t.equal(status, 204)
        const [, other] = await preflight('https://evil.example.com')
        const [, plain] = await ask('OPTIONS', '/api/v1/schemas/x', { Origin: origin })
        t.equal(plain['access-control-allow-methods'], undefined)
        if (cors === undefined) t.equal(allowed['access-control-allow-methods'], undefined)
        else {
          t.match(allowed, {
            'access-control-allow-methods': /\bPUT\b/,
            'access-control-allow-headers':
              /Authorization.*If-Match.*Last-Event-ID.*Mcp-Protocol-Version.*Traceparent/,
            'access-control-max-age': '600',
          })
          t.equal(other['access-control-allow-methods'] !== undefined, isOpen)
        }
      })
    }
  }
})

t.test('options of CORS that cannot be are refused', async (t) => {
  const { knowledge } = await serve(t)
  for (const cors of [
    {},
    { origins: ['app.example.com'] },
    { origins: ['https://app.example.com/'] },
    { origins: ['https://*.example.com'] },
    { origins: ['null'] },
    { origins: '*', credentials: true },
    { origins: [], more: true },
    { origins: [], maxAgeSeconds: -1 },
  ]) {
    const options = { knowledge, authenticate: 'none', cors } as unknown as HandlerOptions
    t.throws(() => createHandler(options), TypeError, JSON.stringify(cors))
  }
})
