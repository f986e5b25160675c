// What `npm test` runs: every test file, or those under the paths that are given, compiled, in a
// plain process of Node, two at a time. `tap` would start each behind three loaders and compile
// what it imports, which takes longer than most of the files do. A line of TAP for each file, and of
// those that fail what is not ok in them.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { text } from 'node:stream/consumers'

const paths = process.argv.slice(2)

// From the sources: what an older build left in dist does not run.
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `test/${file.replaceAll('\\', '/')}`)
  .filter((file) => paths.length === 0 || paths.some((path) => file.startsWith(path)))
  .sort()
assert.ok(files.length > 0, `no test file under ${paths.join(' ')}`)

// As in .taprc, which `tap` alone reads.
const env = { ...process.env, TAP_TIMEOUT: '300', TAP_SAVE_FIXTURE: '1' }

const failed: string[] = []
let [done, assertions, skipped] = [0, 0, 0]

console.log(`TAP version 14\n1..${files.length}`)
const waiting = files.values()
await Promise.all([runWaiting(), runWaiting()])
console.log(`# ${files.length} files, ${assertions} assertions`)
const passed = files.length - failed.length
console.log(`${passed} passed, ${failed.length} failed, ${skipped} skipped`)
if (failed.length > 0) {
  console.log(['# failed:', ...failed].join('\n#   '))
  process.exitCode = 1
}

async function runWaiting(): Promise<void> {
  for (const file of waiting) {
    const started = performance.now()
    const { code, tap } = await run(file)
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    assertions += Number(/^# \{ total: (\d+)/m.exec(tap)?.[1] ?? 0)
    skipped += Number(/^# \{.* skip: (\d+)/m.exec(tap)?.[1] ?? 0)
    // A file that ends early, with whatever code, has not said how many tests it had.
    const ok = code === 0 && /^1\.\.\d+/m.test(tap)
    console.log(`${ok ? 'ok' : 'not ok'} ${++done} - ${file} # ${seconds} s`)
    if (ok) continue
    failed.push(file)
    console.log(tap.replace(/^ *ok .*\n/gm, '').replace(/^(?=.)/gm, '    '))
  }
}

async function run(file: string): Promise<{ code: number | null; tap: string }> {
  const script = `dist/${file.replace(/ts$/, 'js')}`
  const child = spawn(process.execPath, ['--enable-source-maps', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
    // After the file's own limit: for one that does not get to its timers.
    timeout: 320_000,
    killSignal: 'SIGKILL',
  })
  const [[code], tap] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
  ])
  return { code, tap }
}
