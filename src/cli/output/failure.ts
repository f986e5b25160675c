// How the command ends when it does not end well: kinds of failures, exit codes, and their words.

import { CommanderError } from 'commander'
import { hasCode, isDiskFull, LorekeepError } from '../../errors.js'
import { connectionErrorIn, isServerError } from './connection-error.js'
import { printable } from './figures.js'
import { serverMessage } from './server-message.js'

/** Something is wrong with the command line, beyond what commander finds by itself. */
export class UsageError extends Error {}

/** The reason of an AbortSignal: somebody pressed Ctrl-C. */
export class Interrupted extends Error {
  readonly exitCode: number

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('interrupted')
    this.exitCode = exitCodes[signal]
  }
}

/** What ended the work before its end is the cause; the message says how far it got, too. */
export class CutShort extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
  }
}

/** Whoever read our stdout has enough: `lorekeep export … | head -c 100`. */
export class ReaderLeft extends Error {}

export const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

export function exitCodeOf(error: unknown): number {
  // Help and the version that were asked for come as errors with the exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) return 2
  if (error instanceof CutShort) return exitCodeOf(error.cause)
  if (error instanceof Interrupted) return error.exitCode
  if (error instanceof ReaderLeft) return 0
  return 1
}

/** One line on stderr. */
export function note(message: string): void {
  process.stderr.write(`lorekeep: ${printable(message)}\n`)
}

/** An error that ends nothing here; `count`: how many such there were since the last line of it. */
export function noteError(where: string, error: unknown, count: number): void {
  const others = count > 1 ? ` (the last of ${count} such errors)` : ''
  // By its code it is found in the docs.
  const code = error instanceof LorekeepError ? `${error.code}: ` : ''
  note(`${where}: ${code}${describe(error)}${others}`)
  if (isDebugging()) console.error(error)
}

/** What happened, in one line. Errors of the network come with an empty message in Node 20. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const broken = connectionErrorIn(error)
  if (broken !== undefined) return broken.message
  if (isServerError(error)) return serverMessage(error)
  const { code } = error as { code?: unknown }
  const text = error.message || (typeof code === 'string' ? code : error.name)
  const advice = adviceOf(error)
  return advice === undefined ? text : `${text}: ${advice}`
}

/** What to do where the storage passes on what it met as it is. */
function adviceOf(error: Error): string | undefined {
  // An adapter knows the key alone.
  if (hasCode(error, 'LK_STORAGE_CORRUPT') && 'key' in error.details) {
    return "'lorekeep verify' tells what it belongs to, and what else is damaged"
  }
  if (!hasCode(error, 'LK_STORAGE_FAILED')) return undefined
  if (isDiskFull(error)) return 'make room on its file system, then try again'
  switch ((error.cause as NodeJS.ErrnoException | undefined)?.code) {
    case 'EROFS':
      return 'a store has to be written to, also where it is only read: mount it for writing, or copy it'
    case 'EACCES':
    case 'EPERM':
      return 'change the permissions of its directory, or be its owner'
    default:
      return undefined
  }
}

/** What the system says of a file, with what to do about it. Other errors stay what they are. */
export function fileError(error: unknown, path: string, access: 'read' | 'write'): unknown {
  const reason = reasonOf((error as NodeJS.ErrnoException | undefined)?.code, path, access)
  return reason === undefined ? error : new Error(reason, { cause: error })
}

function reasonOf(code: unknown, path: string, access: 'read' | 'write'): string | undefined {
  switch (code) {
    case 'ENOENT':
      return access === 'read'
        ? `there is no '${path}'`
        : `the directory of '${path}' is not there: make it first, or name another`
    case 'EISDIR':
      return `'${path}' is a directory: name a file`
    case 'ENOTDIR':
      return `'${path}' is a file, or leads through one, where a directory has to be: name another`
    case 'EACCES':
    case 'EPERM':
      return access === 'read'
        ? `'${path}' may not be read by this user: change its permissions, or be its owner`
        : `'${path}' may not be written by this user: change the permissions of it and its directory, or name another`
    case 'EROFS':
      return `'${path}' is on a file system that is read-only: name another`
    case 'ENOSPC':
    case 'EDQUOT':
      return `no space is left for '${path}': make room, or name another`
    default:
      return undefined
  }
}

export function isDebugging(): boolean {
  const { LOREKEEP_DEBUG: variable } = process.env
  return process.argv.includes('--debug') || (variable !== undefined && variable !== '')
}

/**
 * Runs work that Ctrl-C or a SIGTERM aborts, with Interrupted as the signal's reason. The second
 * one ends the process where it stands.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
    if (controller.signal.aborted) process.exit(exitCodes[signal])
    controller.abort(new Interrupted(signal))
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}
