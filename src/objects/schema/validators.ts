// Validators by ajv. It is loaded before the first object is checked: that takes 40 ms, of which who opens a
// store and asks has nothing.

import type * as Validators from './validator.js'

let loaded: typeof Validators | undefined
let loading: Promise<void> | undefined

/** Undefined where there is nothing to wait for any more. */
export function loadValidators(): Promise<void> | undefined {
  if (loaded !== undefined) return undefined
  loading ??= import('./validator.js').then((module) => void (loaded = module))
  return loading
}

/** Behind loadValidators(). */
export const compileValidator: typeof Validators.compileValidator = (fields, options) => {
  if (loaded === undefined) throw new Error('loadValidators() was not waited for')
  return loaded.compileValidator(fields, options)
}
