// A test file, compiled, in a plain process of Node.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export interface TestRun {
  /** Whether it ended by itself, with every test that it planned passed. */
  readonly ok: boolean
  readonly tap: string
  readonly seconds: number
}

interface TestRunOptions {
  /** A checkout, with what was built of it. */
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly timeoutMs?: number
  /** Without what it says on stderr. */
  readonly quiet?: boolean
}

const oneFile = fileURLToPath(new URL('one-file.js', import.meta.url))

/** From the sources: what an older build left in dist does not run. */
export function testFiles(): readonly string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file.replaceAll('\\', '/')}`)
    .sort()
}

export async function runTestFile(file: string, options: TestRunOptions = {}): Promise<TestRun> {
  // The second limit is for one that does not get to its timers.
  const { cwd = process.cwd(), env = {}, timeoutMs = 320_000, quiet = false } = options
  const started = performance.now()
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', oneFile, `dist/${file.replace(/ts$/, 'js')}`],
    {
      cwd,
      stdio: ['ignore', 'pipe', quiet ? 'ignore' : 'inherit'],
      // As in .taprc, which `tap` alone reads.
      env: { ...process.env, TAP_TIMEOUT: '300', TAP_SAVE_FIXTURE: '1', ...env },
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    },
  )
  const [[code], tap] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
  ])
  // A file that ends early, with whatever code, has not said how many tests it had, or has left one of them.
  const ok = code === 0 && /^1\.\.\d+/m.test(tap) && !/^ *not ok/m.test(tap)
  return { ok, tap, seconds: (performance.now() - started) / 1000 }
}
