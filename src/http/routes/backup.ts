// A backup of everything, made while it is sent.

import { Writable } from 'node:stream'
import type { Backup } from '../../backup/types.js'
import { LorekeepError } from '../../errors.js'
import { checkUnlimited } from '../access.js'
import { disconnect } from '../body.js'
import type { Call, Sink } from '../call.js'
import { answer } from '../reply.js'
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
  let underWay: Call | undefined

  return [
    {
      access: 'read',
      method: 'GET',
      path: `${prefix}/backup`,
      operation: 'backup',
      media: ['application/octet-stream'],
      run: sendBackup,
    },
  ]

  async function sendBackup({ call, principal }: Exchange): Promise<void> {
    checkUnlimited(principal)
    // An unread body would keep the socket from telling that the client has gone.
    if (call.isBodyPending) throw new LorekeepError('LK_HTTP_REQUEST', 'a GET has no body')
    if (call.method === 'HEAD') {
      await answer(call, 200, headers)
      return
    }
    if (underWay !== undefined) {
      throw new LorekeepError('LK_HTTP_BUSY', 'another backup is under way')
    }
    underWay = call
    const leave = () => {
      if (underWay === call) underWay = undefined
    }
    try {
      await whileConnected(call, async (signal) => {
        await backup(targetOf(call, exportIdleTimeoutMs, leave), { signal })
      })
    } finally {
      leave()
    }
  }
}

/**
 * Sends the head with the first bytes: what fails before has a status of its own. `onLast` is called before the end is
 * sent: whoever has all of it may ask for another at once, and would come before what is tidied up here.
 */
function targetOf(call: Call, idleTimeoutMs: number, onLast: () => void): Writable {
  let sink: Sink | undefined
  const send = async (chunk: Uint8Array) => {
    sink ??= call.begin(200, headers)
    for (let at = 0; at < chunk.length; at += stepBytes) {
      if (call.hasGone) throw disconnect()
      if (!sink.write(chunk.subarray(at, at + stepBytes))) await sink.drained(idleTimeoutMs)
    }
  }
  const finish = async () => {
    if (call.hasGone) throw disconnect()
    sink ??= call.begin(200, headers)
    onLast()
    await sink.end(idleTimeoutMs)
    // Closed before its last byte had left.
    if (call.hasGone) throw disconnect()
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
