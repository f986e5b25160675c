// The fetch of the command, below the client that asks by it.

import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { createFetch } from '../../src/cli/access/node-fetch.js'
import { connect } from '../../src/client/index.js'

async function listening(t: Test, listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    return new Promise<unknown>((resolve) => server.close(resolve))
  }
  t.teardown(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

t.test('where nobody ever was is asked once, who was there before again', async (t) => {
  let tries = 0
  const { url, close } = await listening(t, (_, response) => {
    response.setHeader('Content-Type', 'application/json').end('{"schemas":[],"total":0}')
  })
  const command = () => {
    const fetch = createFetch()
    return connect({ url, fetch: (url, init) => (tries++, fetch(url, init)) })
  }
  const known = command()
  await known.objects.schemas()
  await close()
  tries = 0
  await t.rejects(known.objects.schemas(), { code: 'LK_STORAGE_UNAVAILABLE' })
  t.equal(tries, 4)
  tries = 0
  await t.rejects(command().objects.schemas(), { code: 'LK_STORAGE_UNAVAILABLE' })
  t.equal(tries, 1)
  tries = 0
  const watched = command().flows.watch()[Symbol.asyncIterator]()
  await t.rejects(watched.next(), { code: 'LK_STORAGE_UNAVAILABLE' })
  t.equal(tries, 1)
})

t.test('of JSON no more than 256 MiB is read', async (t) => {
  const mebibyte = Buffer.alloc(1024 * 1024, ' ')
  const { url } = await listening(t, ({ url }, response) => {
    const count = Number(url?.slice(1))
    response.setHeader('Content-Type', 'application/json')
    const write = (at: number) => {
      if (at === count) return response.end()
      return response.write(mebibyte, () => write(at + 1))
    }
    write(0)
  })
  const bytesOf = async (count: number) => {
    const response = await createFetch()(`${url}/${count}`, { method: 'GET' })
    const reader = response.body!.getReader()
    let bytes = 0
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return bytes
      bytes += value.byteLength
    }
  }
  t.equal(await bytesOf(256), 256 * 1024 * 1024)
  await t.rejects(bytesOf(257), { message: /is too long/, phase: 'sent' })
})

t.test('events end where there is no sign of life, other answers do not', async (t) => {
  const { url } = await listening(t, ({ url }, response) => {
    const type = url === '/events' ? 'text/event-stream' : 'application/x-ndjson'
    response.setHeader('Content-Type', type)
    response.write(': here\n')
    setTimeout(() => response.end(), 500)
  })
  const readBy = async (fetch: ReturnType<typeof createFetch>, path: string) =>
    (await fetch(url + path, { method: 'GET' })).text()
  const impatient = createFetch({ maxJsonBytes: 1024, silenceMs: 100 })
  await t.rejects(readBy(impatient, '/events'), { message: /broke before the end/ })
  t.equal(await readBy(impatient, '/lines'), ': here\n')
  t.equal(await readBy(createFetch(), '/events'), ': here\n')
})
