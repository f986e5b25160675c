// A listening socket says that its owner lives, and no more: the kernel takes it away with the
// thread, however that ends, and answers for one that is stopped or busy.

import { connect, createServer } from 'node:net'
import type { Server } from 'node:net'
import { rm } from 'node:fs/promises'
import { once } from 'node:events'
import { machine } from './machine.js'

export interface OwnerSocket {
  /** Where it can be asked: a machine's scope, or one of the words below. */
  readonly scope: string
  close(): Promise<void>
}

/** A socket with a path of its own: anybody who sees that file can ask. */
const byPath = 'path'
/** The system gave none. */
const nowhere = 'none'

/** Of those that this system has, the first that works. */
export async function listen(token: string): Promise<OwnerSocket> {
  const scopes = process.platform === 'win32' ? [machine.scope] : [machine.scope, byPath]
  for (const scope of process.platform === 'darwin' ? [byPath] : scopes) {
    const address = addressOf(token, scope)
    const server = address === undefined ? undefined : await serve(address)
    if (server === undefined) continue
    const close = () => new Promise<void>((resolve) => void server.close(() => resolve()))
    return { scope, close }
  }
  return { scope: nowhere, close: async () => undefined }
}

/** Whether the owner lives; `undefined` where that cannot be told from here. `pid`: what they say. */
export async function ask(
  token: string,
  scope: string,
  pid: number | undefined,
): Promise<boolean | undefined> {
  const address = addressOf(token, scope)
  if (address === undefined) return undefined
  const code = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ path: address })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'))
    socket.on('connect', () => {
      resolve(undefined)
      socket.destroy()
    })
  })
  // EAGAIN and EBUSY: so many ask that the queue is full, but it is there.
  if (code === undefined || code === 'EAGAIN' || code === 'EBUSY') return true
  if (code === 'ECONNREFUSED') {
    // On BSD and macOS also where the queue is full.
    if (process.platform !== 'linux' && runs(pid)) return undefined
    // What is left of it is in nobody's way.
    if (scope === byPath) await rm(address, { force: true }).catch(() => undefined)
    return false
  }
  // A named pipe ends with its process. A socket's file may also be on another machine.
  if (code === 'ENOENT' && process.platform === 'win32') return false
  return undefined
}

function addressOf(token: string, scope: string): string | undefined {
  const name = `lorekeep-${token}`
  // Not os.tmpdir(): two processes may have two, and macOS's are too long for a socket.
  if (scope === byPath) return `/tmp/${name}`
  if (scope !== machine.scope) return undefined
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`
  // All 107 bytes that the kernel has for it: Node 20 fills shorter names up with zeros, later
  // ones do not, and neither would find the other.
  return process.platform === 'linux' ? `\0${name.padEnd(107, '-')}` : undefined
}

function runs(pid: number | undefined): boolean {
  if (pid === undefined) return true
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ESRCH'
  }
}

async function serve(address: string): Promise<Server | undefined> {
  const server = createServer({ pauseOnConnect: true }, (socket) => void socket.destroy())
  try {
    // Exclusive: in a worker of node:cluster it would otherwise live as long as the primary.
    server.listen({ path: address, exclusive: true })
    await once(server, 'listening')
  } catch {
    // Not permitted, or no descriptor left: the owner's file is watched instead.
    return undefined
  }
  // Where a connection cannot be accepted, it has been made all the same.
  server.on('error', () => undefined)
  return server.unref()
}
