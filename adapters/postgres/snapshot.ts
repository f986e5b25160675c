// All partitions as of one moment: a transaction that reads, on a session of its own.

import { LorekeepError } from '../../src/errors.js'
import type { BackendSnapshot, PartitionName, Range, SnapshotView } from '../../src/storage.js'
import { after, assertKey, assertLimit, copyBounds } from '../arguments.js'
import type { Connection } from './connection.js'
import { isLost, translate } from './failures.js'
import { Reading, type Page } from './reading.js'
import { Statements } from './statements.js'
import { partitionNames } from './tables.js'

/** The server ends what nobody reads for so long: vacuum must not wait for who has gone. */
const idleMs = 600_000

export class PostgresSnapshot implements BackendSnapshot {
  readonly partitions: Readonly<Record<PartitionName, SnapshotView>>
  readonly #connection: Connection
  readonly #timer: NodeJS.Timeout
  readonly #onEnd: () => void
  /** One statement after the other. */
  #last: Promise<unknown> = Promise.resolve()
  #end: LorekeepError | undefined

  /** The connection is the snapshot's from here on. */
  private constructor(
    connection: Connection,
    schema: string,
    mostMs: number,
    onEnd: (snapshot: PostgresSnapshot) => void,
  ) {
    this.#connection = connection
    this.#onEnd = () => onEnd(this)
    this.partitions = Object.fromEntries(
      partitionNames.map((name) => [name, this.#viewOf(schema, name)]),
    ) as Record<PartitionName, SnapshotView>
    const tooOld = `a snapshot is kept for ${mostMs} ms at most (snapshotMs)`
    this.#timer = setTimeout(() => {
      this.#finish(new LorekeepError('LK_STORAGE_UNAVAILABLE', tooOld))
    }, mostMs).unref()
  }

  static async take(
    connection: Connection,
    schema: string,
    mostMs: number,
    onEnd: (snapshot: PostgresSnapshot) => void,
  ): Promise<PostgresSnapshot> {
    try {
      await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      // The first statement that reads says of which moment it is.
      const idle = Math.min(idleMs, mostMs)
      await connection.run(
        `SELECT set_config('idle_in_transaction_session_timeout', '${idle}', true), pg_current_snapshot()`,
      )
      return new PostgresSnapshot(connection, schema, mostMs, onEnd)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#finish(new LorekeepError('LK_CLOSED', 'the snapshot is closed'))
    await this.#last.catch(() => undefined)
  }

  #viewOf(schema: string, partition: PartitionName): SnapshotView {
    const reading = new Reading(new Statements(schema, partition), partition)
    const getMany = async (keys: readonly Uint8Array[]) => {
      this.#assertOpen()
      for (const key of keys) assertKey(key)
      if (keys.length === 0) return []
      return this.#read((connection) => reading.getMany(connection, keys))
    }
    return {
      get: async (key) => (await getMany([key]))[0],
      getMany,
      scan: (range) => {
        assertLimit(range.limit)
        return this.#pages(reading, copyBounds(range))
      },
    }
  }

  /** The next page comes while the one before is looked at. */
  async *#pages(reading: Reading, range: Range): AsyncGenerator<Page['entries']> {
    let { limit = Infinity } = range
    for (let page = this.#read(reading.pageOf(range)); ;) {
      const { entries, last } = await page
      const final = entries.at(-1)
      if (final === undefined) return
      range = after(range, new Uint8Array(final.key), (limit -= entries.length))
      const isEnd = last || limit === 0
      if (!isEnd) {
        page = this.#read(reading.pageOf(range))
        // Also where nobody asks for it.
        page.catch(() => undefined)
      }
      yield entries
      if (isEnd) return
      this.#assertOpen()
    }
  }

  #read<Result>(read: (connection: Connection) => Promise<Result>): Promise<Result> {
    const reading = this.#last
      .catch(() => undefined)
      .then(() => {
        this.#assertOpen()
        return read(this.#connection)
      })
      .catch((error: unknown) => {
        // An error of a statement ends the transaction as well.
        this.#finish(lostBy(error))
        throw this.#end!
      })
    this.#last = reading
    return reading
  }

  #finish(error: LorekeepError): void {
    if (this.#end !== undefined) return
    this.#end = error
    clearTimeout(this.#timer)
    this.#connection.close()
    this.#onEnd()
  }

  #assertOpen(): void {
    if (this.#end !== undefined) throw this.#end
  }
}

function lostBy(error: unknown): LorekeepError {
  if (!isLost(error)) return translate(error)
  const told = error instanceof Error ? error.message : String(error)
  const detail = `PostgreSQL: the session that has the snapshot is lost: ${told}`
  return new LorekeepError('LK_STORAGE_UNAVAILABLE', detail, { cause: error })
}
