// A request and the way its answer goes, whichever server it came by: routes know no other. node/ has
// that of node:http, and fetch/ that of the Fetch standard.

import type { OutgoingHttpHeaders } from 'node:http'

/** How long a reader may take nothing of an answer, where nobody says. */
export const readerIdleMs = 120_000

/** Of an answer as a whole. A text is UTF-8 on the wire. */
export type Body = string | Uint8Array

export interface Call {
  readonly method: string
  /** As the routes spell it, percent-encoded. */
  readonly path: string
  /** What follows the question mark, percent-encoded; empty where there is nothing. */
  readonly queryText: string
  /** By names in small letters; what came several times is joined with commas. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> & KnownHeaders
  /** True while the client has more to send. */
  readonly isBodyPending: boolean
  /** Whoever asked is gone, before the end of the answer. */
  readonly hasGone: boolean
  /** The head of the answer is on its way. */
  readonly hasBegun: boolean
  /** Of the answer that has begun; 0 before. */
  readonly status: number

  /** Called once, when whoever asked has gone before the end of the answer. Returns what ends that. */
  onGone(listener: () => void): () => void

  /**
   * The body: the bytes that were read before, or the stream, pulled chunk by chunk. Nothing is read
   * before the first pull. No bytes are a body only where the request announced one: who forgot it must
   * not replace a core by nothing.
   * @throws LorekeepError at once `LK_CORE_TOO_LARGE` or `LK_HTTP_TOO_LARGE`, `LK_HTTP_BODY_CONSUMED`,
   * `LK_HTTP_ENCODING`, `LK_HTTP_REQUEST`; while iterating too large, `LK_HTTP_REQUEST`,
   * `LK_HTTP_TIMEOUT`, or what isDisconnect() tells
   */
  openBody(options: BodyOptions): Uint8Array | AsyncIterable<Uint8Array>

  /**
   * What a parser before us made of the body, where it made an object of it. `undefined` where
   * openBody() has to be asked.
   * @throws LorekeepError too large
   */
  parsedBody(options: BodyOptions): object | undefined

  /** Of whatever answer there will be. `Vary` says more each time. */
  setHeader(name: string, value: string): void

  /** Answers with these bytes, or this text, or with no body at all. */
  answer(status: number, headers: OutgoingHttpHeaders, body?: Body): Promise<void>

  /** Sends the head of an answer whose body follows. */
  begin(status: number, headers: OutgoingHttpHeaders): Sink

  /** Cuts the answer, so that it does not look whole; nothing where it has ended. */
  cut(): void
}

export interface BodyOptions {
  readonly content: 'core' | 'json' | 'query' | 'file'
  readonly maxBytes: number
  /** What may come for it where it is encoded. */
  readonly maxEncodedBytes?: number
  readonly idleTimeoutMs: number
}

export interface Sink {
  /** False where drained() is to be awaited before the next one. */
  write(chunk: string | Uint8Array): boolean
  /** Sends the head now, and not with the first bytes. */
  flush(): void
  /** The reader is behind. */
  readonly isFull: boolean
  /**
   * Resolves when the answer takes more, or the reader is gone.
   * @throws LorekeepError `LK_HTTP_TIMEOUT` where nothing was read for so long
   */
  drained(idleTimeoutMs: number): Promise<void>
  /** Ends the answer; resolves as drained() when all of it has left, and throws as that. */
  end(idleTimeoutMs: number): Promise<void>
}

/** Those that come once. */
interface KnownHeaders {
  readonly accept?: string | undefined
  readonly authorization?: string | undefined
  readonly 'content-encoding'?: string | undefined
  readonly 'content-length'?: string | undefined
  readonly 'content-type'?: string | undefined
  readonly 'accept-encoding'?: string | undefined
  readonly 'if-match'?: string | undefined
  readonly 'if-modified-since'?: string | undefined
  readonly 'if-none-match'?: string | undefined
  readonly 'if-range'?: string | undefined
  readonly 'if-unmodified-since'?: string | undefined
  readonly origin?: string | undefined
  readonly range?: string | undefined
  readonly 'transfer-encoding'?: string | undefined
}
