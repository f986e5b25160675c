import { checkOptions } from '../../src/door/options.js'
import { LorekeepError } from '../../src/errors.js'
import type { Backend, BackendSnapshot, PartitionName, Storage } from '../../src/storage.js'
import { OpenPartitions } from '../open-partitions.js'
import { translate } from './failures.js'
import { Messages } from './messages.js'
import { postgresOptions, type PostgresOptions } from './options.js'
import { PostgresPartition, type Shared } from './partition.js'
import { driver } from './peer.js'
import { Readers } from './readers.js'
import { Servers } from './servers.js'
import { PostgresSnapshot } from './snapshot.js'
import { hasTables, makeTables, partitionNames } from './tables.js'
import { Turns } from './turns.js'

interface Opened {
  readonly servers: Servers
  readonly readers: Readers
  readonly shared: Shared | undefined
}

/**
 * Stores in PostgreSQL 13 or later: each partition is a table. Any number of processes have it open at once; with
 * `shared: false` one at a time, and others that open it are refused with `LK_STORAGE_LOCKED` until it has closed, or
 * has ended. A connection that is lost is made anew, to whichever of the hosts is the primary then.
 */
export class PostgresBackend implements Backend {
  readonly shared: boolean
  readonly schema: string
  readonly #url: string
  readonly #options: Required<Omit<PostgresOptions, 'url' | 'schema' | 'shared' | 'ssl'>> &
    Pick<PostgresOptions, 'ssl'>
  readonly #partitions: OpenPartitions<PostgresPartition>
  readonly #snapshots = new Set<PostgresSnapshot>()
  #connecting: Promise<Opened> | undefined
  #isClosed = false

  /** @throws TypeError where an option is wrong */
  constructor(options: PostgresOptions) {
    const given = checkOptions('PostgresBackend()', options, postgresOptions, 'url')
    const { url, schema = 'lorekeep', shared = true, ssl } = given
    const { retryMs = 10_000, connections = 8, statementTimeoutMs = 30_000 } = given
    const { snapshotMs = 6 * 3_600_000 } = given
    this.schema = schema
    this.shared = shared
    this.#url = url
    const tls = ssl !== undefined && { ssl }
    this.#options = { retryMs, connections, statementTimeoutMs, snapshotMs, ...tls }
    this.#partitions = new OpenPartitions((partition) => this.#open(partition))
  }

  async open(partition: PartitionName): Promise<Storage> {
    if (!partitionNames.includes(partition)) {
      throw new TypeError(`there is no partition '${partition}'`)
    }
    return this.#partitions.open(partition)
  }

  /** Whether there is a store in the schema. Makes nothing. */
  async exists(): Promise<boolean> {
    if (this.#isClosed) throw new LorekeepError('LK_CLOSED')
    const { readers } = await this.#connected()
    return readers.with(
      (connection) => hasTables(connection, this.schema),
      () => undefined,
    )
  }

  /** Takes no lock, and waits for nobody: also beside somebody who has the store open alone. */
  async snapshot(): Promise<BackendSnapshot> {
    const { servers, readers } = await this.#ready()
    const { schema } = this
    const { snapshotMs } = this.#options
    const snapshot = await readers.with(
      async () =>
        PostgresSnapshot.take(await servers.connect(), schema, snapshotMs, (ended) =>
          this.#snapshots.delete(ended),
        ),
      () => undefined,
    )
    this.#snapshots.add(snapshot)
    if (this.#isClosed) await snapshot.close()
    return snapshot
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#partitions.close()
    await Promise.all([...this.#snapshots].map((snapshot) => snapshot.close()))
    const connected = await this.#connecting?.catch(() => undefined)
    connected?.shared?.messages.close()
    connected?.shared?.turns.close()
    connected?.readers.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #open(partition: PartitionName): Promise<PostgresPartition> {
    try {
      const { servers, readers, shared } = await this.#ready()
      const { schema } = this
      const { retryMs } = this.#options
      await shared?.messages.open()
      const parts = { servers, readers, schema, retryMs, shared }
      return await PostgresPartition.open(partition, parts)
    } catch (error) {
      throw translate(error)
    }
  }

  /** With tables. */
  async #ready(): Promise<Opened> {
    if (this.#isClosed) throw new LorekeepError('LK_CLOSED')
    const opened = await this.#connected()
    await opened.readers.with(
      (connection) => makeTables(connection, this.schema),
      () => undefined,
    )
    return opened
  }

  #connected(): Promise<Opened> {
    this.#connecting ??= this.#connect()
    return this.#connecting
  }

  async #connect(): Promise<Opened> {
    const { statementTimeoutMs, ssl } = this.#options
    const url = this.#url
    const options = { url, statementTimeoutMs, ...(ssl !== undefined && { ssl }) }
    const servers = new Servers(await driver(), options)
    const readers = new Readers(servers, this.#options)
    const { schema } = this
    const shared = this.shared
      ? { turns: new Turns(servers, readers, schema), messages: new Messages(servers, schema) }
      : undefined
    return { servers, readers, shared }
  }
}
