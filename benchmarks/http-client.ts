// The client of the HTTP scenarios, a process of its own: does what its parent asks, one request
// at a time, and times it. The parent talks to it through createClient().

import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import { MiB } from './measure.js'
import { createStream, cut, type Kind } from './stream.js'

/** `prepare` makes the stream that `send` sends; `fetch` hashes what comes, or counts it only. */
export type Job =
  | { readonly type: 'prepare'; readonly kind: Kind; readonly bytes: number }
  | { readonly type: 'fetch'; readonly url: string; readonly hash: boolean }
  | { readonly type: 'send'; readonly url: string }

export interface Outcome {
  readonly status: number
  readonly bytes: number
  readonly seconds: number
  readonly digest?: string
  readonly body?: string
}

export function createClient() {
  const child = fork(fileURLToPath(import.meta.url), ['client'], { execArgv: ['--expose-gc'] })
  let settle: { resolve: (outcome: Outcome) => void; reject: (error: Error) => void } | undefined
  child.on('message', (outcome: Outcome) => settle?.resolve(outcome))
  child.on('exit', (code) => settle?.reject(new Error(`the client ended with code ${code}`)))
  return {
    run: (job: Job): Promise<Outcome> =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject }
        child.send(job)
      }),
    close: () => child.disconnect(),
  }
}

if (process.argv[2] === 'client') {
  let chunks: readonly Buffer[] = []
  process.on('message', (job: Job) => {
    globalThis.gc?.()
    const outcome =
      job.type === 'prepare'
        ? Promise.resolve({ status: 0, seconds: 0, bytes: prepare(job.kind, job.bytes) })
        : job.type === 'fetch'
          ? get(job.url, job.hash)
          : post(job.url)
    void outcome.then((result) => process.send?.(result))
  })

  function prepare(kind: Kind, bytes: number): number {
    const stream = createStream(kind, bytes)
    chunks = cut(stream.bytes, MiB)
    return stream.bytes.length
  }

  async function get(url: string, hash: boolean): Promise<Outcome> {
    const start = process.hrtime.bigint()
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(url, resolve).on('error', reject).end()
    })
    const sum = hash ? createHash('sha256') : undefined
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      sum?.update(chunk)
    })
    await once(response, 'end')
    const status = response.statusCode ?? 0
    return { status, bytes, seconds: since(start), ...(sum && { digest: sum.digest('hex') }) }
  }

  async function post(url: string): Promise<Outcome> {
    const start = process.hrtime.bigint()
    const outgoing = request(url, { method: 'POST' })
    const answer = once(outgoing, 'response')
    let bytes = 0
    for (const chunk of chunks) {
      bytes += chunk.length
      if (!outgoing.write(chunk)) await once(outgoing, 'drain')
    }
    outgoing.end()
    const [response] = (await answer) as [IncomingMessage]
    const body = (await response.setEncoding('utf8').toArray()).join('')
    return { status: response.statusCode ?? 0, bytes, seconds: since(start), body }
  }

  function since(start: bigint): number {
    return Number(process.hrtime.bigint() - start) / 1e9
  }
}
