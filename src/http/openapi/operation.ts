// What the document says of a route beside its method, its path and its query, which the route has.

import type { ErrorCode } from '../../errors.js'
import type { JsonValue } from '../../types.js'
import type { Schema } from './schema.js'

export interface Operation {
  readonly tag: Tag
  /** A few words. */
  readonly summary: string
  readonly description?: string
  /** Of the request. */
  readonly headers?: readonly RequestHeader[]
  readonly body?: Body
  readonly answers: Readonly<Record<number, Answer>>
  /** Beside those that any route may answer with. */
  readonly errors?: readonly ErrorCode[]
  /** A request that a test makes, and what it is answered. */
  readonly example: Example
}

/** A test makes these requests of a server, one after the other, and compares the answers. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Of the body. */
  readonly type?: string
  readonly body?: JsonValue
  /** The media type that is asked for; JSON by default. */
  readonly accept?: string
  readonly status: number
  readonly answer?: JsonValue
}

export type Tag =
  'cores' | 'graph' | 'sparql' | 'objects' | 'flows' | 'reference system' | 'service'

export interface Body {
  readonly content: Content
  /** Without a body it is what no body says. */
  readonly optional?: true
}

/** By media types. */
export type Content = Readonly<Record<string, Media>>

export interface Media {
  readonly schema: Schema
  /** What each line is, or the data of each event: as JSON Schema has it of content in a text. */
  readonly each?: Schema
}

export interface Answer {
  readonly description: string
  /** Beside those of every answer. One whose name ends with `?` may be left out. */
  readonly headers?: readonly ResponseHeader[]
  readonly content?: Content
  /** The host may have told the server to answer without a body. */
  readonly mayBeEmpty?: true
}

export const requestHeaders = {
  'Accept-Encoding': 'In which of `zstd`, `br` and `gzip` an answer may be.',
  'Content-Encoding': 'What the body is encoded in: `zstd`, `br`, `gzip` or `deflate`.',
  Range: 'One range of bytes of the core.',
  'If-Range': 'All of it where this tag is not its own.',
  'If-Match': 'A 412 where it has none of these tags.',
  'If-None-Match': 'A 412, or a 304 of what is read, where it has one of these tags.',
  'If-Modified-Since': 'A 304 where it was not changed after this.',
  'If-Unmodified-Since': 'A 412 where it was changed after this.',
}

export type RequestHeader = keyof typeof requestHeaders

export const responseHeaders = {
  'X-Request-Id': 'Names the request; `onError` of the host is told the same.',
  'X-Content-Type-Options': '`nosniff`.',
  'Access-Control-Allow-Origin': 'The page that may read it, where the server has `cors`.',
  'Access-Control-Allow-Credentials': 'Whether it may be sent cookies.',
  'Access-Control-Expose-Headers': 'What the page may read of the head.',
  'Cache-Control': 'Whether it may be kept.',
  'WWW-Authenticate': 'How to say who one is.',
  'Retry-After': 'Seconds until it is worth to ask again.',
  'Accept-Encoding': 'The encodings that a body may have.',
  'Content-Encoding': 'What the body is encoded in.',
  'Accept-Ranges': 'Whether parts can be asked for.',
  'Content-Range': 'Which bytes, and of how many.',
  'Repr-Digest': 'SHA-256 of the core (RFC 9530), where it has one segment.',
  'X-Accel-Buffering': '`no`, for proxies.',
  'Lorekeep-Job': 'The id of the job.',
  'Content-Security-Policy': 'What the page may load.',
  'Referrer-Policy': '`no-referrer`.',
  ETag: 'Names the version, and what tells this answer from others of it.',
  'Last-Modified': 'When it was changed.',
  Location: 'The job, relative to this path.',
  Vary: 'The headers by which it may be another one.',
}

type Name = keyof typeof responseHeaders
export type ResponseHeader = Name | `${Name}?`

export function json(name: Schema): Content {
  return { 'application/json': { schema: name } }
}

/** An answer in JSON. */
export function ok(description: string, schema: Schema): Answer {
  return { description, headers: ['Cache-Control'], content: json(schema) }
}

export const noContent = { 204: { description: 'It is done.' } }
