import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { collection, document, file, manifest, workspace } from '../tgx/archives.js'
import { byPython } from '../tgx/real-archives.js'
import { fail, inTerminal, run, serve, start, succeed } from './command.js'

const small = workspace(
  collection('research', '"one"', '<urn:two>'),
  ...document('urn:doc', 'Ellen lives by the Thames.'),
  ...document('urn:pdf', '%PDF', { kind: 'application/pdf' }),
  file('README', 'what?'),
)

function written(t: Test, bytes: Uint8Array = small) {
  const dir = t.testdir()
  const path = join(dir, 'ours.tgx')
  writeFileSync(path, bytes)
  return { path, data: ['--data', join(dir, 'data')] }
}

const summaryOf = (output: Buffer) => JSON.parse(String(output)) as object

t.test('a workspace becomes cores, and documents of a flow', async (t) => {
  const { path, data } = written(t, byPython)
  const plain = await run(t, ['import', path, ...data])
  t.equal(plain.code, 0)
  t.equal(plain.stdout.length, 0)
  t.match(plain.stderr, /imported 'urn:trustgraph:collection:default' of 'trustgraph': 3 triples\n/)
  t.match(plain.stderr, 'among them 1 literal with a datatype, 1 with a language\n')
  t.match(plain.stderr, '3 texts not loaded (--flow default loads them)\n')
  t.match(
    plain.stderr,
    'passed over: 2 parts of texts, 1 answer, 1 application/pdf, 1 image/png, 3 entries of the configuration\n',
  )
  t.match(plain.stderr, /imported the workspace 'source-ws' of 2026-\S+: 2 cores, 0 documents\n$/)

  const args = ['import', path, '--flow', 'default', '--collection', 'shelf', ...data]
  t.match(
    (await run(t, args)).stderr,
    "queued 3 documents for the flow 'default'; 'lorekeep serve'",
  )
  const again = await run(t, [...args, '--json'])
  t.match(again.stderr, '3 documents are known already (--mode replace loads them again)')
  t.match(summaryOf(again.stdout), {
    workspace: 'source-ws',
    cores: [{ duplicate: true }, { duplicate: true }],
    documents: { total: 8, queued: 0, present: 3 },
  })
  const jobs = String(await succeed(t, ['jobs', '--json', ...data]))
    .trim()
    .split('\n')
  t.strictSame(
    jobs.map((line) => (JSON.parse(line) as { collection: string }).collection),
    ['shelf', 'shelf', 'shelf'],
  )
  const found = await succeed(t, ['match', '--collection', 'default', ...data])
  t.match(String(found), '"42"^^<http://www.w3.org/2001/XMLSchema#integer>')
})

t.test('a server gets what a data directory gets', async (t) => {
  const { path, data } = written(t)
  const args = ['--flow', 'default', '--index', '--json']
  const local = summaryOf(await succeed(t, ['import', path, ...args, ...data]))
  const indexed = String(await succeed(t, ['index', '--state', '--json', ...data]))
  t.match(JSON.parse(indexed), { state: 'complete', waiting: { segments: 0 } })
  const { url, token } = await serve(t, ['--data', join(t.testdirName, 'served')])
  const there = ['--url', url, '--token', token]
  t.strictSame(summaryOf(await succeed(t, ['import', path, ...args, ...there])), local)
  t.match(local, { documents: { queued: 1, kinds: { 'application/pdf': 1 } } })
  const known = { cores: [{ duplicate: true }], documents: { queued: 0, present: 1 } }
  const piped = ['import', '-', '--format', 'tgx', ...args, ...there]
  t.match(summaryOf(await succeed(t, piped, { input: small })), known)
  const core = 'urn:trustgraph:collection:research'
  t.match(String(await succeed(t, ['cores', 'show', core, '--json', ...there])), '"triples":2')
  t.match(
    await fail(t, 1, ['import', path, '--flow', 'none', ...there]),
    /no such flow: 'none'.*\(nothing was stored before\)/,
  )
})

t.test('what is not known is named', async (t) => {
  const { path, data } = written(t)
  const { stderr } = await run(t, ['import', path, ...data])
  t.match(stderr, 'passed over: 1 application/pdf, 1 unknown member (README)\n')
})

