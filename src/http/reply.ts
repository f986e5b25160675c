// Short answers.

import type { OutgoingHttpHeaders } from 'node:http'
import type { Call } from './call.js'

/** Answers with these bytes, or with no body at all. */
export async function answer(
  call: Call,
  status: number,
  headers: OutgoingHttpHeaders = {},
  body?: Uint8Array,
): Promise<void> {
  // Whoever asked has gone.
  if (call.hasGone) return
  await call.answer(status, headers, call.method === 'HEAD' ? undefined : body)
}

/** JSON that no cache may keep; `Content-Type` may be overridden. */
export async function answerJson(
  call: Call,
  status: number,
  value: unknown,
  headers: OutgoingHttpHeaders = {},
): Promise<void> {
  await answerJsonText(call, status, JSON.stringify(value), headers)
}

/** answerJson() of JSON that was made before. */
export async function answerJsonText(
  call: Call,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): Promise<void> {
  const body = Buffer.from(text)
  const ofJson = {
    'Content-Type': 'application/json',
    'Content-Length': body.byteLength,
    'Cache-Control': 'no-store',
  }
  await answer(call, status, { ...ofJson, ...headers }, body)
}
