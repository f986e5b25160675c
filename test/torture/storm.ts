// A server with 128 MB, and everything at once that clients should not do.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { request as httpRequest, Agent } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { coreProblems } from '../fixtures/problems.js'
import { contentOf } from './crash-content.js'

export interface StormReport {
  readonly imports: number
  readonly stored: number
  readonly busy: number
  readonly idleMiB: number
  readonly mostMiB: number
  /** Of the event loop of the server, over the whole storm, in milliseconds. */
  readonly p99: number
  readonly mostDelayMs: number
  /** The slowest answer over a connection that was there, as this process saw it, which is busy too. */
  readonly healthMs: number
}

const tokens = { alice: 'token-of-alice', bob: 'token-of-bob', carol: 'token-of-carol' } as const
type Name = keyof typeof tokens

export async function storm(options: {
  readonly directory: string
  readonly imports: number
  readonly seed: number
  /** What the server has in its environment beside this process's. */
  readonly environment: Readonly<Record<string, string>>
  readonly mostAboveIdleMiB: number
}): Promise<StormReport> {
  const { directory, imports, seed, environment, mostAboveIdleMiB } = options
  const random = new Random(seed)
  const data = join(directory, 'data')
  const child = startServer(directory, data, environment)
  try {
    const port = await portOf(child)
    const server = new Client(port)
    const pid = child.pid as number
    await prepare(server)
    const idle = memoryOf(pid)
    const idleSockets = socketsOf(pid)
    await delayOf(child)

    let most = 0
    let healthMs = 0
    let isOver = false
    const sampling = (async () => {
      while (!isOver) {
        most = Math.max(most, memoryOf(pid))
        await sleep(50)
      }
    })()
    // A new connection is taken at one for each turn of the loop, after those that came before.
    const watcher = new Client(port, true)
    const looking = (async () => {
      while (!isOver) {
        const since = performance.now()
        const { status } = await watcher.send('GET', '/healthz', 'alice')
        assert.equal(status, 200)
        healthMs = Math.max(healthMs, performance.now() - since)
        await sleep(100)
      }
    })()
    const some = (count: number) => Math.max(4, Math.ceil((count * imports) / 2000))
    const stored = new Set<string>()
    let busy = 0
    const told: string[] = []
    const held = [
      ...Array.from({ length: some(200) }, () => slowUpload(port, 'bob')),
      ...Array.from({ length: some(300) }, (_, n) =>
        idleExport(port, n % 2 === 0 ? 'alice' : 'bob'),
      ),
    ]
    const importAll = async (name: Name, first: number) => {
      for (let n = first; n < imports; n += 400) {
        const id = `storm-${n}`
        const body = Buffer.concat([
          ...contentOf({ type: 'replace', core: 'one', name: id, size: 1 + random.below(20) }),
        ])
        for (;;) {
          const { status } = await server.send('POST', `/api/v1/import-core?id=${id}`, name, body)
          if (status === 200) stored.add(`${name} ${id}`)
          else assert.equal(status, 503, `import ${id}`)
          if (status === 200 || n % 3 > 0) break
          // One in three insists.
          await sleep(20 + random.below(100))
        }
        if (!stored.has(`${name} ${id}`)) busy++
      }
    }
    const work: Promise<unknown>[] = [
      ...Array.from({ length: Math.min(400, imports) }, (_, n) =>
        importAll(n % 2 === 0 ? 'alice' : 'carol', n),
      ),
      ...Array.from({ length: some(100) }, () => abortedImport(port, random)),
      ...Array.from({ length: some(100) }, () => abortedExport(port, random)),
      unknownKeys(server, some(10), told),
      products(server, some(8), told),
    ]
    await Promise.all(work)
    for (const socket of held) socket.destroy()
    isOver = true
    await Promise.all([sampling, looking])
    const { p99, most: mostDelay } = await delayOf(child)

    // Sockets go when the server has heard of their end.
    const until = performance.now() + 60_000
    while (socketsOf(pid) > idleSockets + 2) {
      assert.ok(performance.now() < until, `seed ${seed}: ${socketsOf(pid)} sockets are left`)
      await sleep(100)
    }
    server.close()
    watcher.close()
    child.kill('SIGTERM')
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    assert.deepEqual([code, signal], [0, null], `seed ${seed}`)
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('core')),
      [],
    )
    await checkStore(data, stored, seed)
    const report: StormReport = {
      imports,
      stored: stored.size,
      busy,
      idleMiB: Math.round(idle),
      mostMiB: Math.round(most),
      p99: Math.round(p99),
      mostDelayMs: Math.round(mostDelay),
      healthMs: Math.round(healthMs),
    }
    assert.deepEqual([...new Set(told)].sort(), ['LK_QUERY', 'LK_QUERY_BUDGET'], `seed ${seed}`)
    assert.ok(most - idle <= mostAboveIdleMiB, `seed ${seed}: ${JSON.stringify(report)}`)
    return report
  } finally {
    child.kill('SIGKILL')
  }
}

