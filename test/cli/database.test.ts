import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import t from 'tap'
import { shownPlace } from '../../src/cli/config/place.js'
import { sampleId } from '../../src/cli/commands/cores/sample.js'
import { Cluster, skip } from '../adapters/postgres/cluster.js'
import { fail, run, serve, succeed } from './command.js'

t.test('a password is not shown', async (t) => {
  t.equal(shownPlace('postgres://a:secret@b,c:1/d'), 'postgres://a:…@b,c:1/d')
  t.equal(
    shownPlace('postgres://b/d?user=a&password=secret&x=1'),
    'postgres://b/d?user=a&password=…&x=1',
  )
  t.equal(shownPlace('postgres://a:p@ss:w@rd@b/d?x=1@2'), 'postgres://a:…@b/d?x=1@2')
  t.equal(shownPlace('postgres://a@s:secret@b/d'), 'postgres://a@s:…@b/d')
  t.equal(shownPlace('postgres://a@b:5432/d?x=1@2'), 'postgres://a@b:5432/d?x=1@2')
  t.equal(shownPlace('./a:b@c'), './a:b@c')
})

if (skip !== false) t.test('PostgreSQL', { skip }, async () => undefined)
else {
  const cluster = await Cluster.start()
  t.teardown(() => cluster.stop())
  const data = `${cluster.url}?schema=one`
  const id = ['--id', sampleId]

  t.test('what is looked for is not made', async (t) => {
    const told = await fail(t, 1, ['cores', '--data', cluster.url])
    t.match(told, /there is no store in the schema 'lorekeep' of 'postgres:/u)
    t.match(
      await fail(t, 2, ['verify', cluster.url]),
      /there is no store in the schema 'lorekeep'/u,
    )
    t.strictSame(await cluster.query("SELECT to_regnamespace('lorekeep')::text"), [[null]])
    t.match(
      await fail(t, 2, ['cores', '--data', `${cluster.url}?schema=A-b`]),
      /--data: schema must be a name of 1 to 63/u,
    )
  })

  t.test('a store moves from a database to a directory and back', async (t) => {
    const dir = t.testdir()
    const sample = await succeed(t, ['sample'])
    await succeed(t, ['import', '-', ...id, '--data', data], { input: sample })
    t.same(await succeed(t, ['export', ...id, '--data', data]), sample)
    const text = join(dir, 'text')
    await succeed(t, ['load', '-', '--id', 'urn:text', '--wait', '--data', data], {
      input: Buffer.from('Ada Lovelace was born in London.'),
    })
    const cores = await succeed(t, ['cores', '--data', data])
    const [first, second, directory] = ['first', 'second', 'directory'].map((name) =>
      join(dir, name),
    )
    await succeed(t, ['index', '--data', data])
    await succeed(t, ['backup', first!, '--data', data])
    await succeed(t, ['restore', first!, directory!])
    t.same(await succeed(t, ['cores', '--data', directory!]), cores)
    await succeed(t, ['backup', second!, '--data', directory!])
    const other = `${cluster.url}?schema=two`
    await succeed(t, ['restore', second!, other])
    t.same(await succeed(t, ['cores', '--data', other]), cores)
    t.same(await succeed(t, ['export', ...id, '--data', other]), sample)
    const verified = await run(t, ['verify', '--deep', other])
    t.match(verified, { code: 0, stderr: /: nothing is wrong\n$/u })
    t.match(await fail(t, 1, ['restore', second!, other]), /there is a store in .*schema=two/u)
    t.match(await fail(t, 2, ['verify', '--salvage', other, text]), /not a database/u)
  })

  t.test(
    'servers share a database, and whoever is killed leaves the rest to the others',
    async (t) => {
      const token = ['--token', 'secret=*']
      const first = await serve(t, ['--data', data, ...token])
      t.match(first.stderr(), `# data in ${data}\n`)
      const second = await serve(t, ['--data', data, ...token])
      const balancer = await balance([first.url, second.url])
      t.teardown(() => balancer.close())
      const at = (url: string) => ['--url', url, '--token', 'secret', '--user', 'trustgraph']
      // Watched at one, loaded at the other.
      const watching = new AbortController()
      t.teardown(() => watching.abort())
      const events = await fetch(`${second.url}/api/v1/flow/default/events?user=trustgraph`, {
        headers: { authorization: 'Bearer secret' },
        signal: watching.signal,
      })
      const lines = linesOf(events)
      const input = Buffer.from('Grace Hopper was born in New York.')
      await succeed(t, ['load', '-', '--id', 'urn:grace', ...at(first.url)], { input })
      for (const state of ['queued', 'active', 'done']) {
        for await (const line of lines) if (line === `event: ${state}`) break
        t.pass(state)
      }
      const ask = ['ask', 'Where was Grace born?']
      t.match(String(await succeed(t, [...ask, ...at(second.url)])), /New York/u)
      // Beside them, and through whatever is in front of them.
      t.match(String(await succeed(t, [...ask, '--data', data])), /New York/u)
      for (let n = 0; n < 4; n++) {
        const id = `urn:text:${n}`
        const input = Buffer.from(`Text ${n} was written in Rome.`)
        await succeed(t, ['load', '-', '--id', id, '--wait', ...at(balancer.url)], { input })
        t.match(String(await succeed(t, ['cores', ...at(balancer.url)])), id)
      }
      // Whoever only reads needs nobody's leave, and who restores has it alone.
      const file = join(t.testdir(), 'backup')
      await succeed(t, ['backup', file, '--data', data])
      t.match(await run(t, ['verify', data]), { code: 0, stderr: /: nothing is wrong/u })
      const copy = `${cluster.url}?schema=copy`
      await succeed(t, ['restore', file, copy])
      t.match(String(await succeed(t, ['cores', '--data', copy])), /urn:grace/u)
      t.match(await fail(t, 1, ['restore', file, data]), /has flows of the schema one open/u)
      first.child.kill('SIGKILL')
      await first.ended
      await succeed(t, ['load', '-', '--id', 'urn:last', '--wait', ...at(balancer.url)], { input })
      t.match(String(await succeed(t, ['cores', ...at(second.url)])), /urn:last/u)
      second.child.kill('SIGTERM')
      t.match(await second.ended, { code: 0 })
    },
  )
}

/** One address for several servers: connections go to them in turn, and past those that are gone. */
async function balance(urls: readonly string[]): Promise<{ url: string; close(): void }> {
  const ports = urls.map((url) => Number(new URL(url).port))
  let next = 0
  const server = createServer((client) => {
    const tryNext = (left: number) => {
      const upstream = connect(ports[next++ % ports.length]!, '127.0.0.1')
      let isConnected = false
      upstream.on('connect', () => {
        isConnected = true
        client.pipe(upstream).pipe(client)
      })
      upstream.on('error', () => {
        if (isConnected || left === 0) client.destroy()
        else tryNext(left - 1)
      })
    }
    client.on('error', () => undefined)
    tryNext(ports.length - 1)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() }
}

/** Goes on where it was left. */
function linesOf(response: Response): AsyncIterable<string> {
  const input = Readable.fromWeb(response.body as ReadableStream)
  input.on('error', () => undefined)
  const lines = createInterface({ input })[Symbol.asyncIterator]()
  return { [Symbol.asyncIterator]: () => ({ next: () => lines.next() }) }
}
