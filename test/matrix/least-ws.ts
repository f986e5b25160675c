// With --import: every import of `ws` leads to the least version that lorekeep takes, as run.ts has installed it.

import { register } from 'node:module'
import type { ResolveHook } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

const least = pathToFileURL(join('node_modules', '.matrix', 'node_modules', 'ws', 'wrapper.mjs'))

// The thread of hooks loads this as well.
if (isMainThread) register(import.meta.url)

export const resolve: ResolveHook = (specifier, context, next) =>
  next(specifier === 'ws' ? least.href : specifier, context)
