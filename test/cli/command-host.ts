// A process that runs commands one after the other, as main.ts runs its one: starting Node and
// loading everything takes longer than most commands take.

import { Readable } from 'node:stream'
import { exitCodeOf } from '../../src/cli/output/failure.js'
import { report } from '../../src/cli/output/report.js'
import { createProgram } from '../../src/cli/program/program.js'
import type { HostedOutcome, HostedRun } from './command.js'

const home = process.cwd()
const chunkBytes = 64 * 1024
let last: Promise<void> = Promise.resolve()

// That of whoever runs the tests; the commands have none.
Object.defineProperty(process.stderr, 'isTTY', { value: false })

process.on('message', (run: HostedRun) => {
  last = last.then(async () => void process.send?.(await outcomeOf(run)))
})
process.on('disconnect', () => process.exit())

async function outcomeOf({ args, cwd, input }: HostedRun): Promise<HostedOutcome> {
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)]
  process.argv.splice(2, Infinity, ...args)
  process.chdir(cwd ?? home)
  Object.defineProperty(process, 'stdin', {
    value: Readable.from(chunksOf(input), { objectMode: false }),
    configurable: true,
  })
  let code = 0
  try {
    await createProgram().parseAsync()
  } catch (error) {
    report(error)
    code = exitCodeOf(error)
  }
  return { code, stdout: stdout.end(), stderr: stderr.end() }
}

function* chunksOf(input: Uint8Array): Generator<Buffer, void, undefined> {
  for (let from = 0; from < input.length; from += chunkBytes) {
    yield Buffer.from(input.subarray(from, from + chunkBytes))
  }
}

function capture(stream: NodeJS.WriteStream): { end(): Buffer } {
  const { write } = stream
  const chunks: Buffer[] = []
  stream.write = (data: Uint8Array | string, ...rest: unknown[]) => {
    chunks.push(Buffer.from(data as Uint8Array))
    const done = rest.at(-1)
    if (typeof done === 'function') setImmediate(() => (done as () => void)())
    return true
  }
  return {
    end() {
      stream.write = write
      return Buffer.concat(chunks)
    },
  }
}