function startServer(
  directory: string,
  data: string,
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const config = join(directory, 'storm.json')
  const principals = Object.entries(tokens).map(([user, token]) => [token, { user }])
  const limits = { maxQueryMs: 3000 }
  writeFileSync(
    config,
    JSON.stringify({ port: 0, data, tokens: Object.fromEntries(principals), limits }),
  )
  const watch = pathToFileURL('dist/test/torture/storm-watch.js').href
  const program = 'dist/src/cli/main.js'
  return spawn(
    process.execPath,
    ['--max-old-space-size=128', '--import', watch, program, 'serve', '--config', config],
    { stdio: ['ignore', 'pipe', 'ignore', 'ipc'], env: { ...process.env, ...environment } },
  )
}

async function portOf(child: ChildProcess): Promise<number> {
  assert.ok(child.stdout)
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /listening on http:.*:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return Number(port)
  }
  throw new Error('the server did not start')
}

/** A core of 8 MB for two users, and one small enough to multiply; the threads are there. */
async function prepare(server: Client): Promise<void> {
  const large = Buffer.concat([
    ...contentOf({ type: 'replace', core: 'one', name: 'large', size: 2000 }),
  ])
  const small = Buffer.concat([
    ...contentOf({ type: 'replace', core: 'one', name: 'small', size: 40 }),
  ])
  for (const name of ['alice', 'bob'] as const) {
    for (let n = 0; n * large.byteLength < 8 * 1024 * 1024; n++) {
      const unique = Buffer.concat([
        ...contentOf({ type: 'append', core: 'one', name: `large ${n}`, size: 2000 }),
      ])
      const path = '/api/v1/import-core?id=large'
      assert.equal((await server.send('POST', path, name, unique)).status, 200)
    }
    assert.equal(
      (await server.send('POST', '/api/v1/import-core?id=small', name, small)).status,
      200,
    )
    const { status } = await server.send('GET', sparqlPath('ASK { ?s ?p ?o }'), name)
    assert.equal(status, 200)
  }
}

const sparqlPath = (query: string) =>
  `/api/v1/sparql?core=small&${new URLSearchParams({ query }).toString()}`

async function unknownKeys(server: Client, count: number, told: string[]): Promise<void> {
  const members = Array.from({ length: 100_000 }, (_, n) => [`k${n}`, 1])
  const body = Buffer.from(JSON.stringify(Object.fromEntries(members)))
  for (let n = 0; n < count; n++) {
    const path = '/api/v1/flow/default/objects/query'
    const reply = await server.send('POST', path, 'carol', body)
    assert.equal(reply.status, 400)
    assert.ok(reply.body.byteLength < 128 * 1024, `${reply.body.byteLength} bytes of errors`)
    told.push(codeOf(reply))
  }
}

async function products(server: Client, count: number, told: string[]): Promise<void> {
  const three = '?a ?b ?c . ?d ?e ?f . ?g ?h ?i'
  const queries = [
    `SELECT * { ${three} } ORDER BY ?c`,
    `SELECT ?a ?d ?g (COUNT(*) AS ?n) { ${three} } GROUP BY ?a ?d ?g`,
    `SELECT (COUNT(*) AS ?n) { ${three} }`,
  ]
  for (let n = 0; n < count; n += 2) {
    const names = ['alice', 'bob'] as const
    const replies = names.map((name) =>
      server.send('GET', sparqlPath(queries[n % queries.length] as string), name),
    )
    for (const reply of await Promise.all(replies)) {
      assert.equal(reply.status, 400, reply.body.toString())
      told.push(codeOf(reply))
    }
  }
}

