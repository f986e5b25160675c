// What `npm test` runs: the test files that take a few seconds, and those that everything rests on. With `--long` the
// others, with `--all` all of them, or those under the paths that are given; two at a time. `--record` keeps which are
// long. `tap` would start each behind three loaders and compile what it imports, which takes longer than most of the
// files do. A line of TAP for each file, and of those that fail what is not ok in them.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { pickSeed } from './fixtures/random.js'
import { runTestFile, testFiles } from './test-file.js'

const longSeconds = 3

/** Long ones that `npm test` does not leave out: what each engine has to keep, models, and what a crash leaves. */
const always: readonly string[] = [
  'test/adapters/level.test.ts',
  'test/adapters/memory.test.ts',
  'test/adapters/postgres/conformance.test.ts',
  'test/flow/crash.test.ts',
  'test/flow/model.test.ts',
  'test/flow/shared-model.test.ts',
  'test/graph/model.test.ts',
  'test/knowledge/crash.test.ts',
  'test/knowledge/model.test.ts',
  'test/objects/model.test.ts',
  'test/objects/shared-model.test.ts',
]

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

// The longest first, or one of the two waits for it alone at the end.
const files = testFiles()
  .filter(isWanted)
  .sort((one, other) => (long[other] ?? 0) - (long[one] ?? 0))
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
  const all = Object.fromEntries(
    testFiles().flatMap((file) => {
      const seconds = secondsByFile[file] ?? long[file] ?? 0
      return seconds > longSeconds ? [[file, Math.round(seconds)]] : []
    }),
  )
  writeFileSync(list, `${JSON.stringify(all, null, 2)}\n`)
}

function isWanted(file: string): boolean {
  if (paths.length > 0) return paths.some((path) => file.startsWith(path))
  return flags.all || flags.long === (file in long && !always.includes(file))
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
