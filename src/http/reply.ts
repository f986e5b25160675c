// Short answers.

import type { OutgoingHttpHeaders } from 'node:http'
import type { Body, Call } from './call.js'

/** Answers with these bytes, or this text, or with no body at all. */
export async function answer(
  call: Call,
  status: number,
  headers: OutgoingHttpHeaders = {},
  body?: Body,
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

/**
 * answerJson() of JSON that was made before. As a text, which Node writes behind the head in one piece: bytes made of it
 * before were another piece, and took 5 % of an answer of 400 bytes, and 10 of one of 40,000.
 */
export async function answerJsonText(
  call: Call,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): Promise<void> {
  const ofJson = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
  }
  await answer(call, status, { ...ofJson, ...headers }, text)
}
