// Data on stdout, at the pace of whoever reads it.

import { ReaderLeft, UsageError } from './failure.js'
import { printable } from './figures.js'

/** @throws ReaderLeft where nobody reads any more */
export async function writeOut(data: Uint8Array | string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(data, (error) => {
      if (!error) resolve()
      else reject((error as NodeJS.ErrnoException).code === 'EPIPE' ? new ReaderLeft() : error)
    })
  })
}

export async function writeJson(value: unknown, indent?: number): Promise<void> {
  await writeOut(`${jsonText(value, indent)}\n`)
}

/** On a terminal names and texts move no cursor: the escapes are those of JSON. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  return process.stdout.isTTY ? text.split('\n').map(printable).join('\n') : text
}

/** Of a change, which goes on where nobody reads of it any more, and whose failure is what is told. */
export async function unlessLeft(told: Promise<void>): Promise<void> {
  try {
    await told
  } catch (error) {
    if (!(error instanceof ReaderLeft)) throw error
  }
}

/** @throws UsageError where stdout is a terminal, which binary data may leave unusable */
export function refuseTerminal(advice: string, what = 'a core'): void {
  if (process.stdout.isTTY) {
    throw new UsageError(`${what} is binary and does not go to a terminal; ${advice}`)
  }
}
