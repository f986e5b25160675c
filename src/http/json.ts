// JSON bodies: an object, or a 400 that says where it is none.

import { isUtf8 } from 'node:buffer'
import { LorekeepError } from '../errors.js'
import { isRecord, shown } from '../door/wording.js'
import { parseJson } from '../json-text.js'
import type { JsonObject } from '../types.js'
import type { Call } from './call.js'
import { jsonError, locateFlaw } from './json-place.js'
import { countKeys, survey } from './json-scan.js'
import type { HeldBody } from './body-memory.js'
import type { Exchange } from './routes.js'

export interface JsonLimits {
  readonly maxJsonBytes: number
  readonly idleTimeoutMs: number
}

// More than any request of ours needs. Whatever walks a body by recursion may rely on it.
const maxDepth = 200
const firstBytes = 64 * 1024
/** A byte order mark, which JSON does without and some editors put there. */
const mark = Buffer.of(0xef, 0xbb, 0xbf)

/**
 * The body as an object, whose own members may have any name, `__proto__` too. Its Content-Type is not looked at, unless it is multipart: curl sends a
 * form's by default, and what is no JSON is refused as such. What express.json() left in `req.body`
 * is taken; what the text alone tells, such as a key that is there twice, is not known of it then.
 * @throws LorekeepError `LK_HTTP_JSON`, `LK_HTTP_TOO_LARGE`, and as openBody() and its body do
 */
export async function readJson(
  { call, memory }: Pick<Exchange, 'call' | 'memory'>,
  { maxJsonBytes, idleTimeoutMs }: JsonLimits,
): Promise<JsonObject> {
  const options = { content: 'json', maxBytes: maxJsonBytes, idleTimeoutMs } as const
  const type = call.headers['content-type'] ?? ''
  if (/^\s*multipart\//i.test(type)) {
    throw jsonError(`it is '${type}'; send the JSON itself as the body`)
  }
  const parsed = call.parsedBody(options)
  if (parsed !== undefined) {
    if (countKeys(parsed, maxDepth) === undefined) throw tooDeep()
    return objectOf(parsed)
  }
  return parseBody(await collect(call.openBody(options), mostOf(call, maxJsonBytes), memory))
}

/**
 * The object that JSON.parse makes of these bytes, once it is known that it lost nothing. Measured on 16 MiB,
 * an import of 79,000 objects: isUtf8 2 ms, survey 30 to 50, countKeys 30, beside JSON.parse's 90 to
 * 140; locateFlaw, which bodies without a flaw do not see, 300. Over the worst texts there are
 * (millions of `{}`, a million keys in one object) they take about as long as JSON.parse.
 * @throws LorekeepError `LK_HTTP_JSON`
 */
export function parseBody(body: Buffer): JsonObject {
  if (!isUtf8(body)) {
    const byteOffset = endOfUtf8(body)
    throw jsonError('not UTF-8', { byteOffset })
  }
  const start = body.subarray(0, mark.length).equals(mark) ? mark.length : 0
  if (body.byteLength === start) throw jsonError('it is empty')
  const { keys, tooDeepAt } = survey(body, start, maxDepth)
  if (tooDeepAt !== undefined) throw tooDeep(tooDeepAt)
  let value: unknown
  try {
    value = parseJson(body.toString('utf8', start))
  } catch (cause) {
    locateFlaw(body, start)
    throw new LorekeepError('LK_HTTP_JSON', undefined, { cause })
  }
  const object = objectOf(value)
  if (countKeys(object, maxDepth) !== keys) locateFlaw(body, start)
  return object
}

/**
 * A body in one piece. It copies: a client that sends single bytes would have each held as an object
 * of its own. What is announced is not believed before it comes.
 * @throws LorekeepError `LK_HTTP_BUSY`
 */
export async function collect(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  most: number,
  memory: HeldBody,
): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  let buffer = Buffer.alloc(0)
  let length = 0
  for await (const chunk of body) {
    const least = length + chunk.byteLength
    if (least > buffer.byteLength) {
      const ample = Math.min(Math.max(2 * buffer.byteLength, firstBytes), most)
      const size = Math.max(ample, least)
      memory.take(size - buffer.byteLength)
      const larger = Buffer.alloc(size)
      buffer.copy(larger, 0, 0, length)
      buffer = larger
    }
    buffer.set(chunk, length)
    length += chunk.byteLength
  }
  return buffer.subarray(0, length)
}

/** The most bytes that a body can have. */
export function mostOf({ headers }: Call, maxBytes: number): number {
  // Of what is encoded the length is another one.
  const isEncoded = headers['content-encoding'] !== undefined
  const announced = Number((isEncoded ? undefined : headers['content-length']) ?? maxBytes)
  // Requests that a framework makes up for its own tests may say anything.
  return announced <= maxBytes ? announced : maxBytes
}

function objectOf(value: unknown): JsonObject {
  if (isRecord(value)) return value as JsonObject
  throw jsonError(`must be an object, not ${shown(value)}`)
}

/** Where the longest beginning that is UTF-8 ends. */
function endOfUtf8(bytes: Buffer): number {
  let end = 0
  for (let beyond = bytes.byteLength; beyond - end > 8;) {
    let middle = (end + beyond) >> 1
    // To the first byte of a character. A fourth byte of the kind that follows is wrong anyway.
    for (let back = 0; back < 3 && isContinuation(bytes[middle]); back++) middle--
    if (isUtf8(bytes.subarray(end, middle))) end = middle
    else beyond = middle
  }
  for (;;) {
    const size = [1, 2, 3, 4].find((size) => isUtf8(bytes.subarray(end, end + size)))
    if (size === undefined) return end
    end += size
  }
}

function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80
}

function tooDeep(byteOffset?: number): LorekeepError {
  const place = byteOffset !== undefined && { byteOffset }
  return jsonError(`nested deeper than ${maxDepth} levels`, { ...place, maxDepth })
}
