import { exitCodeOf } from './output/failure.js'
import { report } from './output/report.js'
import { createProgram } from './program/program.js'

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
