// Answers that pages of other origins may read: the CORS protocol of the Fetch standard.

import { checkOptions } from '../door/options.js'
import { aCount, aFlag, aListOfTexts, aRule, optionsOf } from '../door/rules.js'
import type { Call } from './call.js'

export interface CorsOptions {
  /** Such as `https://app.example.com`, as browsers write them; `'*'`: every one. */
  readonly origins: readonly string[] | '*'
  /** Pages may send cookies, and whatever else the browser has by itself; of listed origins alone. Default false. */
  readonly credentials?: boolean
  /** Headers of requests beside those of lorekeep, such as one that holds a key. */
  readonly headers?: readonly string[]
  /** How long a browser need not ask again whether it may send a request. Default 600. */
  readonly maxAgeSeconds?: number
}

const anOrigin = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@,*]+$/i

/** Of each member. */
export const corsRules = {
  origins: aRule<CorsOptions['origins']>(
    "an array of origins such as 'https://app.example.com', or '*'",
    (origins) =>
      origins === '*' ||
      (Array.isArray(origins) &&
        origins.every((one) => typeof one === 'string' && anOrigin.test(one))),
  ),
  credentials: aFlag,
  headers: aListOfTexts,
  maxAgeSeconds: aCount(),
}

/** Among options. */
export const aCors = optionsOf<CorsOptions>(corsRules)

/** @throws TypeError */
export function checkCors(where: string, cors: CorsOptions): void {
  const { origins, credentials } = checkOptions(where, cors, corsRules, 'origins')
  if (origins !== '*' || credentials !== true) return
  throw new TypeError(`${where}.credentials are for origins that are listed, not for '*'`)
}

const requestHeaders = [
  'Accept',
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'If-Range',
  'If-Unmodified-Since',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Protocol-Version',
  'Mcp-Session-Id',
  'Range',
  'Traceparent',
  'Tracestate',
]

/** Beside those that every page may read. */
const responseHeaders = [
  'Accept-Ranges',
  'Content-Range',
  'ETag',
  'Location',
  'Lorekeep-Job',
  'Repr-Digest',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
]

export class Cors {
  readonly #origins: ReadonlySet<string> | '*'
  readonly #credentials: boolean
  readonly #headers: string
  readonly #maxAge: string

  constructor({ origins, credentials = false, headers = [], maxAgeSeconds = 600 }: CorsOptions) {
    this.#origins = origins === '*' ? origins : new Set(origins)
    this.#credentials = credentials
    this.#headers = [...requestHeaders, ...headers].join(', ')
    this.#maxAge = String(maxAgeSeconds)
  }

  /** Of every answer, errors too: a page that cannot read them knows nothing of what is wrong. */
  sign(call: Call): void {
    if (this.#origins !== '*') call.setHeader('Vary', 'Origin')
    if (!this.#isAllowed(call)) return
    const { origin = '' } = call.headers
    call.setHeader('Access-Control-Allow-Origin', this.#origins === '*' ? '*' : origin)
    if (this.#credentials) call.setHeader('Access-Control-Allow-Credentials', 'true')
    call.setHeader('Access-Control-Expose-Headers', responseHeaders.join(', '))
  }

  /** What a browser asks before it sends a request. */
  allow(call: Call, methods: string): void {
    const isPreflight = call.headers['access-control-request-method'] !== undefined
    if (!isPreflight || !this.#isAllowed(call)) return
    call.setHeader('Access-Control-Allow-Methods', methods)
    call.setHeader('Access-Control-Allow-Headers', this.#headers)
    call.setHeader('Access-Control-Max-Age', this.#maxAge)
  }

  #isAllowed({ headers: { origin } }: Call): boolean {
    return origin !== undefined && (this.#origins === '*' || this.#origins.has(origin))
  }
}
