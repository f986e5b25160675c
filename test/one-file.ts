// Runs the test file that it is given as that would run alone, but without the hook by which `tap` tells which test an
// error is of that nobody caught: it sees the beginning and the end of each promise, which took half of the processor
// time of tests that await much. Such an error is one of the file instead, which fails as well.

import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const { createHook } = hooks
hooks.createHook = (callbacks) => {
  const isOfTap = new Error().stack?.includes('/async-hook-domain/') === true
  return createHook(isOfTap ? {} : callbacks)
}
syncBuiltinESMExports()

// What reads its own name finds that of the file.
process.argv.splice(1, 1)
await import(pathToFileURL(resolve(process.argv[1]!)).href)
