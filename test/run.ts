// What `npm test` runs: the test files that take a few seconds, and those that everything rests on. With `--long` the
// others, with `--all` all of them, or those under the paths that are given; two at a time. `--record` keeps which are
// long. `tap` would start each behind three loaders and compile what it imports, which takes longer than most of the
// files do. A line of TAP for each file, and of those that fail what is not ok in them.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { chosenFiles, longFiles } from './chosen-files.js'
import { pickSeed } from './fixtures/random.js'
import { runTestFile, testFiles } from './test-file.js'

// Each commit has random tests of its own, the same wherever it is tested.
process.env['SEED'] ??= seedOfCommit()
process.env['LOREKEEP_SEED'] ??= process.env['SEED']

const isFlag = { type: 'boolean', default: false } as const
const { values: flags, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: { long: isFlag, all: isFlag, record: isFlag },
})

const list = 'test/long-files.json'
/** Seconds by file, two at a time on two cores. */
const long = JSON.parse(readFileSync(list, 'utf8')) as Readonly<Record<string, number>>

const files = chosenFiles(testFiles(), long, { ...flags, paths })
assert.ok(files.length > 0, `no test file under ${paths.join(' ')}`)

const failed: string[] = []
const secondsByFile: Record<string, number> = {}
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
if (flags.record) {
  const all = longFiles(testFiles(), { ...long, ...secondsByFile })
  writeFileSync(list, `${JSON.stringify(all, null, 2)}\n`)
}

async function runWaiting(): Promise<void> {
  for (const file of waiting) {
    const { ok, tap, seconds } = await runTestFile(file)
    secondsByFile[file] = seconds
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
