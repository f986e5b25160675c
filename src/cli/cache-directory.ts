import { statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Where compiled code may lie: what is there is run, so it is in a directory of whoever runs this, and not among
 * temporary files, where others could have put it. Undefined where there is none, and where `NODE_COMPILE_CACHE` has
 * named one.
 */
export function cacheDirectory(
  { NODE_COMPILE_CACHE, XDG_CACHE_HOME, HOME, LOCALAPPDATA } = process.env,
  platform = process.platform,
): string | undefined {
  if (NODE_COMPILE_CACHE !== undefined) return undefined
  if (platform === 'win32') return LOCALAPPDATA && join(LOCALAPPDATA, 'lorekeep')
  const base = XDG_CACHE_HOME || HOME
  if (!base || !isOwn(base)) return undefined
  return join(base, ...(base === HOME ? ['.cache'] : []), 'lorekeep')
}

/** Of `su` and `sudo` it may be somebody else's, which may not even be looked at. */
function isOwn(directory: string): boolean {
  try {
    return statSync(directory).uid === process.getuid?.()
  } catch {
    return false
  }
}
