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
  const child = spawn(process.execPath, [join('dist/test/torture', program), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const reading = createInterface({ input: child.stdout })
  const closed = once(reading, 'close')
  const exited = once(child, 'exit')
  // The moment is counted from 'opening' or from 'open', its first two lines, so that neither a
  // slow start nor a slow opening is all that is hit.
  const awaited = random.chance(1 / 3) ? 1 : 2
  const started = new Promise<void>((resolve) => {
    reading.on('line', (line) => {
      if (lines.push(line) === awaited) resolve()
    })
  })
  await Promise.race([started, exited])
  await delay(random.chance(0.25) ? random.below(20) : random.below(400))
  child.kill('SIGKILL')
  const [, signal] = (await exited) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', `the child ended by itself after ${lines.slice(-5).join('\n')}`)
  await closed
  return lines
}
