// What stderr gets of an error: a line, or with --json an object. What is wrong with an input is told
// one by one.

import { CommanderError } from 'commander'
import { Problems } from '../../door/problems.js'
import type { Problem } from '../../door/problems.js'
import { LorekeepError } from '../../errors.js'
import { connectionErrorIn, isServerError } from './connection-error.js'
import { describe, Interrupted, isDebugging, note, ReaderLeft, UsageError } from './failure.js'
import { printable } from './figures.js'

interface ReportedError {
  /** Of docs/errors.md, of the system (`ENOENT`), or USAGE, INTERRUPTED and FAILED. */
  readonly code: string
  readonly message: string
  /** What is wrong with an input, as far as it is told one by one. */
  readonly errors?: readonly Entry[]
  readonly errorsOmitted?: number
  /** Whatever else is known: places, limits, names. */
  readonly details?: Readonly<Record<string, unknown>>
}

type Entry = Readonly<Record<string, unknown>>

export function report(error: unknown): void {
  // Commander has said it already.
  if (error instanceof CommanderError || error instanceof ReaderLeft) return
  if (wantsJson()) process.stderr.write(jsonOf(toldError(error)))
  else {
    const [first = '', ...more] = toldLines(error)
    note(first)
    for (const line of more) process.stderr.write(`${printable(line)}\n`)
  }
  if (isDebugging() && error instanceof Error) console.error(error)
}

/** What commander says of a command line. */
export function usageReport(text: string): string {
  const message = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
  return wantsJson() ? jsonOf({ code: 'USAGE', message }) : `lorekeep: ${message}\n`
}

function wantsJson(): boolean {
  const [, , ...args] = process.argv
  const end = args.indexOf('--')
  return (end === -1 ? args : args.slice(0, end)).includes('--json')
}

function jsonOf(error: ReportedError): string {
  return `${printable(JSON.stringify({ error }))}\n`
}

export function toldError(error: unknown): ReportedError {
  const known = originOf(error)
  const { errors, errorsOmitted, ...details } = known === undefined ? {} : membersOf(known)
  return {
    code: known?.code ?? codeOf(error),
    message: describe(error),
    ...(Array.isArray(errors) && { errors: errors as Entry[] }),
    ...(typeof errorsOmitted === 'number' && { errorsOmitted }),
    ...(Object.keys(details).length > 0 && { details }),
  }
}

/** One line; where several things are wrong, one for each below it. */
export function toldLines(error: unknown): readonly string[] {
  const { message, errors = [], errorsOmitted = 0 } = toldError(error)
  if (errors.length < 2) return [message]
  const problems = new Problems()
  problems.addAll({ errors, errorsOmitted })
  // The message has the first of them in one sentence, where that is how they are told.
  const sentence = problems.sentence()
  const at = message.indexOf(sentence)
  const head =
    at === -1
      ? message
      : message.slice(0, at).replace(/:? $/, '') + message.slice(at + sentence.length)
  const more = errorsOmitted > 0 ? [`  and ${errorsOmitted} more`] : []
  return [`${head}:`, ...errors.map((entry) => `  ${worded(entry)}`), ...more]
}

/** Where an entry says more than a path, that comes first: which object of a batch, of which collection. */
function worded({ collection, index, id, path, message }: Partial<Entry & Problem>): string {
  const place = [collection, index === undefined ? index : `[${String(index)}]`, id, path]
  const named = place.filter((part) => part !== undefined && part !== '')
  return [...named, message].join(' ')
}

/** The error with a code that this one passes on. */
function originOf(error: unknown): LorekeepError | undefined {
  if (connectionErrorIn(error) !== undefined) return undefined
  if (error instanceof LorekeepError) return error
  return error instanceof Error && error.cause !== undefined ? originOf(error.cause) : undefined
}

function membersOf(error: LorekeepError): Readonly<Record<string, unknown>> {
  if (!isServerError(error)) return error.details
  const { requestId, message, details } = error
  // What is said already: an answer has a list of problems in any case.
  const { errors, ...rest } = details
  const [first, second] = Array.isArray(errors) ? (errors as Partial<Problem>[]) : []
  const isOwnMessage = second === undefined && first?.message === message
  return { ...(isOwnMessage ? rest : details), requestId }
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof CommanderError) return 'USAGE'
  if (error instanceof Interrupted) return 'INTERRUPTED'
  if (!(error instanceof Error)) return 'FAILED'
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return code
  return error.cause === undefined ? 'FAILED' : codeOf(error.cause)
}
