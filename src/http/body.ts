// What holds for request bodies, whichever server they come by.

import { LorekeepError } from '../errors.js'
import type { ErrorCode } from '../errors.js'
import type { BodyOptions, Call } from './call.js'

/**
 * What a client has to send on average, over twice `idleTimeoutMs` of waiting for it: one that sends
 * a byte now and then would hold its place for ever. Time in which we are the slow ones is not counted.
 */
const minBytesPerSecond = 1024

interface Wording {
  readonly tooLarge: ErrorCode
  /** What bounds such a body, mostly an option of the handler. */
  readonly limit: string
  readonly unannounced: string
  readonly parser: string
}

export const wordings: Readonly<Record<BodyOptions['content'], Wording>> = {
  core: {
    tooLarge: 'LK_CORE_TOO_LARGE',
    limit: 'maxCoreBytes',
    unannounced: '(a forgotten -T or --data-binary?); Content-Length: 0 imports an empty core',
    parser: "parse into bytes with express.raw({ type: '*/*' })",
  },
  json: {
    tooLarge: 'LK_HTTP_TOO_LARGE',
    limit: 'maxJsonBytes',
    unannounced: '(a forgotten --data?); send a JSON object',
    parser: 'parse JSON with express.json()',
  },
  file: {
    tooLarge: 'LK_HTTP_TOO_LARGE',
    limit: 'maxFileBytes',
    unannounced: '(a forgotten --data-binary @FILE?); send the file',
    parser: "parse into bytes with express.raw({ type: '*/*' })",
  },
  query: {
    tooLarge: 'LK_HTTP_TOO_LARGE',
    limit: 'maxQueryBytes',
    unannounced: '(a forgotten --data?); send the query',
    parser: "parse into bytes with express.raw({ type: '*/*' })",
  },
}

class Disconnect extends Error {}

/** True for the error of a body whose sender, or an answer whose reader, went away. */
export function isDisconnect(error: unknown): boolean {
  return error instanceof Disconnect
}

export function disconnect(): Error {
  return new Disconnect('the client closed the connection')
}

export function checkAnnouncedLength(
  { headers }: Pick<Call, 'headers'>,
  options: BodyOptions,
): void {
  if (Number(headers['content-length'] ?? 0) > mostOf(options)) throw tooLarge(options)
}

/** `Content-Length: 0` announces a body, of no bytes. */
export function isBodyAnnounced({ headers }: Pick<Call, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined
}

/** Bounds how much of a body comes, and how long it is waited for. */
export class BodyWatch {
  bytes = 0
  readonly #options: BodyOptions
  readonly #most: number
  #bytesBefore = 0
  #waitedMs = 0

  constructor(options: BodyOptions) {
    this.#options = options
    this.#most = mostOf(options)
  }

  /** @throws LorekeepError `LK_CORE_TOO_LARGE`, `LK_HTTP_TOO_LARGE` */
  take(chunk: Uint8Array): void {
    this.bytes += chunk.byteLength
    if (this.bytes > this.#most) throw tooLarge(this.#options)
  }

  /** @throws LorekeepError `LK_HTTP_TIMEOUT` */
  async wait<T>(next: Promise<T>): Promise<T> {
    const { idleTimeoutMs } = this.#options
    this.#checkRate(idleTimeoutMs)
    const since = performance.now()
    let timer: NodeJS.Timeout | undefined
    const idle = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new LorekeepError('LK_HTTP_TIMEOUT', `no byte for ${idleTimeoutMs} ms`))
      }, idleTimeoutMs)
    })
    try {
      return await Promise.race([next, idle])
    } finally {
      clearTimeout(timer)
      this.#waitedMs += performance.now() - since
    }
  }

  #checkRate(idleTimeoutMs: number): void {
    if (this.#waitedMs <= 2 * idleTimeoutMs) return
    const [bytes, ms] = [this.bytes - this.#bytesBefore, this.#waitedMs]
    if (bytes < (minBytesPerSecond * ms) / 1000) {
      const detail = `${bytes} bytes in ${Math.round(ms)} ms; at least ${minBytesPerSecond} are expected in a second`
      throw new LorekeepError('LK_HTTP_TIMEOUT', detail)
    }
    this.#bytesBefore = this.bytes
    this.#waitedMs = 0
  }
}

/** As it comes. */
function mostOf({ maxBytes, maxEncodedBytes = maxBytes }: BodyOptions): number {
  return maxEncodedBytes
}

export function unannounced({ content }: BodyOptions): LorekeepError {
  return new LorekeepError(
    'LK_HTTP_REQUEST',
    `no body was announced: neither Content-Length nor Transfer-Encoding ${wordings[content].unannounced}`,
  )
}

/** @param length how many bytes were announced, where it was said */
export function missing(length: string | undefined, bytes: number): LorekeepError {
  const announced =
    length === undefined ? 'a body was announced' : `a body of ${length} bytes was announced`
  return new LorekeepError(
    'LK_HTTP_REQUEST',
    `${announced}, and ${bytes} bytes came of it: it was cut, or what hands requests on has left it out (SvelteKit does without a Content-Type)`,
  )
}

export function tooLarge({ content, maxBytes }: BodyOptions): LorekeepError {
  const { tooLarge: code, limit } = wordings[content]
  return new LorekeepError(code, `more than ${maxBytes} bytes`, { details: { [limit]: maxBytes } })
}
