import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { sampleId } from '../../src/cli/commands/cores/sample.js'
import { LevelBackend } from '../../adapters/level/index.js'
import { coreProblems } from '../fixtures/problems.js'
import { lb, lm, pack, parts } from '../codec/dialects/payloads.js'
import { fail, inTerminal, noRealCores, realCores, run, serve, start, succeed } from './command.js'

const sample = await succeed(t, ['sample'])
const turtle = Buffer.from('@prefix ex: <http://example.org/> .\nex:a ex:b ex:c .\n')

t.test('real cores make the round trip by file and by pipe', async (t) => {
  const cores = realCores()
  if (cores.length === 0) return t.pass('skipped', { skip: noRealCores })
  const data = t.testdir()
  for (const { file, id, bytes } of cores) {
    await succeed(t, ['import', file, '--id', id, '--data', data])
    const name = ['--id', id, '--data', data]
    t.ok((await succeed(t, ['export', ...name])).equals(bytes), `${file} by file`)
    await succeed(t, ['import', '-', '--mode', 'replace', ...name], { input: bytes })
    t.ok((await succeed(t, ['export', ...name])).equals(bytes), `${file} by pipe`)
  }
})

t.test('import prints its summary on stderr, and with --json on stdout too', async (t) => {
  const data = t.testdir()
  const args = ['import', '-', '--id', sampleId, '--data', data]
  const plain = await run(t, args, { input: sample })
  t.equal(plain.code, 0)
  t.equal(plain.stdout.length, 0)
  t.match(plain.stderr, /^lorekeep: [^\n]*\b44 triples\b[^\n]*\n$/)
  const again = JSON.parse(String(await succeed(t, [...args, '--json'], { input: sample })))
  t.match(again, { bytes: sample.length, messages: 6, triples: 44, entities: 8, duplicate: true })
})

t.test('import says which dialect it read and what was left out', async (t) => {
  const { statement, full } = parts
  const stream = pack(['t', { m: { i: 'doc', c: 'c' }, t: [statement] }], lm, lb, lb)
  const dir = t.testdir({})
  const data = ['--id', 'a', '--data', join(dir, 'data')]
  const { code, stderr } = await run(t, ['import', '-', ...data], { input: stream })
  t.equal(code, 0)
  t.match(stderr, /read from the dialect trustgraph-2\n/)
  t.match(stderr, /a core has no place for 1 lm, 2 lb: left out\n/)
  const args = ['import', '-', '--json', ...data]
  const summary = JSON.parse(String(await succeed(t, args, { input: stream })))
  t.match(summary, { dialect: 'trustgraph-2', skipped: { lm: 1, lb: 2 }, duplicate: true })
  await fail(t, 1, [...args, '--dialect', 'specification'], { input: stream })
  await fail(t, 2, [...args, '--dialect', 'trustgraph-2'], { input: stream })
  await fail(t, 2, [...args, '--dialect', 'any', '--format', 'nt'], { input: stream })
  const own = await run(t, args, { input: pack(['t', { m: full, t: [statement] }]) })
  t.notMatch(own.stderr, /dialect/)

  const { url, token } = await serve(t, ['--data', join(dir, 'served')])
  const server = ['--url', url, '--token', token]
  const served = await run(t, ['import', '-', '--id', 'b', ...server], { input: stream })
  t.match(served.stderr, /dialect trustgraph-2\n[^\n]*1 lm, 2 lb: left out\n/)
  const strict = ['import', '-', '--id', 'c', '--dialect', 'specification', ...server]
  await fail(t, 1, strict, { input: stream })
})

t.test('a file is the core of its name unless --id says otherwise', async (t) => {
  const data = join(t.testdir({ 'books.core': sample, plain: sample, '.core': sample }), 'data')
  const ids = async () => {
    const lines = String(await succeed(t, ['cores', '--data', data, '--json']))
      .trim()
      .split('\n')
    return lines.map((line) => (JSON.parse(line) as { id: string }).id)
  }
  for (const name of ['books.core', 'plain', '.core']) {
    await succeed(t, ['import', join(data, '..', name), '--data', data])
  }
  await succeed(t, ['import', join(data, '..', 'plain'), '--id', 'x/y', '--data', data])
  t.same(await ids(), ['.core', 'books', 'plain', 'x/y'])
})

t.test('--mode replace puts the core in the place of the old one', async (t) => {
  const data = t.testdir()
  const name = ['--id', 'a', '--user', 'alice', '--data', data]
  const other = await succeed(t, ['sample', '--triples', '60'])
  const triples = async () => {
    const shown = await succeed(t, [
      'cores',
      'show',
      'a',
      '--user',
      'alice',
      '--data',
      data,
      '--json',
    ])
    return (JSON.parse(String(shown)) as { triples: number }).triples
  }
  await succeed(t, ['import', '-', ...name], { input: sample })
  await succeed(t, ['import', '-', ...name], { input: other })
  t.equal(await triples(), 104)
  await succeed(t, ['import', '-', ...name, '--mode', 'replace'], { input: other })
  t.equal(await triples(), 60)
})

