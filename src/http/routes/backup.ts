// A backup of everything, made while it is sent.

import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import type { Backup } from '../../backup/types.js'
import { LorekeepError } from '../../errors.js'
import { checkUnlimited } from '../access.js'
import { disconnect, isBodyPending } from '../body.js'
import { answer, reached } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { whileConnected } from '../stream.js'

interface BackupRoutesOptions {
  readonly prefix: string
  readonly backup: Backup
  readonly exportIdleTimeoutMs: number
}

const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' }

/** Small steps, so that a slow reader shows signs of life within the timeout. */
const stepBytes = 512 * 1024

export function backupRoutes(options: BackupRoutesOptions): readonly Route[] {
  const { prefix, backup, exportIdleTimeoutMs } = options
  let underWay = false

  return [{ access: 'read', method: 'GET', path: `${prefix}/backup`, run: sendBackup }]

  async function sendBackup({ request, response, principal }: Exchange): Promise<void> {
    checkUnlimited(principal)
    // An unread body would keep the socket from telling that the client has gone.
    if (isBodyPending(request)) throw new LorekeepError('LK_HTTP_REQUEST', 'a GET has no body')
    if (request.method === 'HEAD') {
      await answer(request, response, 200, headers)
      return
    }
    if (underWay) throw new LorekeepError('LK_HTTP_BUSY', 'another backup is under way')
    underWay = true
    try {
      await whileConnected(response, async (signal) => {
        await backup(targetOf(response, exportIdleTimeoutMs), { signal })
      })
    } finally {
      underWay = false
    }
  }
}

/** Sends the head with the first bytes: what fails before has a status of its own. */
function targetOf(response: ServerResponse, idleTimeoutMs: number): Writable {
  const send = async (chunk: Uint8Array) => {
    if (!response.headersSent && !response.destroyed) response.writeHead(200, headers)
    for (let at = 0; at < chunk.length; at += stepBytes) {
      if (response.destroyed) throw disconnect()
      const step = chunk.subarray(at, at + stepBytes)
      if (!response.write(step)) await reached(response, 'drain', idleTimeoutMs)
    }
  }
  const finish = async () => {
    if (response.destroyed) throw disconnect()
    response.end()
    await reached(response, 'finish', idleTimeoutMs)
    // Closed before its last byte had left.
    if (!response.writableFinished) throw disconnect()
  }
  return new Writable({
    highWaterMark: 1,
    write: (chunk: Uint8Array, _encoding, callback) => {
      send(chunk).then(() => callback(), callback)
    },
    final: (callback) => {
      finish().then(() => callback(), callback)
    },
  })
}
