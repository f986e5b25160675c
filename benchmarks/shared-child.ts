// node shared-child.js ORDER: one of the processes of `shared`. Says `ready`, waits for a line, works, tells what it did.

import { createInterface } from 'node:readline'
import { LevelBackend } from '../adapters/level/index.js'
import { PostgresBackend } from '../adapters/postgres/index.js'
import { createLorekeep } from '../src/index.js'
import { works } from './shared-work.js'

export interface Order {
  readonly work: string
  readonly place: number
  readonly processes: number
  /** Where its database is, or its directory. */
  readonly data: string
  /** So long nothing is counted. */
  readonly warmMs: number
  /** So long then everything; where it is left out, to the end of the work. */
  readonly countedMs?: number
}

export interface Done {
  readonly operations: number
  readonly seconds: number
  readonly longestMs: number
  /** Of the processor, in this time. */
  readonly cpuSeconds: number
}

const order = JSON.parse(process.argv[2] as string) as Order
const { work, place, processes, data, warmMs, countedMs = Infinity } = order
const { prepare, isApart = false, run } = works[work]!
const isDatabase = data.startsWith('postgres')
await using keep = await createLorekeep({
  backend: isDatabase ? new PostgresBackend({ url: data, shared: true }) : new LevelBackend(data),
})
if (place === 0 || isApart) await prepare?.(keep)
console.log('ready')
await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next()

const from = performance.now() + warmMs
const to = from + countedMs
let operations = 0
let longestMs = 0
let cpu = process.cpuUsage()
setTimeout(() => (cpu = process.cpuUsage()), warmMs)
let told: Done | undefined
const tell = () => {
  if (told !== undefined) return
  const { user, system } = process.cpuUsage(cpu)
  const seconds = (performance.now() - from) / 1000
  told = { operations, seconds, longestMs, cpuSeconds: (user + system) / 1e6 }
  console.log(JSON.stringify(told))
}
if (countedMs !== Infinity) setTimeout(tell, warmMs + countedMs)
await run({
  keep,
  place,
  processes,
  count: {
    get isOver() {
      return told !== undefined
    },
    done: (more, since) => {
      const now = performance.now()
      if (now < from || now > to) return
      operations += more
      longestMs = Math.max(longestMs, now - Math.max(since, from))
    },
  },
})
tell()
process.stdin.destroy()
