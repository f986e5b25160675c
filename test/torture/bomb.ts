// Bodies of gigabytes in megabytes of gzip, against the limits of cores and of JSON, by both handlers: each ends at its
// limit with a 413, leaves nothing, and the server, which has a heap of 128 MB, stays small.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { core, send } from '../http/fixtures/serving.js'
import type { Told } from './bomb-child.js'

const maxCoreBytes = 256 * 1024 ** 2
/** Above what the server takes at rest. */
const most = 192 * 1024

/** Sends until there is an answer, and gives its status. */
async function sent(url: string, method: string, member: Buffer, count: number): Promise<number> {
  const request = httpRequest(url, { method, headers: { 'Content-Encoding': 'gzip' } })
  request.setMaxListeners(0)
  let status = 0
  let closed = false
  const answered = new Promise<void>((resolve, reject) => {
    request.on('response', (response) => {
      status = response.statusCode ?? 0
      response.resume().on('close', resolve)
    })
    request.on('error', (error) => (status > 0 ? resolve() : reject(error)))
    request.on('close', () => (closed = true))
    // A server that has answered reads no more of what is still on its way.
    request.on('socket', (socket) => void socket.on('error', () => {}))
  })
  for (let n = 0; n < count && status === 0 && !closed; n++) {
    if (request.write(member)) continue
    const drained = new Promise((resolve) => request.once('drain', resolve).once('close', resolve))
    await Promise.race([drained, answered])
  }
  request.end()
  await answered
  return status
}

export async function bombs(directory: string, gigabytes: number): Promise<unknown> {
  const message = core('bomb', 'alice', 1)
  const ofCores = Buffer.concat(Array(Math.ceil(1e6 / message.length)).fill(message) as Buffer[])
  const ofJson = Buffer.alloc(1e6, ' ')
  const report: Record<string, object> = {}
  for (const door of ['node', 'fetch']) {
    const script = 'dist/test/torture/bomb-child.js'
    const args = [door, join(directory, door), String(maxCoreBytes)]
    const child = fork(script, args, { execArgv: ['--max-old-space-size=128'] })
    const told = async () => ((await once(child, 'message')) as [Told])[0]
    const { port, peakKiB: before } = await told()
    const url = `http://127.0.0.1:${port}/api/v1`
    const bomb = async (method: string, path: string, piece: Buffer) => {
      const member = gzipSync(piece)
      const count = Math.ceil((gigabytes * 1e9) / piece.length)
      const status = await sent(url + path, method, member, count)
      return { status, offered: count * member.length, bytes: count * piece.length }
    }
    const cores = await bomb('POST', '/import-core?id=bomb', ofCores)
    const json = await bomb('PUT', '/collections/c/objects/bomb', ofJson)
    child.send('usage')
    const { peakKiB } = await told()
    const left = (await send(`${url}/cores`)).body.toString()
    child.disconnect()
    await once(child, 'exit')
    assert.deepEqual([cores.status, json.status, left], [413, 413, '{"cores":[]}'])
    assert.ok(peakKiB - before < most, `${door}: ${peakKiB} KiB, ${before} at rest`)
    report[door] = { cores, json, restMiB: before >> 10, peakMiB: peakKiB >> 10 }
  }
  return report
}
