// How a scenario measures and what it tells benchmarks/run.ts.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** One line of the table. */
export interface Figure {
  readonly scenario: string
  readonly peer: string
  readonly ours: string
  readonly theirs: string
  /** Ours against the peer's: a ratio, or a difference; or ours alone. Median, smallest, largest. */
  readonly value: number
  readonly low: number
  readonly high: number
  readonly unit: 'x' | 'MiB' | 'ms' | 'points'
  readonly target?: Target
}

/** A line whose peer was not there to be measured. */
export interface Skipped extends Pick<Figure, 'scenario' | 'peer'> {
  readonly skipped: string
}

/** What something costs where there is so much of what grows: a point of a line in docs/growth.md. */
export interface Point {
  /** What grows, such as 'cores'. */
  readonly growth: string
  /** What is done, such as 'open the store'. */
  readonly cost: string
  readonly size: number
  readonly value: number
  readonly unit: 'ms' | 'us' | 'bytes'
}

export type Target = { readonly least: number } | { readonly most: number }

export const MiB = 1024 * 1024

/** Hands a figure to run.ts, one JSON text a line. Stdout carries nothing else. One of a peer that was not asked is none. */
export function report(line: Figure | Skipped): void {
  if ('value' in line && Number.isNaN(line.value)) return
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Hands a point to run.ts, beside figures. One that was not measured is none. */
export function reportPoint(point: Point): void {
  if (Number.isNaN(point.value)) return
  process.stdout.write(`${JSON.stringify(point)}\n`)
}

export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** A wrong result makes every figure worthless: the scenario ends with exit code 1. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`check failed: ${what}`)
}

/** Gives the seconds that what is to be measured took; what came before and after is its own. */
export type Contestant = (round: number) => Promise<number>

export async function seconds(work: () => unknown): Promise<number> {
  // What an earlier contestant left is not for this one to collect, nor are its finalizers this
  // one's to wait for: oxigraph has one for each term that it gives.
  globalThis.gc?.()
  await sleep(10)
  const start = process.hrtime.bigint()
  await work()
  return Number(process.hrtime.bigint() - start) / 1e9
}

/**
 * Runs all contestants in turn, so that what disturbs the machine disturbs them alike. One that
 * may be missing may be missing from the result. `PEERS=oxigraph,plain` in the environment leaves out
 * those that are not named, but for the first, which is ours: they have no times.
 */
export async function interleave<C extends Readonly<Record<string, Contestant>>>(
  rounds: number,
  contestants: C,
): Promise<{ [N in keyof C]: number[] }> {
  const names = Object.keys(contestants)
  const asked = process.env.PEERS?.split(',') ?? names
  const running = Object.entries<Contestant>(contestants).filter(
    ([name], n) => n === 0 || asked.includes(name),
  )
  const times: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]))
  // The round before the first warms up and does not count.
  for (let round = -1; round < rounds; round++) {
    const row: string[] = []
    for (const [name, contestant] of running) {
      const time = await contestant(round)
      if (round >= 0) times[name]?.push(time)
      row.push(`${name} ${time.toFixed(3)}`)
    }
    if (round >= 0) note(`  round ${round + 1}: ${row.join(', ')} s`)
  }
  return times as { [N in keyof C]: number[] }
}

/** Two contestants' rates over the same bytes, ours as a multiple of theirs, pair by pair. */
export function compareRates(
  names: { readonly scenario: string; readonly peer: string },
  bytes: number,
  ours: readonly number[],
  theirs: readonly number[],
  target?: Target,
): Figure {
  const show = (time: number) => `${Math.round(bytes / time / 1e6)} MB/s`
  return compare(names, show, ours, theirs, target)
}

/** The same over so many operations of a kind. */
export function compareOperations(
  names: { readonly scenario: string; readonly peer: string },
  operations: { readonly count: number; readonly unit: string },
  ours: readonly number[],
  theirs: readonly number[],
  target?: Target,
): Figure {
  const { count, unit } = operations
  const show = (time: number) => `${Number((count / time).toPrecision(3))} ${unit}`
  return compare(names, show, ours, theirs, target)
}

function compare(
  names: { readonly scenario: string; readonly peer: string },
  show: (time: number) => string,
  ours: readonly number[],
  theirs: readonly number[],
  target: Target | undefined,
): Figure {
  const ratios = ours.map((time, n) => (theirs[n] as number) / time)
  return {
    ...names,
    ours: show(median(ours)),
    theirs: show(median(theirs)),
    ...spread(ratios),
    unit: 'x',
    ...(target && { target }),
  }
}

/** A figure of ours alone, measured once. */
export function reportOne(
  scenario: string,
  value: number,
  unit: Figure['unit'],
  target?: Target,
): void {
  reportValues({ scenario, peer: '' }, [value], unit, target)
}

/** A figure of ours alone, measured several times: nothing of one that was not measured. */
export function reportValues(
  names: { readonly scenario: string; readonly peer: string },
  values: readonly number[],
  unit: Figure['unit'],
  target?: Target,
): void {
  if (values.length === 0) return
  const all = spread(values)
  const ours = `${Number(all.value.toPrecision(4))} ${unit}`
  report({ ...names, ours, theirs: '', ...all, unit, ...(target && { target }) })
}

/** What lies in a directory, and in those within it. */
export async function bytesIn(directory: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}

/** What all threads of a process have taken that are there; undefined where the system has no /proc. */
export function processorMs(pid: number): number | undefined {
  const tasks = `/proc/${pid}/task`
  try {
    const times = readdirSync(tasks).map((task) =>
      Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
    )
    return times.reduce((sum, ns) => sum + ns, 0) / 1e6
  } catch {
    return undefined
  }
}

export function spread(values: readonly number[]) {
  return { value: median(values), low: Math.min(...values), high: Math.max(...values) }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2
}

/** A new directory on the disk that all contestants use, gone afterwards. */
export async function inDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'lorekeep-bench-'))
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/**
 * Has a process use so much memory, where there is as much, and end: what a virtual machine has given back to its host
 * is fetched by it, and by nobody who is measured.
 */
export function touchMemory(bytes: number): void {
  const most = Math.min(bytes, 0.7 * freemem())
  const program = `
    const kept = []
    for (let left = ${Math.floor(most / MiB)}; left > 0; left -= 512) {
      kept.push(Buffer.alloc(Math.min(left, 512) * ${MiB}, 1))
    }`
  execFileSync(process.execPath, ['--eval', program])
}