function codeOf({ body }: Reply): string {
  return String((JSON.parse(body.toString()) as { code: unknown }).code)
}

const head = (method: string, path: string, name: Name, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens[name]}\r\n${more}\r\n`

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  // The server may hang up first.
  socket.on('error', () => undefined)
  return socket
}

/** A byte, and then silence. */
function slowUpload(port: number, name: Name): Socket {
  const socket = open(port)
  socket.write(head('POST', '/api/v1/import-core?id=slow', name, 'Content-Length: 1000000\r\n'))
  socket.write(Buffer.of(0x92))
  return socket
}

function idleExport(port: number, name: Name): Socket {
  const socket = open(port)
  socket.pause()
  socket.write(head('GET', '/api/v1/export-core?id=large', name))
  return socket
}

async function abortedImport(port: number, random: Random): Promise<void> {
  const socket = open(port)
  const body = Buffer.concat([
    ...contentOf({ type: 'append', core: 'one', name: 'cut', size: 300 }),
  ])
  socket.write(
    head('POST', '/api/v1/import-core?id=cut', 'alice', `Content-Length: ${body.byteLength}\r\n`),
  )
  socket.write(body.subarray(0, random.below(body.byteLength)))
  await sleep(random.below(300))
  if (random.chance(0.5)) socket.resetAndDestroy()
  else socket.destroy()
}

async function abortedExport(port: number, random: Random): Promise<void> {
  const socket = idleExport(port, 'alice')
  if (random.chance(0.5)) socket.resume()
  await sleep(random.below(300))
  if (random.chance(0.5)) socket.resetAndDestroy()
  else socket.destroy()
}

/** What was acknowledged is there, and nothing else, and nothing lies about. */
async function checkStore(data: string, stored: ReadonlySet<string>, seed: number): Promise<void> {
  const keep = await createLorekeep({ backend: new LevelBackend(data) })
  const found = new Set<string>()
  for (const user of Object.keys(tokens)) {
    for await (const { id } of keep.knowledge.list({ user })) found.add(`${user} ${id}`)
  }
  await keep.close()
  const expected = [...stored, 'alice large', 'alice small', 'bob large', 'bob small']
  assert.deepEqual([...found].sort(), expected.sort(), `seed ${seed}`)
  const backend = new LevelBackend(data)
  try {
    assert.deepEqual(await coreProblems(backend), [], `seed ${seed}`)
  } finally {
    await backend.close()
  }
}

interface Reply {
  readonly status: number
  readonly body: Buffer
}

class Client {
  readonly #port: number
  readonly #agent: Agent

  constructor(port: number, keepAlive = false) {
    this.#port = port
    this.#agent = new Agent({ keepAlive })
  }

  send(method: string, path: string, name: Name, body?: Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const headers = {
        Authorization: `Bearer ${tokens[name]}`,
        ...(body !== undefined && { 'Content-Length': body.byteLength }),
      }
      const target = { host: '127.0.0.1', port: this.#port, agent: this.#agent }
      const request = httpRequest({ ...target, method, path, headers }, (response) => {
        const chunks: Buffer[] = []
        response
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }),
          )
          .on('error', reject)
      })
      request.on('error', reject)
      request.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Resident, in MiB. */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

function socketsOf(pid: number): number {
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory).filter((name) => {
    const file = `${directory}/${name}`
    // Gone since it was listed.
    if (!existsSync(`/proc/${pid}`)) return false
    try {
      return readlinkSync(file).startsWith('socket:')
    } catch {
      return false
    }
  }).length
}

async function delayOf(child: ChildProcess): Promise<{ p99: number; most: number }> {
  const told = once(child, 'message') as Promise<[{ p99: number; most: number }]>
  child.send('report')
  const [delays] = await told
  return delays
}
