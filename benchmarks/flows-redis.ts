// A redis-server of a scenario's own, where one is installed: a free port, a directory of its own,
// an append-only file that is synced every second.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { inDirectory } from './measure.js'

/** Why the rows of BullMQ are skipped; `undefined` where they are not. */
export const noRedis =
  spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0
    ? undefined
    : 'no redis-server is installed'

/** Starts a server, and ends it when the work is done or failed. */
export function withRedis<T>(work: (port: number) => Promise<T>): Promise<T> {
  return inDirectory(async (directory) => {
    const port = await freePort()
    const options = {
      port: String(port),
      bind: '127.0.0.1',
      dir: directory,
      appendonly: 'yes',
      appendfsync: 'everysec',
      save: '',
      // At its best: by default the file would be rewritten in the midst of a round.
      'auto-aof-rewrite-percentage': '0',
    }
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
    const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const end = () => server.kill()
    // Also when the scenario ends by a signal, or by an error that nothing waits for.
    process.once('exit', end).once('SIGINT', exit).once('SIGTERM', exit)
    const ended = once(server, 'exit')
    try {
      await isReady(server.stdout)
      return await work(port)
    } finally {
      process.off('exit', end).off('SIGINT', exit).off('SIGTERM', exit)
      end()
      await ended
    }
  })
}

function exit(): void {
  process.exit(1)
}

/** Its own word for it: another server on the port would answer a connection, too. */
async function isReady(log: NodeJS.ReadableStream): Promise<void> {
  let text = ''
  await new Promise<void>((resolve, reject) => {
    // Reads on to the end, so that the server never waits for its log to be read.
    log.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('Ready to accept connections')) resolve()
    })
    log.on('end', () => reject(new Error(`redis-server ended: ${text}`)))
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
