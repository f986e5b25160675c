#!/usr/bin/env node
import module from 'node:module'
import { cacheDirectory } from './cache-directory.js'
import { exitCodeOf } from './output/failure.js'
import { report } from './output/report.js'
import { createProgram } from './program/program.js'

/** Of Node 22.1 and later. */
interface Caching {
  readonly enableCompileCache?: (directory: string) => unknown
}

// Of what the commands are made of, which is loaded behind this: a sixth of a run is compiling it.
const directory = cacheDirectory()
if (directory !== undefined) (module as Caching).enableCompileCache?.(directory)

// Whoever reads them may leave early: writeOut() tells for stdout, and nobody needs to know it of
// stderr. Without listeners the process would die of it.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

try {
  await createProgram().parseAsync()
} catch (error) {
  report(error)
  process.exitCode = exitCodeOf(error)
}
