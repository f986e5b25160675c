// Processes that share one PostgreSQL: what two and four do together against what one does, how evenly, and how long
// anybody waits. The same with a delay before the server, so that waiting is what takes the time, not the processor,
// which the processes and the server have to share here. Texts to cores by two and four processes against one, and by
// two against one on LevelDB. `apart` they share the server alone, each with a database of its own: that is what
// sharing could gain at most here.
// WORK (names, with ; between them), SECONDS, ROUNDS and DELAY_MS ask for less or more.

import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PostgresBackend } from '../adapters/postgres/index.js'
import { createLorekeep, type Lorekeep } from '../src/index.js'
import { binaries, Cluster } from '../test/adapters/postgres/cluster.js'
import { Proxy } from '../test/adapters/postgres/proxy.js'
import * as bench from './measure.js'
import type { Done, Order } from './shared-child.js'
import { hasTexts, textCount, works, type Work } from './shared-work.js'

const seconds = Number(process.env['SECONDS'] ?? 4)
const rounds = Number(process.env['ROUNDS'] ?? 3)
const delays = (process.env['DELAY_MS'] ?? '0,5').split(',').map(Number)
const only = process.env['WORK']
const counts = [1, 2, 4]
// For each of them, so that each of four is as warm as one alone: it does a part of what one does. One process alone
// took 150 us of the processor for each of its first 5,000 objects, 55 up to the 25,000th and 30 from the 40,000th on, for
// the compiler; in 3 s each of four does not get to the 15,000th.
const warmMsOfEach = 3000
/** Of a step of the system's counters of processor time. */
const tickMs = 10

interface Outcome {
  readonly rate: number
  /** The least that one of them did, of what each did on average. */
  readonly share: number
  readonly longestMs: number
  /** Of the processor, for each operation: of the processes, and of the server. */
  readonly ownMs: number
  readonly serverMs: number
  /** Of the machine, which others may use, too. */
  readonly idle: number
}

if (binaries === undefined) {
  bench.report({ scenario: 'shared', peer: '1 process', skipped: 'PostgreSQL is not installed' })
} else {
  const settings = ['fsync = on', 'max_wal_size = 4GB', 'shared_buffers = 256MB']
  const cluster = await Cluster.start({ settings: [...settings, 'max_connections = 300'] })
  try {
    let filled: Work['fill']
    for (const [name, work] of Object.entries(works)) {
      if (only !== undefined && !only.split(';').includes(name)) continue
      if (work.needsTexts && !hasTexts) {
        bench.report({ scenario: name, peer: '1 process', skipped: 'the texts are not here' })
        continue
      }
      if (work.fill !== undefined && work.fill !== filled) {
        await prepareFilled(cluster, work.fill)
        filled = work.fill
      }
      if (work.isToEnd) await measureToEnd(cluster, name)
      else for (const delayMs of delays) await measure(cluster, name, work, delayMs)
    }
  } finally {
    await cluster.stop()
  }
}

async function measure(
  cluster: Cluster,
  name: string,
  { least, isApart, fill }: Work,
  delayMs: number,
): Promise<void> {
  const scenario = delayMs === 0 ? name : `${name}, ${delayMs} ms to the server`
  const outcomes = new Map<number, Outcome[]>(counts.map((count) => [count, []]))
  for (let round = 0; round < rounds; round++) {
    for (const processes of counts) {
      const template = fill === undefined ? 'template0' : 'filled'
      const data = await databases(cluster, template, isApart ? processes : 1)
      const outcome = await together({ cluster, name, processes, data, delayMs })
      outcomes.get(processes)!.push(outcome)
      bench.note(`  ${scenario}, ${processes}: ${tell(outcome)}`)
    }
  }
  const alone = outcomes.get(1)!
  for (const processes of counts.slice(1)) {
    const all = outcomes.get(processes)!
    const compared = `${scenario}, ${processes} processes`
    bench.report({
      scenario: compared,
      peer: '1 process',
      ours: tell(medianOf(all)),
      theirs: tell(medianOf(alone)),
      ...bench.spread(all.map(({ rate }, n) => rate / alone[n]!.rate)),
      unit: 'x',
      ...(processes === 4 && least !== undefined && { target: { least } }),
    })
    const share = bench.spread(all.map(({ share }) => share))
    const [ours, theirs] = [share.value.toFixed(2), '1']
    const ofMean = { scenario: `${compared}: the least`, peer: 'the mean', ours, theirs, ...share }
    const isAsked = least !== undefined
    bench.report({ ...ofMean, unit: 'x', ...(isAsked && { target: { least: 0.5 } }) })
    const longest = Math.max(...all.map(({ longestMs }) => longestMs))
    const target = isAsked ? { most: 1000 } : undefined
    bench.reportOne(`${compared}: the longest wait`, longest, 'ms', target)
  }
}

