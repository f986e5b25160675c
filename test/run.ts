// What `npm test` runs: every test file, or those under the paths that are given, two at a time.
// `tap` would start each behind three loaders and compile what it imports, which takes longer than
// most of the files do. A line of TAP for each file, and of those that fail what is not ok in them.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { pickSeed } from './fixtures/random.js'
import { runTestFile, testFiles } from './test-file.js'

// Each commit has random tests of its own, the same wherever it is tested.
process.env['SEED'] ??= seedOfCommit()
process.env['LOREKEEP_SEED'] ??= process.env['SEED']

const paths = process.argv.slice(2)

const files = testFiles().filter(
  (file) => paths.length === 0 || paths.some((path) => file.startsWith(path)),
)
assert.ok(files.length > 0, `no test file under ${paths.join(' ')}`)

const failed: string[] = []
let [done, assertions, skipped] = [0, 0, 0]

console.log(`TAP version 14\n1..${files.length}\n# SEED=${process.env['SEED']}`)
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
    const { ok, tap, seconds } = await runTestFile(file)
    assertions += Number(/^# \{ total: (\d+)/m.exec(tap)?.[1] ?? 0)
    skipped += Number(/^# \{.* skip: (\d+)/m.exec(tap)?.[1] ?? 0)
    console.log(`${ok ? 'ok' : 'not ok'} ${++done} - ${file} # ${seconds.toFixed(1)} s`)
    if (ok) continue
    failed.push(file)
    console.log(tap.replace(/^ *ok .*\n/gm, '').replace(/^(?=.)/gm, '    '))
  }
}

function seedOfCommit(): string {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return String(Number.parseInt(commit.toString().slice(0, 8), 16))
  } catch {
    return String(pickSeed())
  }
}