t.test('Turtle that is no core is refused by its name, here and by a server', async (t) => {
  const dir = t.testdir({ 'books.core': turtle })
  const file = join(dir, 'books.core')
  const data = join(dir, 'data')
  const local = await fail(t, 1, ['import', file, '--data', data])
  t.match(local, /Turtle/)
  const { url, token } = await serve(t, ['--data', data])
  const remote = await fail(t, 1, ['import', file, '--url', url, '--token', token])
  t.equal(remote, local)
  t.equal(String(await succeed(t, ['cores', '--url', url, '--token', token])), '')
})

t.test('a file that can not be read leaves no data directory', async (t) => {
  const dir = t.testdir()
  const data = join(dir, 'data')
  t.match(await fail(t, 1, ['import', join(dir, 'none'), '--data', data]), 'none')
  await fail(t, 1, ['import', dir, '--data', data])
  t.notOk(existsSync(data))
})

t.test('a cut stream is refused, and leaves nothing', async (t) => {
  const data = t.testdir()
  const input = sample.subarray(0, -1)
  await fail(t, 1, ['import', '-', '--id', 'a', '--data', data], { input })
  t.equal(String(await succeed(t, ['cores', '--data', data])), '')
})

t.test('an interrupted import leaves nothing and exits with 130', async (t) => {
  const data = t.testdir()
  const { child, ended, until } = start(t, ['import', '-', '--id', 'a', '--data', data, '--debug'])
  // More than the pipe and a few slices hold: when all of it is gone, the import is under way.
  const big = await succeed(t, ['sample', '--triples', '20000'])
  await new Promise<void>((resolve) => child.stdin?.write(big, () => resolve()))
  child.kill('SIGINT')
  await until('lorekeep: ')
  const { code } = await ended
  t.equal(code, 130)
  t.equal(String(await succeed(t, ['cores', '--data', data])), '')
  const backend = new LevelBackend(data)
  t.same(await coreProblems(backend), [])
  await backend.close()
})

const skip = process.platform === 'win32' && 'it has no pipes with names'

t.test('an interrupt does not wait for a pipe that is silent', { skip }, async (t) => {
  const dir = t.testdir()
  const [pipe, data] = [join(dir, 'pipe'), join(dir, 'data')]
  execFileSync('mkfifo', [pipe])
  const { child, ended, until } = start(t, ['import', pipe, '--id', 'a', '--data', data])
  // Of more than pipes hold, too; it does not end.
  const writer = await open(pipe, 'w')
  t.teardown(() => writer.close())
  await writer.writeFile(await succeed(t, ['sample', '--triples', '20000']))
  child.kill('SIGINT')
  await until('lorekeep: interrupted')
  t.equal((await ended).code, 130)
  t.equal(String(await succeed(t, ['cores', '--data', data])), '')
})

t.test('an interrupted import into a server leaves nothing there', async (t) => {
  const { url, token } = await serve(t, ['--data', t.testdir()])
  const args = ['import', '-', '--id', 'a', '--url', url]
  const { child, ended } = start(t, args, { env: { LOREKEEP_TOKEN: token } })
  const big = await succeed(t, ['sample', '--triples', '20000'])
  await new Promise<void>((resolve) => child.stdin?.write(big, () => resolve()))
  child.kill('SIGINT')
  const { code, stderr } = await ended
  t.equal(code, 130)
  t.match(stderr, /^lorekeep: [^\n]+\n$/)
  t.equal(String(await succeed(t, ['cores', '--url', url, '--token', token])), '')
})

t.test('import goes into a running server as into a directory', async (t) => {
  const dir = t.testdir()
  const { url, token, child, ended } = await serve(t, ['--data', dir])
  const input = await succeed(t, ['sample', '--triples', '30000'])
  const name = ['--id', sampleId]
  const remote = ['--url', url, '--token', token]
  const imported = await succeed(t, ['import', '-', ...name, ...remote, '--json'], { input })
  t.match(JSON.parse(String(imported)), { bytes: input.length, triples: 30000, duplicate: false })
  t.ok((await succeed(t, ['export', ...name, ...remote])).equals(input))
  child.kill('SIGTERM')
  t.equal((await ended).code, 0)
  const local = await succeed(t, ['export', ...name, '--data', dir])
  t.ok(local.equals(input))
})