async function measureToEnd(cluster: Cluster, name: string): Promise<void> {
  const outcomes = new Map<number, Outcome[]>(counts.map((count) => [count, []]))
  const onLevel: Outcome[] = []
  for (let round = 0; round < rounds; round++) {
    for (const processes of counts) {
      const data = await databases(cluster, 'template0', 1)
      const outcome = await together({ cluster, name, processes, data, delayMs: 0 })
      outcomes.get(processes)!.push(outcome)
      bench.note(`  ${name}, ${processes} on PostgreSQL: ${tellRate(outcome)}`)
    }
    await bench.inDirectory(async (directory) => {
      const data = [directory]
      onLevel.push(await together({ cluster, name, processes: 1, data, delayMs: 0 }))
    })
    bench.note(`  ${name}, 1 on LevelDB: ${tellRate(onLevel.at(-1)!)}`)
  }
  const compare = (processes: number, peer: string, theirs: readonly Outcome[]) => {
    const ours = outcomes.get(processes)!
    bench.report({
      scenario: `${textCount} ${name} to cores, ${processes} on PostgreSQL`,
      peer,
      ours: tellRate(medianOf(ours)),
      theirs: tellRate(medianOf(theirs)),
      ...bench.spread(ours.map(({ rate }, n) => rate / theirs[n]!.rate)),
      unit: 'x',
    })
  }
  compare(2, '1 process on LevelDB', onLevel)
  for (const processes of counts.slice(1)) compare(processes, '1 process', outcomes.get(1)!)
}

