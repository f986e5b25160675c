// What a server says on stderr while it runs: what went wrong; and on request a line for each request that was
// answered, and for each piece of work in the background. Never a token, a text, or a path, which may have names in it.

import { LorekeepError } from '../../../errors.js'
import { followOperations, type Operation } from '../../../tracing.js'
import { describe, isDebugging, note, noteError } from '../../output/failure.js'
import { printable } from '../../output/figures.js'

/** A JSON object a line; or text for people. */
export type LogFormat = 'json' | 'text'

export interface ServerLog {
  /** Something that happens once. */
  note(event: string, message: string): void
  /** `count`: how many such there were since the last time. */
  error(where: string, error: unknown, count: number): void
  close(): void
}

/** Says what went wrong, and no more. */
export const quietLog: ServerLog = {
  note: (_, message) => note(message),
  error: noteError,
  close: () => {},
}

/** Of steps only what failed: what went well is part of a `flows.process`. */
const told = ['http.request', 'flows.process', 'flows.step', 'index.make', 'index.merge'] as const

type Fields = Readonly<Record<string, unknown>>

/** Tells of all that happens in this process, by what it tells on node:diagnostics_channel. */
export class EventLog implements ServerLog {
  readonly #format: LogFormat
  readonly #write: (line: string) => void
  readonly close: () => void

  constructor(format: LogFormat, write = (line: string): unknown => process.stderr.write(line)) {
    this.#format = format
    this.#write = write
    this.close = followOperations(told, (operation, ms) => this.#ended(operation, ms))
  }

  note(event: string, message: string): void {
    this.#line(event, { message })
  }

  error(where: string, error: unknown, count: number): void {
    const code = error instanceof LorekeepError ? { code: error.code } : {}
    this.#line('error', { where, ...code, message: describe(error), ...(count > 1 && { count }) })
    if (isDebugging()) console.error(error)
  }

  #ended(told: Operation, took: number): void {
    const { operation: event, carrier: _, around: __, error, ...fields } = told
    if (error === undefined && event === 'flows.step') return
    const ms = Math.round(took * 10) / 10
    this.#line(event, { ...fields, ...(error !== undefined && { error: nameOf(error) }), ms })
  }

  #line(event: string, fields: Fields): void {
    const time = new Date().toISOString()
    const line =
      this.#format === 'json'
        ? printable(JSON.stringify({ time, event, ...fields }))
        : `${time} ${event === 'http.request' ? requestText(fields) : `${event}${textOf(fields)}`}`
    this.#write(`${line}\n`)
  }
}

/** What is thrown may quote what was wrong. */
function nameOf(error: unknown): string {
  if (error instanceof LorekeepError) return error.code
  return error instanceof Error ? error.name : 'error'
}

/** 200 GET /api/v1/cores/{id} 3.2 ms Xb1… */
function requestText({ status, method, route = 'unknown path', ms, requestId }: Fields): string {
  const id = requestId === undefined ? '' : ` ${String(requestId)}`
  return `${String(status)} ${String(method)} ${String(route)} ${String(ms)} ms${id}`
}

function textOf({ message, ms, ...fields }: Fields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${shown(String(value))}`)
  const time = ms === undefined ? '' : ` ${String(ms)} ms`
  return `${pairs.join('')}${time}${message === undefined ? '' : `: ${printable(String(message))}`}`
}

function shown(value: string): string {
  return /^[^\s"=]+$/.test(value) ? printable(value) : JSON.stringify(printable(value))
}
