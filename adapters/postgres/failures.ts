// PostgreSQL's errors in our words, the original kept as `cause`.

import { LorekeepError } from '../../src/errors.js'

// Classes and codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const lostCodes: ReadonlySet<string> = new Set([
  // The server ends the session, or begins and takes none yet.
  ...['57P01', '57P02', '57P03', '57P05'],
  // It is a standby now.
  '25006',
  // It has no connection to give; one may be free soon.
  '53300',
])

/** The connection is of no use any more: another one has to be made. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** By what the driver says: to ask again changes nothing, and what it says does not say what to do. */
const wrongSettings = [
  {
    told: /^SASL: .*client password must be/,
    detail:
      'the server asks for a password and none is given: set PGPASSWORD, or put one into the URL',
  },
  {
    told: /^The server does not support SSL connections/,
    detail:
      'the server takes no TLS, and sslmode (or ssl) asks for it: leave that out, or set ssl = on at the server',
  },
]

/** The error to throw for one of the driver's while it connects. */
export function connectFailure(error: unknown): unknown {
  if (isTold(error)) return error
  const message = error instanceof Error ? error.message : ''
  const wrong = wrongSettings.find(({ told }) => told.test(message))
  return wrong === undefined ? asLost(error) : new Error(wrong.detail, { cause: error })
}

/** What is no word of the server's: it could not be asked, or its answer did not come. */
export function asLost(error: unknown): ConnectionLost {
  if (error instanceof ConnectionLost) return error
  const message = error instanceof Error ? error.message : String(error)
  // Several addresses of one host that all refuse: no text of its own.
  return new ConnectionLost(message === '' ? codeOf(error) : message, { cause: error })
}

/** Whether it is the server's word, which has a severity and a code (`SQLSTATE`). */
export function isTold(error: unknown): boolean {
  return (error as { severity?: unknown }).severity !== undefined && codeOf(error) !== ''
}

/** Whether it is the connection that failed. What was under way may have happened, or not. */
export function isLost(error: unknown): boolean {
  if (error instanceof ConnectionLost) return true
  const code = codeOf(error)
  return lostCodes.has(code) || code.startsWith('08')
}

/** Whether the transaction was undone because of another one, and may be asked for again. */
export function isUndone(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error))
}

export function translate(error: unknown): LorekeepError {
  if (error instanceof LorekeepError) return error
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  return new LorekeepError(kindOf(error, code), `PostgreSQL: ${message}`, {
    cause: error,
    ...(code !== '' && { details: { code } }),
  })
}

function kindOf(error: unknown, code: string) {
  if (isLost(error) || isUndone(error)) return 'LK_STORAGE_UNAVAILABLE'
  if (code === 'XX001' || code === 'XX002') return 'LK_STORAGE_CORRUPT'
  // Resources (a full disk), an operator or a limit of time.
  return code.startsWith('53') || code === '57014' || code === '55P03'
    ? 'LK_STORAGE_UNAVAILABLE'
    : 'LK_STORAGE_FAILED'
}

function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] }
  if (typeof code === 'string') return code
  return errors?.[0] === undefined ? '' : codeOf(errors[0])
}