/** So many processes work at once on what `data` names: one for all of them, or one for each. */
async function together(asked: {
  readonly cluster: Cluster
  readonly name: string
  readonly processes: number
  readonly data: readonly string[]
  readonly delayMs: number
}): Promise<Outcome> {
  const { cluster, name, processes, data, delayMs } = asked
  await using proxy = delayMs > 0 ? await Proxy.start(cluster.port) : undefined
  if (proxy !== undefined) proxy.delayMs = delayMs
  const urls = data.map((url) =>
    proxy === undefined ? url : new URL(new URL(url).pathname, proxy.url).href,
  )
  const script = fileURLToPath(new URL('./shared-child.js', import.meta.url))
  const isTimed = !works[name]!.isToEnd
  const warmMs = warmMsOfEach * processes
  const children = Array.from({ length: processes }, (_, place) => {
    const window = isTimed ? { warmMs, countedMs: seconds * 1000 } : { warmMs: 0 }
    const order: Order = {
      work: name,
      place,
      processes,
      data: urls[place % urls.length]!,
      ...window,
    }
    const child = spawn(process.execPath, [script, JSON.stringify(order)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    return { child, ended, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
  })
  for (const { lines } of children) bench.check((await lines.next()).value === 'ready', name)
  const server = await cluster.processId()
  for (const { child } of children) child.stdin.write('go\n')
  if (isTimed) await new Promise((resolve) => setTimeout(resolve, warmMs))
  const [idleBefore, serverBefore] = [machine(), cpuOf(server)]
  const done = await Promise.all(
    children.map(async ({ lines }) => JSON.parse(String((await lines.next()).value)) as Done),
  )
  const [idleAfter, serverAfter] = [machine(), cpuOf(server)]
  const codes = await Promise.all(children.map(({ ended }) => ended))
  bench.check(
    codes.every((code) => code === 0),
    `${name} to its end`,
  )
  const operations = done.reduce((sum, each) => sum + each.operations, 0)
  const ownSeconds = done.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  return {
    rate: operations / Math.max(...done.map((each) => each.seconds)),
    share: (Math.min(...done.map((each) => each.operations)) * processes) / operations,
    longestMs: Math.max(...done.map(({ longestMs }) => longestMs)),
    ownMs: (1000 * ownSeconds) / operations,
    serverMs: (serverAfter - serverBefore) / operations,
    idle: (idleAfter.idle - idleBefore.idle) / (idleAfter.all - idleBefore.all),
  }
}

/** A database of which each round gets a copy, or as many as there are processes. */
async function prepareFilled(
  cluster: Cluster,
  fill: (keep: Lorekeep) => Promise<unknown>,
): Promise<void> {
  const url = await database(cluster, 'template0', 'filled')
  await using keep = await createLorekeep({ backend: new PostgresBackend({ url }) })
  await fill(keep)
}

/** New ones, in place of those of the round before. */
async function databases(cluster: Cluster, template: string, count: number): Promise<string[]> {
  for (const n of [0, 1, 2, 3])
    await cluster.query(`DROP DATABASE IF EXISTS shared${n} WITH (FORCE)`)
  const urls: string[] = []
  for (let n = 0; n < count; n++) urls.push(await database(cluster, template, `shared${n}`))
  // What a copy has left to be written would be written while it is looked at.
  await cluster.query('CHECKPOINT')
  return urls
}

async function database(cluster: Cluster, template: string, name: string): Promise<string> {
  await cluster.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  // A session that has been left may be there for a moment yet.
  for (let tries = 0; ; tries++) {
    try {
      await cluster.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
      return new URL(`/${name}`, cluster.url).href
    } catch (error) {
      if (tries === 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

function tell(outcome: Outcome): string {
  const { share, longestMs } = outcome
  const evenly = `the least ${share.toFixed(2)} of the mean, waits ${Math.round(longestMs)} ms`
  return `${tellRate(outcome)}; ${evenly}`
}

function tellRate({ rate, ownMs, serverMs, idle }: Outcome): string {
  const cpu = `processor ${ownMs.toFixed(2)} + ${serverMs.toFixed(2)} ms`
  return `${Number(rate.toPrecision(3))} /s, ${cpu}, ${Math.round(100 * idle)} % idle`
}

function medianOf(outcomes: readonly Outcome[]): Outcome {
  const of = (name: keyof Outcome) => bench.median(outcomes.map((outcome) => outcome[name]))
  return {
    rate: of('rate'),
    share: of('share'),
    longestMs: of('longestMs'),
    ownMs: of('ownMs'),
    serverMs: of('serverMs'),
    idle: of('idle'),
  }
}

/** Milliseconds of all processors. */
function machine(): { readonly idle: number; readonly all: number } {
  let [idle, all] = [0, 0]
  for (const { times } of cpus()) {
    idle += times.idle
    all += times.user + times.nice + times.sys + times.irq + times.idle
  }
  return { idle, all }
}

/** Milliseconds of the processor of a server and its sessions, also of those that have ended. */
function cpuOf(server: number): number {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? statOf(name) : []
    const isServer = Number(name) === server
    if (!isServer && Number(fields[1]) !== server) continue
    // utime and stime, and those of children that were waited for.
    for (const field of fields.slice(11, isServer ? 15 : 13)) ticks += Number(field)
  }
  return ticks * tickMs
}

/** From the state on: the name before it may have spaces. */
function statOf(processId: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
