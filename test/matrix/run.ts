// npm run matrix [-- node@22 | bun …]: the tests on every version of Node that is supported, and a
// smoke run on the other runtimes. Their binaries come from the registry, as packages that hold
// nothing else; none of them runs a script when it is installed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

interface Runtime {
  /** Package and version. */
  readonly install: string
  /** From the directory that it is installed in. */
  readonly binary: string
  readonly args: readonly string[]
  readonly script: string
}

// The package `node` fetches one of these in a script of its own.
const machine = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

const node = (version: string): Runtime => ({
  install: `node-${version}@npm:node-${machine}@${version}`,
  binary: `node_modules/node-${version}/bin/node`,
  args: ['--enable-source-maps'],
  script: 'dist/test/run.js',
})

// Bun's and Deno's packages name those of all machines; npm installs the one that fits.
const libc = process.platform === 'linux' ? '-glibc' : ''
const runtimes: Readonly<Record<string, Runtime>> = {
  'node@20': node('20.20'),
  'node@22': node('22'),
  'node@24': node('24'),
  bun: {
    install: 'bun@1',
    binary: `node_modules/@oven/bun-${machine.replace('arm64', 'aarch64')}/bin/bun`,
    args: [],
    script: 'dist/test/matrix/smoke.js',
  },
  deno: {
    install: 'deno@2',
    binary: `node_modules/@deno/${machine}${libc}/deno`,
    args: ['run', '--allow-all'],
    script: 'dist/test/matrix/smoke.js',
  },
}

const asked = process.argv.slice(2)
for (const name of asked) {
  assert.ok(Object.hasOwn(runtimes, name), `no runtime '${name}': ${Object.keys(runtimes)}`)
}
const chosen = Object.entries(runtimes).filter(
  ([name]) => asked.length === 0 || asked.includes(name),
)

// Below node_modules, where nothing but npm looks, and npm leaves names with a dot alone.
const directory = resolve('node_modules/.matrix')
await mkdir(directory, { recursive: true })
await writeFile(join(directory, 'package.json'), '{ "private": true }\n')
const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--prefer-offline']
const packages = chosen.map(([, { install }]) => install)
const installed = await run(
  'npm',
  ['install', '--ignore-scripts', ...quiet, ...packages],
  directory,
)
assert.equal(installed, 0, 'npm could not install the runtimes')

const failed: string[] = []
for (const [name, { binary, args, script }] of chosen) {
  const path = join(directory, binary)
  await run(path, ['--version'])
  if ((await run(path, [...args, script])) !== 0) failed.push(name)
}
console.log(`${chosen.length - failed.length} passed, ${failed.length} failed`)
if (failed.length > 0) {
  console.log(`# failed: ${failed.join(', ')}`)
  process.exitCode = 1
}

async function run(command: string, args: readonly string[], cwd?: string): Promise<number | null> {
  console.log(`# ${[command, ...args].join(' ')}`)
  const child = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    ...(cwd && { cwd }),
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}
