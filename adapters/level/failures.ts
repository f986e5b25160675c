// LevelDB's errors in our words, the original kept as `cause`.

import { LorekeepError } from '../../src/errors.js'

export function translate(error: unknown, path: string): LorekeepError {
  if (error instanceof LorekeepError) return error
  // A failed open arrives wrapped: LEVEL_DATABASE_NOT_OPEN around the reason.
  const reason = (error as { cause?: unknown }).cause ?? error
  const { code, message } = reason as { code?: unknown; message?: unknown }
  if (code === 'LEVEL_LOCKED') return locked(path, { cause: error })
  return new LorekeepError(
    code === 'LEVEL_CORRUPTION' ? 'LK_STORAGE_CORRUPT' : 'LK_STORAGE_FAILED',
    `${path}: ${String(message)}`,
    { cause: error },
  )
}

export function locked(
  path: string,
  { who = 'another process, or another backend in this one,', cause }: Owner = {},
): LorekeepError {
  return new LorekeepError('LK_STORAGE_LOCKED', `${who} has ${path} open`, {
    details: { path },
    ...(cause !== undefined && { cause }),
  })
}

interface Owner {
  readonly who?: string
  readonly cause?: unknown
}
