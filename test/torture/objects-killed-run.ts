import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../fixtures/random.js'

/** What a program of this folder said before it was killed at some moment. */
export async function killedRun(
  program: string,
  args: readonly string[],
  random: Random,
): Promise<string[]> {
  const folder = import.meta.dirname
    .replace(/\/test\//, '/dist/test/')
    .replace('/dist/dist/', '/dist/')
  const child = spawn(process.execPath, [join(folder, program), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const reading = createInterface({ input: child.stdout })
  const started = once(reading, 'line')
  reading.on('line', (line) => lines.push(line))
  const closed = once(reading, 'close')
  const exited = once(child, 'exit')
  // The moment is counted from its first word on, so that a slow start is not all that is hit.
  await started
  await delay(random.chance(0.25) ? random.below(20) : random.below(400))
  child.kill('SIGKILL')
  const [, signal] = (await exited) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', `the child ended by itself after ${lines.slice(-5).join('\n')}`)
  await closed
  return lines
}
