import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { markerKey, markerOf } from '../../src/backup/marker.js'
import { LorekeepError } from '../../src/errors.js'
import { problemOf } from '../../src/http/problem.js'
import { describe, fileError } from '../../src/cli/output/failure.js'
import { sampleId } from '../../src/cli/commands/cores/sample.js'
import { fail, inTerminal, run, script, serve, start, succeed } from './command.js'

const name = ['--id', sampleId]
const sample = await succeed(t, ['sample'])

/** A data directory with the sample, and room for files beside it. */
async function shelf(t: Test): Promise<{ dir: string; data: string }> {
  const dir = t.testdir({ files: {} })
  const data = join(dir, 'data')
  await succeed(t, ['import', '-', ...name, '--data', data], { input: sample })
  // Indexed in the background it would come between two backups.
  await succeed(t, ['index', '--data', data])
  return { dir: join(dir, 'files'), data }
}

t.test('a directory and a server are backed up alike, and restored', async (t) => {
  const { dir, data } = await shelf(t)
  const [file, piped, served] = ['file', 'piped', 'served'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  const outcome = await run(t, ['backup', file, '--data', data, '--json'])
  t.match(outcome.stderr, /^lorekeep: backed up [\d,]+ entries: [\d.]+ kB in .*file, [\d.]+ s\n$/)
  const summary = JSON.parse(String(outcome.stdout)) as { bytes: number; entries: number }
  t.equal(summary.bytes, statSync(file).size)
  writeFileSync(piped, await succeed(t, ['backup', '-', '--data', data]))

  const { url, token, child, ended } = await serve(t, ['--data', data])
  const remote = ['--url', url, '--token', token]
  const away = await run(t, ['backup', served, '--json', ...remote])
  t.equal(away.code, 0, away.stderr)
  t.match(JSON.parse(String(away.stdout)), {
    entries: summary.entries,
    bytes: statSync(served).size,
  })
  const streamed = await succeed(t, ['backup', '-', ...remote])
  child.kill('SIGTERM')
  await ended

  for (const [n, from] of [file, piped, served].entries()) {
    const target = join(dir, `restored${n}`)
    const restored = await run(t, ['restore', from, target, '--json'])
    t.match(restored.stderr, /^lorekeep: restored [\d,]+ entries in .*: a backup of 20\d\d-\S+Z, /)
    t.match(JSON.parse(String(restored.stdout)), { entries: summary.entries })
    t.ok((await succeed(t, ['export', ...name, '--data', target])).equals(sample))
  }
  await succeed(t, ['restore', '-', join(dir, 'streamed')], { input: streamed })
  t.ok((await succeed(t, ['export', ...name, '--data', join(dir, 'streamed')])).equals(sample))
  t.match(await fail(t, 1, ['restore', file, data]), 'empty')
})

t.test('a backup that is damaged or not there is refused, and makes no directory', async (t) => {
  const { dir, data } = await shelf(t)
  const file = join(dir, 'file')
  await succeed(t, ['backup', file, '--data', data])
  const bytes = readFileSync(file)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(join(dir, 'bad'), bytes)
  writeFileSync(join(dir, 'cut'), readFileSync(file).subarray(0, 200))
  for (const name of ['bad', 'cut', 'none']) {
    await fail(t, 1, ['restore', join(dir, name), join(dir, 'data')])
    t.notOk(existsSync(join(dir, 'data')), name)
  }
  const deep = join(dir, 'new', 'data')
  await fail(t, 1, ['restore', '-', deep], { input: bytes })
  t.notOk(existsSync(join(dir, 'new')), 'nor does a stream leave one')
  mkdirSync(join(deep, 'flows'), { recursive: true })
  await fail(t, 1, ['restore', '-', deep], { input: bytes })
  t.same(readdirSync(deep), ['flows'], 'what was there stays')
  await succeed(t, ['restore', file, deep])
})

t.test('a directory that holds anything is refused, and left as it is', async (t) => {
  const { dir, data } = await shelf(t)
  const file = join(dir, 'file')
  await succeed(t, ['backup', file, '--data', data])
  const target = join(dir, 'target')
  mkdirSync(join(target, 'cores'), { recursive: true })
  writeFileSync(join(target, 'notes.txt'), 'mine')
  t.match(await fail(t, 1, ['restore', file, target]), /'notes\.txt'.* empty, or not there/)
  t.same(readdirSync(target), ['cores', 'notes.txt'])
  unlinkSync(join(target, 'notes.txt'))
  await succeed(t, ['restore', file, target])
  // One partition of a store is not empty, either: none is added to it.
  for (const name of ['flows', 'objects', 'slices']) {
    rmSync(join(target, name), { recursive: true })
  }
  t.match(await fail(t, 1, ['restore', file, target]), /there is a store .* empty, or not there/)
  t.same(readdirSync(target), ['cores'])
})

t.test('what a restore that was broken off has left is restored into', async (t) => {
  const { dir, data } = await shelf(t)
  const file = join(dir, 'file')
  await succeed(t, ['backup', file, '--data', data])
  const target = join(dir, 'target')
  const backend = new LevelBackend(target)
  const cores = await backend.open('cores')
  await cores.write([{ type: 'put', key: markerKey, value: markerOf(0) }])
  await backend.close()
  await succeed(t, ['restore', file, target])
  t.ok((await succeed(t, ['export', ...name, '--data', target])).equals(sample))
})

t.test(
  'what a restore makes is for its owner alone',
  { skip: process.platform === 'win32' },
  async (t) => {
    const { dir, data } = await shelf(t)
    const file = join(dir, 'file')
    await succeed(t, ['backup', file, '--data', data])
    await succeed(t, ['restore', file, join(dir, 'new', 'data')])
    mkdirSync(join(dir, 'old'))
    chmodSync(join(dir, 'old'), 0o755)
    await succeed(t, ['restore', file, join(dir, 'old')])
    const modes = ['new', 'new/data', 'new/data/cores', 'old', 'old/cores'].map(
      (path) => statSync(join(dir, path)).mode & 0o777,
    )
    t.same(modes, [0o700, 0o700, 0o700, 0o755, 0o700])
  },
)

t.test('a backup of nothing leaves no file', async (t) => {
  const { dir, data } = await shelf(t)
  await fail(t, 1, ['backup', join(dir, 'a'), '--data', join(dir, 'none')])
  await fail(t, 1, ['backup', join(dir, 'no', 'such'), '--data', data])
  await fail(t, 2, ['backup', '-', '--json', '--data', data])
  await fail(t, 2, ['backup'])
  await fail(t, 2, ['restore', 'a'])
  t.same(readdirSync(dir), [])
})

t.test('what the system says of a file is put in words, with what to do', async (t) => {
  const { dir, data } = await shelf(t)
  const [file, plain, none] = ['file', 'plain', 'none'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  await succeed(t, ['backup', file, '--data', data])
  writeFileSync(plain, '')
  const inFile = join(plain, 'a')
  for (const [args, expected] of [
    [['backup', dir, '--data', data], /is a directory: name a file$/m],
    [['backup', join(none, 'a'), '--data', data], /the directory of '.*' is not there: make it/],
    [['backup', inFile, '--data', data], /is a file, or leads through one/],
    [['backup', none, '--data', inFile], /is a file, or leads through one/],
    [['restore', dir, none], /is a directory, not a backup: name a file$/m],
    [['restore', none, none], /there is no '.*none'$/m],
    [['restore', inFile, none], /is a file, or leads through one/],
    [['restore', file, plain], /is a file, or leads through one/],
    [['restore', file, inFile], /is a file, or leads through one/],
  ] as const) {
    t.match(await fail(t, 1, args), expected)
  }
  t.same(readdirSync(dir).sort(), ['file', 'plain'])
  // Root may do all of this.
  for (const code of ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT']) {
    const cause = Object.assign(new Error(`${code}: raw`), { code })
    for (const access of ['read', 'write'] as const) {
      const error = fileError(cause, '/a', access)
      t.match(error, { message: /'\/a'.*: / }, code)
      t.notMatch(error, { message: code })
    }
  }
  const other = new LorekeepError('LK_CLOSED')
  t.equal(fileError(other, '/a', 'read'), other)
  for (const [cause, advice] of [
    [{ code: 'ENOSPC' }, 'make room on its file system'],
    [{ message: 'IO error: /a: No space left on device' }, 'make room on its file system'],
    [{ code: 'EROFS' }, 'a store has to be written to'],
    [{ code: 'EACCES' }, 'change the permissions'],
  ] as const) {
    const failed = { cause: Object.assign(new Error(), cause) }
    t.match(describe(new LorekeepError('LK_STORAGE_FAILED', '/a', failed)), `: /a: ${advice}`)
    t.equal(describe(new LorekeepError('LK_CLOSED', '/a', failed)), 'the store is closed: /a')
  }
  const damaged = { details: { partition: 'slices', key: '02' } }
  const found = describe(new LorekeepError('LK_STORAGE_CORRUPT', 'the value', damaged))
  t.match(found, /: the value: 'lorekeep verify' tells what it belongs to/)
})

t.test(
  'a full disk behind stdout is told as that',
  { skip: !existsSync('/dev/full') },
  async (t) => {
    const { data } = await shelf(t)
    const full = openSync('/dev/full', 'w')
    const args = [script, 'backup', '-', '--data', data]
    const child = spawn(process.execPath, args, { stdio: ['ignore', full, 'pipe'] })
    const [stderr] = await Promise.all([text(child.stderr as Readable), once(child, 'close')])
    closeSync(full)
    t.equal(child.exitCode, 1)
    t.equal(stderr, "lorekeep: no space is left for 'stdout': make room, or name another\n")
  },
)

t.test('a download that is cut leaves the old file alone', async (t) => {
  const { dir, data } = await shelf(t)
  const file = join(dir, 'file')
  await succeed(t, ['backup', file, '--data', data])
  const bytes = readFileSync(file)
  writeFileSync(file, 'old')
  // Both end well as far as HTTP knows: nothing but the backup itself says that it was cut.
  for (const answer of [bytes.subarray(0, -1), bytes.subarray(0, 60), Buffer.alloc(0)]) {
    const server = createServer((_request, response) => response.end(answer))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await fail(t, 1, ['backup', file, '--url', url])
    const { code } = await run(t, ['backup', '-', '--url', url])
    t.equal(code, 1)
    t.equal(readFileSync(file, 'utf8'), 'old')
    t.same(readdirSync(dir), ['file'])
  }
})

t.test('a backup that the server breaks off is told at both ends', async (t) => {
  const dir = t.testdir()
  const data = join(dir, 'data')
  // More than waits for a reader: the answer has begun when the damage is met.
  const input = await succeed(t, ['sample', '--triples', '40000'])
  await succeed(t, ['import', '-', '--id', 'large', '--data', data], { input })
  const values = join(data, 'slices', 'values')
  const last = join(values, readdirSync(values).sort().at(-1)!)
  const bytes = readFileSync(last)
  bytes[1000]! ^= 1
  writeFileSync(last, bytes)
  const server = await serve(t, ['--data', data])
  const remote = ['--url', server.url, '--token', server.token]
  const file = join(dir, 'file')
  t.match(
    await fail(t, 1, ['backup', file, ...remote]),
    /^lorekeep: the server broke the backup off after [\d.]+ [kM]?B .*: nothing was written to '.*file'; the server's log /,
  )
  t.match(
    (await run(t, ['backup', '-', ...remote])).stderr,
    /^lorekeep: the server broke the backup off after .* stdout is no whole backup; /,
  )
  t.same(readdirSync(dir), ['data'])
  server.child.kill('SIGTERM')
  const { stderr } = await server.ended
  t.match(stderr, /^lorekeep: \S+ GET \/api\/v1\/backup: LK_STORAGE_CORRUPT: .*'slices'/m)
})

t.test('what fails on the server before the first byte is told with its code', async (t) => {
  const dir = t.testdir()
  const full = Object.assign(new Error('/secret: No space left on device'), { code: 'ENOSPC' })
  const error = new LorekeepError('LK_STORAGE_FAILED', '/secret', { cause: full })
  const problem = problemOf(error, 'r')
  const server = createServer((_request, response) => {
    response.writeHead(problem.status).end(JSON.stringify(problem))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.equal(
    await fail(t, 1, ['backup', join(dir, 'a'), '--url', url]),
    "lorekeep: the storage failed: no space is left on the server's disk (LK_STORAGE_FAILED: the server's log says more)\n",
  )
  t.same(readdirSync(dir), [])
})

t.test('an interrupted backup leaves no file', async (t) => {
  const dir = t.testdir()
  let connected = () => {}
  const reading = new Promise<void>((resolve) => (connected = resolve))
  const server = createServer((_request, response) => {
    response.write(Buffer.from('LKBACKUP'), () => connected())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const { child, ended } = start(t, ['backup', join(dir, 'a'), '--url', url])
  await reading
  child.kill('SIGINT')
  const { code, stderr } = await ended
  t.equal(code, 130)
  t.match(stderr, /^lorekeep: [^\n]+\n$/)
  t.same(readdirSync(dir), [])
})

t.test('a backup does not go to a terminal', async (t) => {
  const { data } = await shelf(t)
  const outcome = inTerminal(['backup', '-', '--data', data])
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  t.equal(outcome.code, 2)
  t.match(outcome.text, /^lorekeep: a backup .*terminal/)
})
