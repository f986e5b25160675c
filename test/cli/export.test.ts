import { existsSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { sampleId } from '../../src/cli/commands/cores/sample.js'
import { fail, inTerminal, run, serve, start, succeed } from './command.js'

const name = ['--id', sampleId]
const sample = await succeed(t, ['sample'])

/** A data directory with the sample, and room for files beside it. */
async function shelf(t: Test): Promise<{ dir: string; data: string }> {
  const dir = t.testdir({ files: {} })
  const data = join(dir, 'data')
  await succeed(t, ['import', '-', ...name, '--data', data], { input: sample })
  return { dir: join(dir, 'files'), data }
}

t.test('export writes a file, over an old one and through a symlink', async (t) => {
  const { dir, data } = await shelf(t)
  const file = join(dir, 'sample.core')
  const { code, stdout } = await run(t, ['export', ...name, '--data', data, '-o', file])
  t.equal(code, 0)
  t.equal(stdout.length, 0)
  t.ok(readFileSync(file).equals(sample))
  await succeed(t, ['export', ...name, '--data', data, '-o', file])
  symlinkSync('sample.core', join(dir, 'link'))
  await succeed(t, ['export', ...name, '--data', data, '-o', join(dir, 'link')])
  t.ok(readFileSync(file).equals(sample))
  t.same(readdirSync(dir).sort(), ['link', 'sample.core'])
})

t.test('export writes the dialect that is asked for', async (t) => {
  const { dir, data } = await shelf(t)
  const dialect = ['--dialect', 'trustgraph-2']
  const file = join(dir, 'other.core')
  const written = await succeed(t, ['export', ...name, ...dialect, '--data', data])
  await succeed(t, ['export', ...name, ...dialect, '--data', data, '-o', file])
  t.ok(readFileSync(file).equals(written))
  t.notOk(written.equals(sample))
  const again = ['--id', sampleId, '--data', join(dir, 'again')]
  const { stderr } = await run(t, ['import', file, ...again])
  t.match(stderr, /dialect trustgraph-2/)
  t.ok((await succeed(t, ['export', ...again])).equals(sample))
  t.ok((await succeed(t, ['export', ...again, '--dialect', 'specification'])).equals(sample))
  await fail(t, 2, ['export', ...name, ...dialect, '--format', 'nt', '--data', data])
  await fail(t, 2, ['export', ...name, '--dialect', 'trustgraph-1', '--data', data])
  // What the file says that it is, and would not be.
  const jsonld = join(dir, 'a.jsonld')
  t.match(
    await fail(t, 2, ['export', ...name, '-o', jsonld, '--data', data]),
    'nothing is written as .jsonld',
  )
  t.equal(existsSync(jsonld), false)
  await succeed(t, ['export', ...name, '-o', jsonld, '--format', 'core', '--data', data])

  const { url, token, child, ended } = await serve(t, ['--data', data])
  const server = ['--user', 'trustgraph', '--url', url, '--token', token]
  t.ok((await succeed(t, ['export', ...name, ...dialect, ...server])).equals(written))
  child.kill('SIGTERM')
  await ended
})

t.test('export writes to what is no regular file as it is', async (t) => {
  const { dir, data } = await shelf(t)
  await succeed(t, ['export', ...name, '--data', data, '-o', '/dev/null'])
  t.ok((await succeed(t, ['export', ...name, '--data', data, '-o', '-'])).equals(sample))
  await fail(t, 1, ['export', ...name, '--data', data, '-o', dir])
  await fail(t, 1, ['export', ...name, '--data', data, '-o', join(dir, 'no', 'such')])
})

t.test('an export of nothing leaves no file, and no data directory', async (t) => {
  const { dir, data } = await shelf(t)
  const file = join(dir, 'none.core')
  await fail(t, 1, ['export', '--id', 'none', '--data', data, '-o', file])
  await fail(t, 1, ['export', ...name, '--data', join(dir, 'none'), '-o', file])
  t.same(readdirSync(dir), [])
})

t.test('an export that breaks in the middle leaves the old file alone', async (t) => {
  const dir = t.testdir({ 'a.core': 'old' })
  const server = createServer((request, response) => {
    if (request.url?.includes('/cores/')) return response.end('{"bytes":1000,"digest":"d"}')
    response.writeHead(200, { 'Content-Length': 1000 })
    response.write(Buffer.alloc(500), () => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const where = ['--url', `http://127.0.0.1:${port}`, '--user', 'alice']
  const args = ['export', ...name, ...where, '-o', join(dir, 'a.core')]
  t.match(await fail(t, 1, args), '1000 bytes')
  t.same(readdirSync(dir), ['a.core'])
  t.equal(readFileSync(join(dir, 'a.core'), 'utf8'), 'old')
})

t.test('an interrupted export leaves no file', async (t) => {
  const dir = t.testdir()
  let connected = () => {}
  const reading = new Promise<void>((resolve) => (connected = resolve))
  const server = createServer((request, response) => {
    if (request.url?.includes('/cores/')) return response.end('{"bytes":1000,"digest":"d"}')
    response.writeHead(200, { 'Content-Length': 1000 })
    response.write(Buffer.alloc(500), () => connected())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const where = ['--url', `http://127.0.0.1:${port}`, '--user', 'alice']
  const args = ['export', ...name, ...where, '-o', join(dir, 'a.core')]
  const { child, ended } = start(t, args)
  await reading
  child.kill('SIGINT')
  const { code, stderr } = await ended
  t.equal(code, 130)
  t.match(stderr, /^lorekeep: [^\n]+\n$/)
  t.same(readdirSync(dir), [])
})

t.test('a server that is not lorekeep is one line', async (t) => {
  const server = createServer((_request, response) => response.writeHead(502).end('<html>'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  t.match(await fail(t, 1, ['export', ...name, '--url', `http://127.0.0.1:${port}`]), '502')
})

t.test('a reader that leaves early ends the export quietly', async (t) => {
  const data = t.testdir()
  const input = await succeed(t, ['sample', '--triples', '20000'])
  await succeed(t, ['import', '-', ...name, '--data', data], { input })
  const { child, ended } = start(t, ['export', ...name, '--data', data])
  child.stdout?.once('data', () => child.stdout?.destroy())
  const { code, stderr } = await ended
  t.equal(code, 0)
  t.equal(stderr, '')
})

t.test('a core does not go to a terminal', async (t) => {
  const { data } = await shelf(t)
  const outcome = inTerminal(['export', ...name, '--data', data])
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  t.equal(outcome.code, 2)
  t.match(outcome.text, /^lorekeep: .*terminal/)
})
