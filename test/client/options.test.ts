// What connect() takes, and what it asks for where ids and addresses are odd.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { connect } from '../../src/client/index.js'

const ref = { user: 'alice', id: 'a' }

/** A server that answers every request alike, and what it was asked. */
async function listening(t: Test, status: number, headers: Record<string, string> = {}) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    request.resume()
    response.writeHead(status, headers).end()
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { asked, url: `http://localhost:${(server.address() as AddressInfo).port}` }
}

t.test('an option that is wrong is refused before a token goes anywhere', (t) => {
  const url = 'http://localhost:8088'
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ url, prefix: 'api/v1' }, /prefix must be '', or begin with a slash/],
    [{ url, prefix: '/api/v1/' }, /prefix must be '', or begin with a slash/],
    [{ url, prefix: '/api?x=' }, /prefix/],
    [{ url, token: () => 'secret' }, /token must be a text/],
    [{ url, token: '' }, /token must be a text/],
    [{ url, token: 'a\nb' }, /token must be a text/],
    [{ url, token: null }, /token must be a text/],
    [{ url: 'http://alice:secret@localhost' }, /no user and password/],
    [{ url: 'file:///data' }, /http or https/],
    [{ url: '127.0.0.1:8088' }, /connect\(\): url must be one of http or https, as http:/],
    [{ url: '' }, /connect\(\): url must be one of http or https/],
    [{ url: `${url}/?token=secret` }, /no query/],
    [{ url, flow: 7 }, /flow must be/],
    [{ url, fetch: 'fetch' }, /fetch must be a function/],
    [{ url, tokn: 'secret' }, /no option 'tokn'/],
    [{}, /connect\(\): url must be/],
  ]
  for (const [options, message] of wrong) {
    t.throws(() => connect(options as never), { name: 'TypeError', message })
  }
  connect({ url, token: undefined, flow: undefined, prefix: '' } as never)
  t.end()
})

t.test('half of a surrogate pair never becomes another name', async (t) => {
  const { asked, url } = await listening(t, 204)
  const broken = 'a\ud800b'
  const { flows, knowledge, objects } = connect({ url })
  const asking: readonly (() => Promise<unknown>)[] = [
    () => knowledge.stat({ user: 'alice', id: broken }),
    () => knowledge.import({ user: 'alice', id: broken }, new Uint8Array()),
    () => knowledge.delete({ user: broken, id: 'a' }),
    () => knowledge.graph({ user: broken }).sparql('ASK {}'),
    () => objects.get('c', broken),
    () => objects.schema(broken),
    () => connect({ url, flow: broken }).objects.query({ schema_name: 's' }),
    () => flows.job(broken),
    () => flows.cancelAll({ user: broken }),
  ]
  for (const ask of asking) await t.rejects(ask(), { code: 'LK_HTTP_REQUEST', message: /half/ })
  t.strictSame(asked, [])
})

t.test('an id that URLs take for a folder never names something else', async (t) => {
  const { asked, url } = await listening(t, 204)
  const { flows, knowledge, objects } = connect({ url })
  for (const id of ['.', '..']) {
    const asking: readonly (() => Promise<unknown>)[] = [
      // Of every flow it would be.
      () => flows.cancelAll({ flow: id }),
      () => flows.retryAll({ flow: id }),
      () => flows.removeDocument({ user: 'alice', document: id }),
      () => knowledge.index({ user: 'alice', id }),
      () => knowledge.delete({ user: 'alice', id }),
      () => objects.delete('c', id),
      () => objects.deleteCollection(id),
      () => connect({ url, flow: id }).objects.query({ schema_name: 's' }),
    ]
    for (const ask of asking) await t.rejects(ask(), { code: 'LK_HTTP_REQUEST', message: /'\.+'/ })
  }
  t.strictSame(asked, [])
  await knowledge.delete({ user: 'alice', id: '../...' })
  t.strictSame(asked, ['DELETE /api/v1/cores/..%2F...?user=alice'])
})

t.test('a redirect is not followed, not tried again, and told', async (t) => {
  const { asked, url } = await listening(t, 301, { Location: 'https://elsewhere.example/' })
  const { knowledge, objects } = connect({ url, token: 'secret' })
  const told = { code: 'LK_INTERNAL', message: /redirects to https:\/\/elsewhere\.example\// }
  await t.rejects(knowledge.stat(ref), told)
  await t.rejects(objects.schemas(), told)
  await t.rejects(knowledge.import(ref, [new Uint8Array(1)]), told)
  t.equal(asked.length, 3)
})
