// A partition: one table. Reads are here; writes go through the groups.

import { setMaxListeners } from 'node:events'
import { LorekeepError } from '../../src/errors.js'
import type { Entry, Operation, PartitionName } from '../../src/storage.js'
import type { Range, Sharing, Storage, WriteOptions } from '../../src/storage.js'
import {
  after,
  assertBytes,
  assertKey,
  assertLimit,
  assertOperations,
  assertPreconditions,
  copyBounds,
} from '../arguments.js'
import type { Connection } from './connection.js'
import { WriteGroups } from './groups.js'
import type { Readers } from './readers.js'
import { Reading, type Page } from './reading.js'
import type { Servers } from './servers.js'
import type { Messages } from './messages.js'
import { Statements } from './statements.js'
import type { Turns } from './turns.js'
import { Writer } from './writer.js'

interface Parts {
  readonly servers: Servers
  readonly readers: Readers
  readonly schema: string
  readonly retryMs: number
  /** Where the backend is shared. */
  readonly shared: Shared | undefined
}

/** What all partitions of a shared backend have together. */
export interface Shared {
  readonly turns: Turns
  readonly messages: Messages
}

export class PostgresPartition implements Storage {
  readonly sharing: Sharing | undefined
  readonly #reading: Reading
  readonly #readers: Readers
  readonly #writer: Writer
  readonly #groups: WriteGroups
  /** What close() waits for. */
  readonly #reads = new Set<Promise<unknown>>()
  /** First pages: of the time of their calls, so later writes wait for them. */
  readonly #firstPages = new Set<Promise<unknown>>()
  /** What ends a turn, or a listener. */
  readonly #endings = new Set<() => void>()
  readonly #closed = new AbortController()
  #closing: Promise<void> | undefined

  private constructor(
    name: PartitionName,
    reading: Reading,
    readers: Readers,
    writer: Writer,
    shared: Shared | undefined,
  ) {
    this.sharing = shared && this.#sharing(name, shared)
    // Each turn that is waited for listens, and there is one for each lane.
    setMaxListeners(0, this.#closed.signal)
    this.#reading = reading
    this.#readers = readers
    this.#writer = writer
    this.#groups = new WriteGroups(writer, () => Promise.allSettled(this.#firstPages))
  }

  static async open(partition: PartitionName, parts: Parts): Promise<PostgresPartition> {
    const { servers, readers, schema, retryMs, shared } = parts
    const statements = new Statements(schema, partition)
    const writer = await Writer.open({
      servers,
      statements,
      schema,
      partition,
      retryMs,
      shared: shared !== undefined,
    })
    const reading = new Reading(statements, partition)
    return new PostgresPartition(partition, reading, readers, writer, shared)
  }

  /** True from the call of close(). */
  get closed(): boolean {
    return this.#closing !== undefined
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const [value] = await this.getMany([key])
    return value
  }

  async getBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array | undefined> {
    this.#assertOpen()
    assertKey(key)
    assertBytes(from, to)
    return this.#read((connection) => this.#reading.getBytes(connection, key, from, to))
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    this.#assertOpen()
    for (const key of keys) assertKey(key)
    if (keys.length === 0) return []
    return this.#read((connection) => this.#reading.getMany(connection, keys))
  }

  // Not an async generator: its body would first run on next(), and the first page would then
  // hold writes made after scan() was called.
  scan(range: Range): AsyncIterable<readonly Entry[]> {
    assertLimit(range.limit)
    const bounds = copyBounds(range)
    const first = this.#readPage(bounds)
    this.#firstPages.add(first)
    const done = () => this.#firstPages.delete(first)
    // Also marks a failure as handled: the caller may never iterate.
    first.then(done, done)
    return this.#pages(bounds, first)
  }

  async write(
    operations: readonly Operation[],
    { require = [] }: WriteOptions = {},
  ): Promise<void> {
    this.#assertOpen()
    assertPreconditions(require)
    assertOperations(operations)
    return this.#groups.write(operations, require)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #sharing(name: PartitionName, { turns, messages }: Shared): Sharing {
    return {
      turn: async (subject, signal) => {
        this.#assertOpen()
        const closed = this.#closed.signal
        const signals = signal === undefined ? [closed] : [closed, signal]
        return this.#untilClose(await turns.take(`${name}/${subject}`, signals))
      },
      publish: (message) => {
        if (this.#closing === undefined) messages.publish(name, message)
      },
      subscribe: (listener) => {
        if (this.#closing !== undefined) return () => undefined
        return this.#untilClose(messages.subscribe(name, listener))
      },
    }
  }

  #untilClose(end: () => void): () => void {
    const ending = () => {
      this.#endings.delete(ending)
      end()
    }
    if (this.#closing === undefined) this.#endings.add(ending)
    else end()
    return ending
  }

  async #close(): Promise<void> {
    // At once: nobody else shall wait for what is under way here.
    this.#closed.abort(new LorekeepError('LK_CLOSED'))
    for (const end of this.#endings) end()
    await this.#groups.drained()
    await Promise.allSettled(this.#reads)
    await this.#writer.close()
  }

  async *#pages(range: Range, first: Promise<Page>): AsyncGenerator<readonly Entry[]> {
    let { limit = Infinity } = range
    for (let page = await first; ; page = await this.#readPage(range)) {
      const { entries, last } = page
      const final = entries.at(-1)
      if (final === undefined) return
      // Copied before the page is handed out: the caller may change what it gets.
      range = after(range, new Uint8Array(final.key), (limit -= entries.length))
      yield entries
      if (last || limit === 0) return
    }
  }

  // At the call, not in a turn of its own: the session is asked for in the order of the calls.
  async #readPage(range: Range): Promise<Page> {
    this.#assertOpen()
    return this.#read(this.#reading.pageOf(range))
  }

  /** To its end, also where the partition is closed meanwhile. */
  async #read<Result>(read: (connection: Connection) => Promise<Result>): Promise<Result> {
    const reading = this.#readers.with(read, () => this.#writer.assertReadable())
    this.#reads.add(reading)
    const done = () => this.#reads.delete(reading)
    reading.then(done, done)
    return reading
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new LorekeepError('LK_CLOSED')
  }
}