t.test('--index indexes in the same pass, in a directory and in a server', async (t) => {
  const dir = t.testdir()
  // More than a slice: what is smaller waits for others.
  const input = await succeed(t, ['sample', '--triples', '12000'])
  t.ok(input.length > 1024 ** 2)
  const { url, token } = await serve(t, ['--data', join(dir, 'served')])
  for (const where of [
    ['--data', join(dir, 'here')],
    ['--url', url, '--token', token],
  ]) {
    await succeed(t, ['import', '-', '--id', 'books', '--index', ...where], { input })
    const state = await succeed(t, ['index', 'books', '--state', '--json', ...where])
    t.match(JSON.parse(String(state)), { state: 'complete', segments: 1, indexedSegments: 1 })
  }
})

t.test(
  '--index of a small core leaves it indexed in a directory when the command ends',
  async (t) => {
    const where = ['--data', t.testdir()]
    const state = async (id: string) =>
      JSON.parse(String(await succeed(t, ['index', id, '--state', '--json', ...where]))) as object
    await succeed(t, ['import', '-', '--id', 'later', ...where], { input: sample })
    await succeed(t, ['import', '-', '--id', 'books', '--index', ...where], { input: sample })
    t.match(await state('books'), {
      state: 'complete',
      segments: 1,
      indexedSegments: 1,
      triples: 44,
    })
    t.match(await state('later'), { state: 'none' }, 'and no other')
    const rdf = ['import', '-', '--id', 'books', '--format', 'turtle', '--index', ...where]
    await succeed(t, rdf, { input: turtle })
    t.match(await state('books'), { state: 'complete', segments: 2, indexedSegments: 2 })
  },
)

t.test('a server refuses at once, also while stdin is silent', async (t) => {
  const { url } = await serve(t, ['--data', t.testdir()])
  const args = ['import', '-', '--id', 'a', '--url', url, '--token', 'wrong']
  const { child, ended } = start(t, args)
  child.stdin?.write(sample.subarray(0, 100))
  const { code, stderr } = await ended
  t.equal(code, 1)
  t.match(stderr, /^lorekeep: authentication required[^\n]*\n$/)
})

t.test('no server, and something that is none, are one line', async (t) => {
  const dir = t.testdir({ 'a.core': sample })
  const port1 = ['--url', 'http://127.0.0.1:1']
  t.match(await fail(t, 1, ['import', join(dir, 'a.core'), ...port1]), 'ECONNREFUSED')
  t.match(await fail(t, 1, ['export', '--id', 'a', ...port1]), 'ECONNREFUSED')
  t.match(await fail(t, 1, ['cores', ...port1]), 'ECONNREFUSED')
})

t.test('a connection that breaks says what became of the core', async (t) => {
  const dir = t.testdir({ 'a.core': sample })
  const server = createServer((request, response) => {
    // A user called `late` is cut off after the last byte, others before the first.
    if (request.url?.includes('user=late')) request.resume().on('end', () => response.destroy())
    else request.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const args = ['--url', `http://127.0.0.1:${port}`, '--id', 'a', '--user', 'early']
  const file = join(dir, 'a.core')
  t.match(await fail(t, 1, ['import', file, ...args, '--user', 'late']), 'not known')
  const { child, ended } = start(t, ['import', '-', ...args])
  child.stdin?.write(sample)
  const { code, stderr } = await ended
  t.equal(code, 1)
  t.match(stderr, /^lorekeep: [^\n]*nothing was stored\n$/)
})

t.test('there is a progress bar on a terminal, and nowhere else', async (t) => {
  const dir = t.testdir()
  const file = join(dir, 'big.core')
  writeFileSync(file, await succeed(t, ['sample', '--triples', '20000']))
  const data = join(dir, 'data')
  const piped = await run(t, ['import', file, '--data', data])
  t.match(piped.stderr, /^lorekeep: [^\n]+\n$/)
  const outcome = inTerminal(['import', file, '--id', 'b', '--data', data])
  if (outcome === undefined)
    return t.pass('skipped', { skip: 'no script(1) to fake a terminal with' })
  t.equal(outcome.code, 0)
  t.match(outcome.text, /100% \| [^|]+ of [^|]+ \| [^|]+\/s \| 20,000 triples/)
  t.match(outcome.text, /lorekeep: imported 'b'/)
})

t.test('an empty input is refused unless it is meant', async (t) => {
  const data = t.testdir()
  const input = await succeed(t, ['sample'])
  const args = ['import', '-', '--id', 'a', '--data', data]
  await succeed(t, args, { input })
  const replace = [...args, '--mode', 'replace']
  t.match(await fail(t, 1, replace, { input: Buffer.alloc(0) }), /stdin is empty/)
  t.match(String(await succeed(t, ['cores', '--data', data])), /\t44\t/)
  await succeed(t, [...replace, '--allow-empty'], { input: Buffer.alloc(0) })
  t.notMatch(String(await succeed(t, ['cores', '--data', data])), /\t44\t/)
})