t.test('an archive that is damaged stores nothing, and says where', async (t) => {
  const { path, data } = written(t, small.subarray(0, -20))
  t.match(
    await fail(t, 1, ['import', path, ...data]),
    /byte \d+.* cut \(nothing was stored before\)/,
  )
  t.equal(String(await succeed(t, ['cores', ...data])), '')
  writeFileSync(path, workspace(collection('a', '"x'), manifest()))
  const { code, stderr } = await run(t, ['import', path, '--json', ...data])
  t.equal(code, 1)
  t.match(JSON.parse(stderr), {
    error: { code: 'LK_RDF_FORMAT', details: { member: 'knowledge/a/triples.nq', line: 1 } },
  })
})

t.test('what fails in the middle says what is stored, and goes on', async (t) => {
  const texts = Array.from({ length: 3 }, (_, n) => document(`urn:${n}`, 'x'))
  const { path, data } = written(t, workspace(collection('a', '"one"'), ...texts.flat()))
  const define = (maxQueued: number) => {
    const input = Buffer.from(JSON.stringify({ id: 'short', maxQueued }))
    return succeed(t, ['flows', 'define', '-', ...data], { input })
  }
  await define(2)
  const args = ['import', path, '--flow', 'short', ...data]
  const told = await fail(t, 1, args)
  t.match(told, '(1 core and 2 documents were stored before, which another import passes over)')
  await define(9)
  const { documents } = summaryOf(await succeed(t, [...args, '--json'])) as { documents: object }
  t.match(documents, { queued: 1, present: 2 })
})

t.test('an interrupt is heard while a server does not answer', async (t) => {
  const { path } = written(t, workspace(...document('urn:a', 'x')))
  for (const held of ['/flows/default', '/documents', '/service/text-load']) {
    const server = createServer((request, response) => {
      request.resume()
      if (request.url?.includes(held)) return reached()
      const pages: Readonly<Record<string, object>> = {
        flows: { active: true },
        documents: { documents: [] },
      }
      const [, page = ''] = /\/api\/v1\/(\w+)/.exec(request.url ?? '') ?? []
      response.end(JSON.stringify(pages[page] ?? { jobs: [] }))
    })
    let reached = () => {}
    const isReached = new Promise<void>((resolve) => (reached = resolve))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const command = start(t, ['import', path, '--flow', 'default', '--user', 'u', '--url', url])
    await Promise.race([isReached, command.ended])
    command.child.kill('SIGINT')
    const { code, stderr } = await command.ended
    t.equal(code, 130, stderr)
    t.equal(stderr, 'lorekeep: interrupted (nothing was stored before)\n')
  }
})

t.test('documents that are refused are named, and end it with 1', async (t) => {
  const bytes = workspace(
    ...document('urn:bad', Buffer.from([0xff])),
    ...document('urn:good', 'Ellen.'),
  )
  const { path, data } = written(t, bytes)
  const { code, stderr } = await run(t, ['import', path, '--flow', 'default', ...data])
  t.equal(code, 1)
  t.match(stderr, /'urn:bad' was refused: .*0xff at byte 0/)
  t.match(stderr, /queued 1 document for [^]*\n[^\n]*1 of 2 documents refused\n$/)
})

t.test('flags that a workspace has no use for, and files that are none', async (t) => {
  const { path, data } = written(t)
  for (const flag of [
    ['--id', 'a'],
    ['--base', 'urn:a'],
    ['--dialect', 'any'],
    ['--allow-empty'],
    ['--collection', 'a'],
  ]) {
    await fail(t, 2, ['import', path, ...flag, ...data])
  }
  t.match(
    await fail(t, 2, ['import', path, '--format', 'core', '--flow', 'default', ...data]),
    '--format tgx',
  )
  t.match(await fail(t, 1, ['import', path, '--format', 'core', '--id', 'a', ...data]), '(tgx)')
  await fail(t, 1, ['import', `${path}.tgx`, '--data', join(t.testdirName, 'new')])
  t.notOk(existsSync(join(t.testdirName, 'new')))
})

t.test('a terminal shows how far it is, of both readings', async (t) => {
  const { path, data } = written(t)
  const outcome = inTerminal(['import', path, ...data])
  if (outcome === undefined) return t.pass('skipped', { skip: 'no script(1)' })
  t.equal(outcome.code, 0)
  t.match(outcome.text, '100%')
})
