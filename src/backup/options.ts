import type { Backend } from '../storage.js'
import { aFunction, aSignal, withMethods } from '../door/rules.js'

export const aBackend = withMethods<Backend>(
  "a backend, such as new LevelBackend('./data')",
  'open',
)

/** Of what a backup and a restore may be told. */
export const backupOptions = { signal: aSignal, onProgress: aFunction }
