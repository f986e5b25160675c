// npm run mcp: the protocol's own conformance suite for servers, over HTTP, and, as it asks over nothing else, by a bridge
// over stdio: what is released of it, and what is coming, which alone has 2026-07-28. It runs on Node 22, and all of it is
// installed by this script.
// A check that fails and is not known to fails the run, and so does a reason of which nothing fails any more.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bridge } from './bridge.js'
import { known, ofHttpAlone, reasons } from './known.js'

const machine = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const suites = { released: '0.1.16', coming: '0.2.0-alpha.12' }
const script = resolve('dist/src/cli/main.js')

// Below node_modules, where nothing but npm looks, and npm leaves names with a dot alone.
const installed = resolve('node_modules/.mcp')
mkdirSync(installed, { recursive: true })
writeFileSync(join(installed, 'package.json'), '{ "private": true }\n')
const packages = [
  `node-22@npm:node-${machine}@22`,
  ...Object.entries(suites).map(
    ([name, version]) => `${name}@npm:@modelcontextprotocol/conformance@${version}`,
  ),
]
const quiet = [
  '--ignore-scripts',
  '--loglevel=error',
  '--no-audit',
  '--no-fund',
  '--prefer-offline',
]
spawnSync('npm', ['install', ...quiet, ...packages], { cwd: installed, stdio: 'inherit' })
const node = join(installed, 'node_modules/node-22/bin/node')

const place = mkdtempSync(join(tmpdir(), 'lorekeep-mcp-'))
const server = spawn(
  process.execPath,
  [script, 'serve', '--port', '0', '--open', '--mcp', 'write', '--data', join(place, 'data')],
  { stdio: ['ignore', 'pipe', 'ignore'] },
)
const wrong: string[] = []
const met = new Set<string | undefined>()
try {
  const [line] = (await once(server.stdout, 'data')) as [Buffer]
  const url = line.toString().trim().split(' ').at(-1) ?? ''
  for (const [name, version] of Object.entries(suites)) {
    await check(`HTTP, ${version}`, name, `${url}/mcp`, () => true)
  }
  const { url: bridged, close } = await bridge([script, 'mcp', '--write', '--url', url])
  const isOfBoth = (check: string) => !ofHttpAlone.test(check)
  for (const [name, version] of Object.entries(suites)) {
    await check(`stdio, ${version}`, name, bridged, isOfBoth)
  }
  await close()
} finally {
  server.kill()
  await once(server, 'close')
  rmSync(place, { recursive: true })
}
for (const reason of reasons.filter((reason) => !met.has(reason))) {
  wrong.push(`nothing fails any more of what is known: ${reason}`)
}
if (wrong.length > 0) {
  console.log(wrong.join('\n'))
  process.exitCode = 1
}

interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly errorMessage?: string
}

async function check(
  title: string,
  suite: string,
  url: string,
  isAsked: (check: string) => boolean,
): Promise<void> {
  const results = join(place, `${suite}-results`)
  const main = join(installed, 'node_modules', suite, 'dist/index.js')
  const run = spawn(node, [main, 'server', '--url', url, '--suite', 'all', '-o', results], {
    stdio: 'ignore',
  })
  await once(run, 'close')
  const statuses = new Map<string, Check>()
  for (const folder of readdirSync(results)) {
    const scenario = /^server-(.*?)-\d{4}-\d\d-\d\dT/.exec(folder)?.[1] ?? folder
    const told = join(results, folder, 'checks.json')
    const checks: Check[] = existsSync(told)
      ? (JSON.parse(readFileSync(told, 'utf8')) as Check[])
      : [{ id: 'end', status: 'FAILURE', errorMessage: 'it did not come to its end' }]
    for (const check of checks) {
      const name = `${scenario}/${check.id}`
      // One name may be told several times; it passes where all do.
      if (isAsked(name) && statuses.get(name)?.status !== 'FAILURE') statuses.set(name, check)
    }
  }
  rmSync(results, { recursive: true })
  const all = [...statuses]
  const passed = all.filter(([, { status }]) => status === 'SUCCESS')
  const failed = all.filter(([, { status }]) => status === 'FAILURE')
  for (const [name] of failed) met.add(known(name))
  const unknown = failed.filter(([name]) => known(name) === undefined)
  console.log(
    `${title}: ${passed.length} checks passed, ${failed.length - unknown.length} known to fail, ${unknown.length} not as known`,
  )
  if (passed.length === 0) wrong.push(`${title}: nothing passed`)
  for (const [name, { errorMessage = '' }] of unknown) {
    wrong.push(`${title}: ${name}: ${errorMessage.slice(0, 500)}`)
  }
}
