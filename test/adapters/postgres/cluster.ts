// A PostgreSQL of a test's own, in a temporary directory; it ends with the process that began it.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'

const installed = '/usr/lib/postgresql'

/** The folder of initdb and postgres, where PostgreSQL is installed. */
export const binaries = findBinaries()

export const skip = binaries === undefined && 'PostgreSQL is not installed'

function findBinaries(): string | undefined {
  const versions = existsSync(installed) ? readdirSync(installed).map(Number) : []
  const newest = versions.filter((version) => version >= 13).sort((a, b) => b - a)[0]
  if (newest !== undefined) return join(installed, String(newest), 'bin')
  try {
    return execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

interface ClusterOptions {
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[]
  /** With a certificate of its own, `server.crt` in its directory. */
  readonly tls?: boolean
  /** A standby of this one, made of its backup. */
  readonly of?: Cluster
}

interface Identity {
  readonly uid?: number
  readonly gid?: number
}

export class Cluster {
  readonly directory: string
  readonly port: number
  readonly #child: ChildProcess

  private constructor(directory: string, port: number, child: ChildProcess) {
    this.directory = directory
    this.port = port
    this.#child = child
  }

  static async start({ settings = [], of, tls = false }: ClusterOptions = {}): Promise<Cluster> {
    const directory = await mkdtemp(join(tmpdir(), 'lorekeep-postgres-'))
    const as = identity()
    if (as.uid !== undefined) chownSync(directory, as.uid, as.gid ?? as.uid)
    const [command, options] =
      of === undefined
        ? ['initdb', ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C']]
        : ['pg_basebackup', ['--write-recovery-conf', '--checkpoint=fast', `--dbname=${of.url}`]]
    const place = ['--no-sync', '--pgdata', directory]
    execFileSync(join(binaries!, command), [...options, ...place], { ...as, stdio: 'ignore' })
    if (tls) {
      const files = [
        '-keyout',
        join(directory, 'server.key'),
        '-out',
        join(directory, 'server.crt'),
      ]
      const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost']
      const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
      execFileSync('openssl', [...made, ...names, ...files], { ...as, stdio: 'ignore' })
    }
    const port = await freePort()
    const lines = [
      `port = ${port}`,
      `listen_addresses = '127.0.0.1'`,
      `unix_socket_directories = ''`,
      'fsync = off',
      `ssl = ${tls ? 'on' : 'off'}`,
      'shared_buffers = 64MB',
      ...settings,
    ]
    const config = join(directory, 'postgresql.conf')
    await writeFile(config, `${await readFile(config, 'utf8')}\n${lines.join('\n')}\n`)
    const cluster = new Cluster(directory, port, run(directory, as))
    await cluster.#answers()
    return cluster
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`
  }

  /** What a statement gives, asked by itself. */
  async query(text: string): Promise<unknown[][]> {
    const client = new pg.Client({ connectionString: this.url })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows
    } finally {
      await client.end()
    }
  }

  /** Of a standby: resolves when it shows what the primary had at `position`. */
  async catchUp(position: string): Promise<void> {
    const isThere = `SELECT pg_last_wal_replay_lsn() >= '${position}'`
    while ((await this.query(isThere))[0]?.[0] !== true) await wait(20)
  }

  /** The number of the server's first process. */
  async processId(): Promise<number> {
    return Number((await readFile(join(this.directory, 'postmaster.pid'), 'utf8')).split('\n')[0])
  }

  /** As if its machine had lost power: all processes of the server, at once. */
  async kill(): Promise<void> {
    await this.freeze()
    const [first, ...others] = await this.#processes()
    for (const id of [...others, first!]) process.kill(id, 'SIGKILL')
  }

  /** It says nothing any more, and keeps its connections. The kernel goes on taking new ones for it. */
  async freeze(): Promise<void> {
    // The first one begins others, so it is the first to stop.
    process.kill(await this.processId(), 'SIGSTOP')
    for (const id of await this.#processes()) process.kill(id, 'SIGSTOP')
  }

  async thaw(): Promise<void> {
    for (const id of await this.#processes()) {
      try {
        process.kill(id, 'SIGCONT')
      } catch {
        // Where it was thawed before, one may have ended since it was looked up.
      }
    }
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.ref()
      this.#child.stdin?.end()
      await ended
    }
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 })
  }

  /** The first one first. */
  async #processes(): Promise<number[]> {
    const first = await this.processId()
    const all = execFileSync('ps', ['-o', 'pid=', '--ppid', String(first)], { encoding: 'utf8' })
    return [first, ...all.trim().split(/\s+/u).map(Number)]
  }

  async #answers(): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await this.query('SELECT 1')
        return
      } catch (error) {
        if (tries === 300 || this.#child.exitCode !== null) throw error
        await wait(50)
      }
    }
  }
}

/** PostgreSQL refuses to run as root. */
function identity(): Identity {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (what: string) => Number(execFileSync('id', [what, name], { encoding: 'utf8' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // The next one.
    }
  }
  throw new Error('there is no user whom PostgreSQL could run as')
}

/** The server, and a shell that ends it when its input ends: with stop(), or with this process. */
function run(directory: string, as: Identity): ChildProcess {
  const script = '"$0" -D "$1" >"$1/log" 2>&1 & server=$!; cat >/dev/null; kill -QUIT $server; wait'
  const child = spawn('sh', ['-c', script, join(binaries!, 'postgres'), directory], {
    ...as,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.unref()
  return child
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
