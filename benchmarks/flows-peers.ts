// The queues that flows are measured against, each given its fair best. They come from
// benchmarks/node_modules alone, so what is used of their types is written down here.
//
// BullMQ needs a redis-server (flows-redis.ts), plainjob a better-sqlite3 that was built
// (sqlite-build.ts); without them their rows are skipped.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EncodedDocument } from '../src/flow/types.js'
import { withRedis } from './flows-redis.js'
import { check, inDirectory, report, seconds } from './measure.js'

const require = createRequire(new URL('../../benchmarks/package.json', import.meta.url))

interface BullOptions {
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly maxRetriesPerRequest: null
  }
}

interface BullWorkerOptions extends BullOptions {
  readonly concurrency: number
  readonly autorun: boolean
}

export interface BullQueue {
  readonly name: string
  waitUntilReady(): Promise<unknown>
  add(name: string, data: EncodedDocument): Promise<unknown>
  addBulk(
    jobs: readonly { readonly name: string; readonly data: EncodedDocument }[],
  ): Promise<unknown>
  getWaitingCount(): Promise<number>
  getCompletedCount(): Promise<number>
  close(): Promise<void>
}

interface BullWorker {
  on(event: 'completed', listener: () => void): void
  on(event: 'error', listener: (error: Error) => void): void
  waitUntilReady(): Promise<unknown>
  run(): Promise<void>
  close(): Promise<void>
}

interface Bull {
  readonly Queue: new (name: string, options: BullOptions) => BullQueue
  readonly Worker: new (
    name: string,
    processor: () => Promise<void>,
    options: BullWorkerOptions,
  ) => BullWorker
}

interface PlainLogger {
  readonly logger: Readonly<Record<'error' | 'warn' | 'info' | 'debug', () => void>>
}

interface PlainQueue {
  add(type: string, data: EncodedDocument): unknown
  addMany(type: string, data: readonly EncodedDocument[]): unknown
  countJobs(query: { readonly status: number }): number
  close(): void
}

interface PlainWorker {
  start(): Promise<void>
  stop(): Promise<void>
}

interface Plain {
  better(database: unknown): unknown
  defineQueue(options: PlainLogger & { readonly connection: unknown }): PlainQueue
  defineWorker(
    type: string,
    processor: () => void,
    options: PlainLogger & { readonly queue: PlainQueue; readonly onCompleted: () => void },
  ): PlainWorker
}

const bull = require('bullmq') as Bull
const plain = (await import(pathToFileURL(require.resolve('plainjob')).href)) as Plain
const Sqlite = loadSqlite()

export const bullName = 'BullMQ, Redis with appendfsync everysec'
/** plainjob sets that itself: a commit is not on disk when add() returns. */
export const plainName = 'plainjob, better-sqlite3, synchronous=NORMAL'
/** Why the rows of plainjob are skipped; `undefined` where they are not. */
export const noSqlite = Sqlite ? undefined : 'better-sqlite3 could not be built'

/** Of plainjob's jobs. */
const pending = 0
const done = 2
const jobName = 'load'

/** Reports the comparison, or why its peer was not there to be measured. */
export function reportOrSkip<T>(
  names: { readonly scenario: string; readonly peer: string },
  skipped: string | undefined,
  theirs: T | undefined,
  compare: (theirs: T) => void,
): void {
  if (theirs !== undefined) compare(theirs)
  else report({ ...names, skipped: skipped ?? 'it was not measured' })
}

/** A queue of BullMQ's on a new Redis. */
export function withBull<T>(work: (bull: BullPeer) => Promise<T>): Promise<T> {
  return withRedis(async (port) => {
    await using peer = new BullPeer(port)
    await peer.queue.waitUntilReady()
    return await work(peer)
  })
}

export class BullPeer {
  readonly queue: BullQueue
  // Without ioredis's autopipelining: with it, adds are half as fast.
  readonly #options: BullOptions

  constructor(port: number) {
    const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
    this.#options = { connection }
    this.queue = new bull.Queue('documents', this.#options)
  }

  add(document: EncodedDocument): Promise<unknown> {
    return this.queue.add(jobName, document)
  }

  async fill(documents: readonly EncodedDocument[]): Promise<void> {
    for (let at = 0; at < documents.length; at += 1000) {
      const some = documents.slice(at, at + 1000)
      await this.queue.addBulk(some.map((data) => ({ name: jobName, data })))
    }
  }

  /** The seconds from run() until so many documents are done. */
  async process(count: number, concurrency: number): Promise<number> {
    const options = { ...this.#options, concurrency, autorun: false }
    const worker = new bull.Worker(this.queue.name, async () => {}, options)
    await worker.waitUntilReady()
    let completed = 0
    let running: Promise<void> | undefined
    const time = await seconds(
      () =>
        new Promise<void>((resolve, reject) => {
          worker.on('completed', () => {
            if (++completed === count) resolve()
          })
          worker.on('error', reject)
          running = worker.run()
        }),
    )
    await worker.close()
    await running
    check((await this.queue.getCompletedCount()) === count, 'the completed jobs in BullMQ')
    return time
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.queue.close()
  }
}

/** A queue of plainjob's in a new database. */
export function withPlain<T>(work: (plain: PlainPeer) => Promise<T> | T): Promise<T> {
  return inDirectory(async (directory) => {
    using peer = new PlainPeer(directory)
    return await work(peer)
  })
}

export class PlainPeer {
  readonly #queue: PlainQueue

  constructor(directory: string) {
    if (!Sqlite) throw new Error('better-sqlite3 is not there')
    const connection = plain.better(new Sqlite(join(directory, 'queue.db')))
    this.#queue = plain.defineQueue({ connection, ...quiet })
  }

  add(document: EncodedDocument): void {
    this.#queue.add(jobName, document)
  }

  fill(documents: readonly EncodedDocument[]): void {
    this.#queue.addMany(jobName, documents)
  }

  countWaiting(): number {
    return this.#queue.countJobs({ status: pending })
  }

  /** The seconds from start() until so many documents are done. */
  async process(count: number): Promise<number> {
    let completed = 0
    let running: Promise<void> | undefined
    const time = await seconds(
      () =>
        new Promise<void>((resolve) => {
          const worker = plain.defineWorker(jobName, () => {}, {
            queue: this.#queue,
            ...quiet,
            onCompleted: () => {
              if (++completed < count) return
              void worker.stop()
              resolve()
            },
          })
          running = worker.start()
        }),
    )
    await running
    check(this.#queue.countJobs({ status: done }) === count, 'the jobs done in plainjob')
    return time
  }

  [Symbol.dispose](): void {
    this.#queue.close()
  }
}

/** By default it prints several lines for every job. */
const quiet: PlainLogger = {
  logger: { error() {}, warn() {}, info() {}, debug() {} },
}

function loadSqlite(): (new (file: string) => { close(): void }) | undefined {
  try {
    const Loaded = require('better-sqlite3') as new (file: string) => { close(): void }
    // The binary is loaded by the first database, not by require().
    new Loaded(':memory:').close()
    return Loaded
  } catch {
    return undefined
  }
}
