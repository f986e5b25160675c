// npm run matrix [-- node@22 | bun | ws …]: the tests on every version of Node that is supported, on the other runtimes
// a smoke run, the handler in their servers, and the client, and those of sockets with the least `ws`. Their binaries come from the registry, as packages that hold
// nothing else; none of them runs a script when it is installed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

interface Runtime {
  /** Packages and versions. */
  readonly install: readonly string[]
  /** From the directory that it is installed in. */
  readonly binary: string
  readonly args: readonly string[]
  readonly scripts: readonly string[]
  /** Of the environment, beside ours. */
  readonly options?: string
}

// The package `node` fetches one of these in a script of its own.
const machine = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

const node = (version: string): Runtime => ({
  install: [`node-${version}@npm:node-${machine}@${version}`],
  binary: `node_modules/node-${version}/bin/node`,
  args: ['--enable-source-maps', 'dist/test/run.js'],
  scripts: ['--all'],
})

/** Of runtimes that are not Node. */
const scripts = ['dist/test/matrix/smoke.js', 'dist/test/matrix/fetch.js']

// Bun's and Deno's packages name those of all machines; npm installs the one that fits.
const libc = process.platform === 'linux' ? '-glibc' : ''
const runtimes: Readonly<Record<string, Runtime>> = {
  'node@20': node('20.20'),
  'node@22': node('22'),
  'node@24': node('24'),
  // The AI SDK of which Node 20 runs the major before.
  'ai@7': {
    ...node('22'),
    install: [...node('22').install, 'ai-7@npm:ai@7', 'zod@4'],
    args: ['dist/test/run.js'],
    scripts: ['test/ai'],
    options: `--import ${pathToFileURL(resolve('dist/test/matrix/newest-ai.js')).href}`,
  },
  bun: {
    install: ['bun@1'],
    binary: `node_modules/@oven/bun-${machine.replace('arm64', 'aarch64')}/bin/bun`,
    args: [],
    scripts,
  },
  deno: {
    install: ['deno@2'],
    binary: `node_modules/@deno/${machine}${libc}/deno`,
    args: ['run', '--allow-all'],
    scripts,
  },
  // Not a runtime: this one, with a peer that is as old as it may be.
  ws: {
    install: ['ws@8.18.0'],
    binary: process.execPath,
    args: ['dist/test/run.js'],
    scripts: ['test/http/socket'],
    options: `--import ${pathToFileURL(resolve('dist/test/matrix/least-ws.js')).href}`,
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
const failed: string[] = []
const skipped: string[] = []
let passed = 0
for (const [name, { install, binary, args, scripts, options }] of chosen) {
  const packages = ['install', '--ignore-scripts', ...quiet, ...install]
  if ((await run('npm', packages, directory)) !== 0) {
    skipped.push(`${name}: npm could not install it`)
    continue
  }
  const path = resolve(directory, binary)
  await run(path, ['--version'])
  for (const script of scripts) {
    if ((await run(path, [...args, script], undefined, options)) === 0) passed++
    else failed.push(`${name}: ${script}`)
  }
}
console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`)
for (const reason of skipped) console.log(`# skipped: ${reason}`)
if (failed.length > 0) {
  console.log(`# failed: ${failed.join(', ')}`)
  process.exitCode = 1
}

async function run(
  command: string,
  args: readonly string[],
  cwd?: string,
  options?: string,
): Promise<number | null> {
  console.log(`# ${[command, ...args].join(' ')}`)
  const child = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    ...(cwd && { cwd }),
    ...(options && { env: { ...process.env, NODE_OPTIONS: options } }),
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}
