// How long who starts lorekeep waits, as it is packed: for `import('lorekeep')`, for `lorekeep --help`, and for
// `lorekeep cores` of a directory with 1,000 cores, each in a new process, with an empty program beside them, and one
// that does of the last what cannot be left out: LevelDB is loaded and opened, and what it has of the cores read and printed.

import { execFileSync, spawnSync } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { encodeMessage } from '../src/codec/encoder.js'
import { openOurs } from './graph-store.js'
import * as bench from './measure.js'
import { classicLevelUrl } from './peers.js'

const cores = 1000
const user = 'starting'
const rounds = Number(process.env['ROUNDS'] ?? 11)

interface Took {
  readonly wallMs: number
  /** Of all threads; undefined where the system has no /proc. */
  readonly cpuMs: number | undefined
}

/** Of cores, without all that a list of them does not need. */
const listing = `
import level from ${JSON.stringify(classicLevelUrl)}
const store = new level.ClassicLevel(process.argv[2] + '/cores', { valueEncoding: 'buffer' })
await store.open()
const records = await store.values().all()
process.stdout.write(records.map((record) => record.toString('latin1')).join('\\n'))
await store.close()
`

/** What the kernel has counted: `process.cpuUsage()` is in steps of several ms. */
const tellsProcessorTime = `
const { readdirSync, readFileSync, writeSync } = require('node:fs')
process.on('exit', () => {
  let tasks
  try { tasks = readdirSync('/proc/self/task') } catch { return }
  const times = tasks.map((task) =>
    Number(readFileSync('/proc/self/task/' + task + '/schedstat', 'utf8').split(' ')[0]))
  writeSync(2, 'processor time ' + times.reduce((sum, ns) => sum + ns, 0) / 1e6 + '\\n')
})
`

execFileSync(process.execPath, ['scripts/package.js', 'dist/package'], { stdio: 'inherit' })
await bench.inDirectory(async (directory) => {
  const data = join(directory, 'data')
  await fill(data)
  const program = join(directory, 'program')
  await mkdir(program)
  const write = async (name: string, text: string) => {
    await writeFile(join(program, name), text)
    return join(program, name)
  }
  const copy = join(directory, 'copy')
  await cp(data, copy, { recursive: true })
  const index = pathToFileURL('dist/package/dist/index.js').href
  const atExit = await write('exit.cjs', tellsProcessorTime)
  const command = 'dist/package/dist/cli.js'
  const starts = {
    'an empty program': { args: [await write('empty.mjs', '')] },
    "import('lorekeep')": {
      args: [await write('import.mjs', `await import(${JSON.stringify(index)})`)],
      most: 60,
    },
    'lorekeep --help': { args: [command, '--help'], most: 60 },
    [`lorekeep cores of ${cores}`]: {
      args: [command, 'cores', '--data', data, '--user', user],
      most: 150,
    },
    'what listing them needs': { args: [await write('list.mjs', listing), copy] },
  }
  const all = Object.entries(starts).map(([name, start]) => ({
    name,
    ...start,
    took: [] as Took[],
  }))
  for (let round = -1; round < rounds; round++) {
    for (const { args, took } of all) {
      const one = start(atExit, args)
      if (round >= 0) took.push(one)
    }
  }
  for (const start of all) {
    const { name, took } = start
    const scenario = `start: ${name}`
    const walls = took.map(({ wallMs }) => wallMs)
    const most = 'most' in start ? { most: start.most } : undefined
    bench.reportValues({ scenario, peer: 'by the wall' }, walls, 'ms', most)
    const processor = took.flatMap(({ cpuMs }) => cpuMs ?? [])
    bench.reportValues({ scenario, peer: 'processor time' }, processor, 'ms')
  }
})

async function fill(directory: string): Promise<void> {
  await using keep = await openOurs(directory)
  const ids = Array.from({ length: cores }, (_, n) => `urn:core:${n}`)
  const make = (id: string) => {
    const term = { v: id, e: true }
    const triples = [{ s: term, p: term, o: term }]
    const bytes = encodeMessage(['t', { m: { i: id, m: [], u: user, c: 'default' }, t: triples }])
    return keep.knowledge.import({ user, id }, bytes)
  }
  for (let at = 0; at < cores; at += 100) await Promise.all(ids.slice(at, at + 100).map(make))
}

/** From the start of the process to its end. */
function start(atExit: string, args: readonly string[]): Took {
  const begin = performance.now()
  const child = spawnSync(process.execPath, ['--require', atExit, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  })
  const wallMs = performance.now() - begin
  bench.check(child.status === 0, `${args.join(' ')} ends well: ${child.stderr}`)
  const told = /^processor time (\S+)$/m.exec(child.stderr)
  return { wallMs, cpuMs: told === null ? undefined : Number(told[1]) }
}
