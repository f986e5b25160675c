import type { Lorekeep, LorekeepOptions } from './lorekeep-types.js'

export type { Lorekeep, LorekeepOptions, ToldError } from './lorekeep-types.js'

/**
 * Opens the stores over a backend, and deletes what a crash may have left half done.
 * @throws LorekeepError `LK_STORAGE_*`; the backend is closed then
 * @throws TypeError for options that cannot be
 */
export async function createLorekeep(options: LorekeepOptions): Promise<Lorekeep> {
  // Who imports lorekeep for an error or a type, or has not come to its data yet, pays for no store:
  // they are 1.8 MB of code, and packages.
  const { openLorekeep } = await import('./opening.js')
  return openLorekeep(options)
}
