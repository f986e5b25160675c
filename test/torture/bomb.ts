// Bodies of gigabytes in megabytes of gzip, brotli and zstd, against the limits of cores and of JSON, by both handlers:
// each ends at its limit with a 413, leaves nothing, and the server, which has a heap of 128 MB, stays small.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Duplex } from 'node:stream'
import zlib from 'node:zlib'
import { core, json, send } from '../http/fixtures/serving.js'
import type { Told } from './bomb-child.js'

const maxCoreBytes = 256 * 1024 ** 2
/** Above what the server takes at rest. */
const most = 192 * 1024

type Bomb = (piece: Buffer, count: number) => AsyncIterable<Buffer> | Iterable<Buffer>

/** Of Node 22.15 and later. */
const { createZstdCompress } = zlib as unknown as { createZstdCompress?: () => Duplex }

const bombsBy: Readonly<Record<string, Bomb | undefined>> = {
  // Many members, one behind the other.
  gzip: (piece, count) => repeated(zlib.gzipSync(piece), count),
  br: (piece, count) => {
    const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 }
    return through(zlib.createBrotliCompress({ params }), piece, count)
  },
  zstd: createZstdCompress && ((piece, count) => through(createZstdCompress(), piece, count)),
}

function* repeated(piece: Buffer, count: number): Generator<Buffer, void, undefined> {
  for (let n = 0; n < count; n++) yield piece
}

function through(encoder: Duplex, piece: Buffer, count: number): AsyncIterable<Buffer> {
  return Readable.from(repeated(piece, count)).pipe(encoder)
}

interface Sent {
  readonly status: number
  /** Until there was an answer. */
  readonly bytes: number
}

/** Sends until there is an answer. */
async function sent(
  url: string,
  method: string,
  coding: string,
  body: ReturnType<Bomb>,
): Promise<Sent> {
  const request = httpRequest(url, { method, headers: { 'Content-Encoding': coding } })
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
  let bytes = 0
  for await (const piece of body) {
    if (status !== 0 || closed) break
    bytes += piece.length
    if (request.write(piece)) continue
    const drained = new Promise((resolve) => request.once('drain', resolve).once('close', resolve))
    await Promise.race([drained, answered])
  }
  request.end()
  await answered
  return { status, bytes }
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
    const found: Record<string, object> = {}
    for (const [coding, bomb] of Object.entries(bombsBy)) {
      if (bomb === undefined) {
        found[coding] = { skipped: `Node ${process.version} has none` }
        continue
      }
      const bodyOf = (piece: Buffer) => bomb(piece, Math.ceil((gigabytes * 1e9) / piece.length))
      const path = `${url}/import-core?id=bomb`
      const cores = await sent(path, 'POST', coding, bodyOf(ofCores))
      const object = `${url}/collections/c/objects/bomb`
      const ofObject = await sent(object, 'PUT', coding, bodyOf(ofJson))
      assert.deepEqual([cores.status, ofObject.status], [413, 413], `${door}, ${coding}`)
      found[coding] = { cores, json: ofObject }
    }
    child.send('usage')
    const { peakKiB } = await told()
    const { cores: left } = json(await send(`${url}/cores`))
    child.disconnect()
    await once(child, 'exit')
    assert.deepEqual(left, [])
    assert.ok(peakKiB - before < most, `${door}: ${peakKiB} KiB, ${before} at rest`)
    report[door] = { ...found, restMiB: before >> 10, peakMiB: peakKiB >> 10 }
  }
  return report
}
