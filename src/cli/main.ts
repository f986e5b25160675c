#!/usr/bin/env node
// Node 22.1 and later keep what they have compiled, where they are asked to: a run takes a sixth less of the processor.

import module from 'node:module'
import { cacheDirectory } from './cache-directory.js'

/** Of later versions. */
interface Caching {
  readonly enableCompileCache?: (directory: string) => unknown
}

const directory = cacheDirectory()
if (directory !== undefined) (module as Caching).enableCompileCache?.(directory)
await import('./run.js')
