// The door to what verifies all stores, which is loaded when somebody asks for it: an opening need not read that.

import { checkOptions } from './door/options.js'
import { aFlag, aFunction, aSignal } from './door/rules.js'
import type { Sources } from './verifiers.js'
import type { Finding, VerifyOptions } from './verify/finding.js'
import { Report } from './verify/report.js'

const verifyOptions = { deep: aFlag, signal: aSignal, onProgress: aFunction }

/** @throws TypeError */
export function checkVerifyOptions(options: VerifyOptions): void {
  checkOptions('verify()', options, verifyOptions)
}

/**
 * `open` is called at the first step.
 * @throws TypeError for options that cannot be, at the call
 */
export function verifyStores(
  open: () => Sources | Promise<Sources>,
  options: VerifyOptions = {},
): AsyncGenerator<Finding, void, undefined> {
  checkVerifyOptions(options)
  const { deep = false, signal, onProgress } = options
  return verifyWith(open, new Report({ deep, signal, onProgress }))
}

async function* verifyWith(
  open: () => Sources | Promise<Sources>,
  report: Report,
): AsyncGenerator<Finding, void, undefined> {
  const { verifyAll } = await import('./verifiers.js')
  yield* verifyAll(open, report)
}
