// The one session of this process that writes a partition. It holds a lock, so that it is the fence: who has
// lost the session cannot write, and who has the lock knows that no former session can. Where the partition is not
// shared, it is the partition's own lock, and who has it is the owner; where it is, each writer has one, and all
// have the partition's together.

import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { hasCode, LorekeepError } from '../../src/errors.js'
import type { PartitionName } from '../../src/storage.js'
import { byteaArray, int4Array } from './arrays.js'
import type { Connection } from './connection.js'
import { ConnectionLost, isLost, isUndone, translate } from './failures.js'
import type { Servers } from './servers.js'
import type { Statements } from './statements.js'
import { lockOf, writersOf } from './tables.js'

/** The session of a process that was killed ends when the server has seen that: mostly in a millisecond. */
const ownerGoesMs = 1000

/** Between attempts to connect; doubled up to so many. */
const firstPauseMs = 20
const longestPauseMs = 500

/** Of a row of pg_locks: the lock of the first parameter is had, in this database. */
const isLock = `locktype = 'advisory' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND (classid::int8 << 32 | objid::int8) = $1::int8`

/** As columns: what the statement takes. `writes` has the number of the write that each is of. */
export interface Group {
  readonly required: Columns & { readonly places: number[] }
  readonly stored: Columns
  readonly deleted: Omit<Columns, 'values'>
}

interface Columns {
  readonly writes: number[]
  readonly keys: Uint8Array[]
  readonly values: (Uint8Array | undefined)[]
}

/** By the number of a write in its group the place of the first precondition that does not hold. */
export type Refused = ReadonlyMap<number, number>

interface Parts {
  readonly servers: Servers
  readonly statements: Statements
  readonly schema: string
  readonly partition: PartitionName
  readonly retryMs: number
  readonly shared: boolean
}

type Noted = [sequence: string, refused: number[], positions: number[]]

export class Writer {
  readonly #parts: Parts
  readonly #name = randomUUID()
  /** Of the partition, and the one that no other session has while this one's has. */
  readonly #common: string
  readonly #own: string
  readonly #closing = new AbortController()
  #connection: Connection | undefined
  /** The session that had the lock last: it may still be there, and busy. */
  #processId: number | undefined
  #sequence = 0
  /** Of the last group that was told to have been carried out, and was. */
  #acknowledged = 0
  /** Why nothing can be written any more until the partition is opened anew. */
  #ended: LorekeepError | undefined
  #deciding: Promise<void> | undefined
  /** Why the last group was given up, where it was for a lost connection. */
  #away: LorekeepError | undefined
  /** One at a time: two would end each other's sessions. */
  #reconnecting: Promise<Connection> | undefined
  /** Why the last attempt to connect anew failed. */
  #failure: unknown

  private constructor(parts: Parts) {
    this.#parts = parts
    const { schema, partition, shared } = parts
    this.#common = lockOf(schema, partition)
    this.#own = shared ? lockOf(schema, this.#name) : this.#common
  }

  /** @throws LorekeepError `LK_STORAGE_LOCKED` where somebody else has it */
  static async open(parts: Parts): Promise<Writer> {
    const writer = new Writer(parts)
    const { servers, schema, partition, shared } = parts
    const connection = await servers.connect()
    try {
      await writer.#acquire(connection)
      const writers = writersOf(schema)
      // Of the owner before.
      const gone = shared ? 'NOT shared' : 'true'
      await connection.run(`DELETE FROM ${writers} WHERE partition = $1 AND ${gone}`, [partition])
      if (shared) await removeEnded(connection, schema, partition)
      await connection.run(`INSERT INTO ${writers} VALUES ($2, $1, $3, 0, '{}', '{}', now())`, [
        partition,
        writer.#name,
        shared,
      ])
      await writer.#isolate(connection)
      writer.#connection = connection
      return writer
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /**
   * Carries a group out, whatever becomes of the connection meanwhile, for as long as `retryMs`: from when something
   * first fails, or where the group before it was given up, from when it was `called`.
   * @throws LorekeepError `LK_STORAGE_UNAVAILABLE` where it was not carried out; any other where it may have been
   */
  async commit(group: Group, called: number): Promise<Refused> {
    const { retryMs } = this.#parts
    // Who has waited for one that failed has had his time.
    if (this.#away !== undefined && performance.now() > called + retryMs) throw this.#away
    const sequence = ++this.#sequence
    let until = this.#away === undefined ? undefined : called + retryMs
    let isSent = false
    for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
      let isAsked = false
      try {
        if (this.#connection?.isLost === true) this.#drop()
        const connection = this.#connection ?? (await this.#reconnect())
        const noted = isSent ? await this.#note(connection) : undefined
        isAsked = noted?.sequence !== sequence
        isSent = true
        const refused = isAsked ? await this.#send(connection, group, sequence) : noted!.refused
        assertConfirmed(connection)
        this.#acknowledged = sequence
        this.#away = undefined
        return refused
      } catch (error) {
        if (isLost(error)) this.#drop()
        // An error of the statement undoes it. Who is refused a new session knows nothing of what the old one did.
        else if (isAsked) isSent = false
        if (error === this.#ended) throw isSent ? inDoubt(error) : translate(error)
        const isPassing = isLost(error) || isUndone(error) || hasCode(error, 'LK_STORAGE_LOCKED')
        if (!isSent && !isPassing) throw translate(error)
        const now = performance.now()
        until ??= now + retryMs
        if (now >= until || this.#closing.signal.aborted) {
          if (isLost(error)) this.#away = translate(error)
          if (!isSent) throw translate(error)
          this.#decide()
          throw inDoubt(error)
        }
        if (!isUndone(error)) await wait(pause)
      }
    }
  }

  /**
   * @throws where nobody may read: what of a group happened is not known, or whether somebody else has the partition
   * by now, and `ConnectionLost` where that is being found out
   */
  assertReadable(): void {
    if (this.#ended !== undefined) throw this.#ended
    if (this.#deciding !== undefined) {
      const detail = 'the connection to PostgreSQL is lost, and with it what became of a write'
      throw new LorekeepError('LK_STORAGE_UNAVAILABLE', detail)
    }
    const connection = this.#connection
    if (connection?.isLost === false && this.#parts.servers.isOfNewest(connection)) return
    this.#drop()
    this.#reconnect().catch(() => undefined)
    const told = this.#failure instanceof Error ? this.#failure.message : 'it is made anew'
    throw new ConnectionLost(`the session that has the lock is lost: ${told}`)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#deciding
    await this.#reconnecting?.catch(() => undefined)
    const connection = this.#connection
    this.#connection = undefined
    const { schema } = this.#parts
    // The session ends with its connection; so that the next owner need not wait for that.
    await connection
      ?.run(`DELETE FROM ${writersOf(schema)} WHERE writer = $1`, [this.#name])
      .then(() => connection.run('SELECT pg_advisory_unlock_all()'))
      .catch(() => undefined)
    connection?.close()
  }

  async #send(connection: Connection, group: Group, sequence: number): Promise<Refused> {
    const { write, append } = this.#parts.statements
    const { required, stored, deleted } = group
    const [storedKeys, values, deletedKeys] = [
      byteaArray(stored.keys),
      byteaArray(stored.values),
      byteaArray(deleted.keys),
    ]
    const head = [this.#name, sequence]
    if (required.keys.length === 0) {
      await connection.run(append, [...head, storedKeys, values, deletedKeys])
      return new Map()
    }
    const rows = await connection.run<[number, number]>(write, [
      ...head,
      int4Array(required.writes),
      int4Array(required.places),
      byteaArray(required.keys),
      byteaArray(required.values),
      int4Array(stored.writes),
      storedKeys,
      values,
      int4Array(deleted.writes),
      deletedKeys,
    ])
    return new Map(rows)
  }

  async #touch(connection: Connection): Promise<void> {
    const text = `UPDATE ${writersOf(this.#parts.schema)} SET written = now() WHERE writer = $1`
    await connection.run(text, [this.#name])
  }

  /** Connects anew, and has the lock when it returns: what a former session did, or not, is decided. */
  #reconnect(): Promise<Connection> {
    this.#reconnecting ??= this.#connectAnew()
      .then((connection) => {
        this.#failure = undefined
        return (this.#connection = connection)
      })
      .catch((error: unknown) => {
        this.#failure = error
        throw error
      })
      .finally(() => (this.#reconnecting = undefined))
    return this.#reconnecting
  }

  async #connectAnew(): Promise<Connection> {
    if (this.#ended !== undefined) throw this.#ended
    const connection = await this.#parts.servers.connect()
    try {
      // The session before may be there yet, and wait for what is not told any more.
      await this.#acquire(connection, () => this.#endFormer(connection))
      const { sequence } = await this.#note(connection)
      if (sequence < this.#acknowledged) {
        // The new primary is a standby that had not been waited for.
        const detail = `PostgreSQL has lost what it had acknowledged: the last write it knows is ${sequence}, not ${this.#acknowledged}`
        throw (this.#ended = new LorekeepError('LK_STORAGE_FAILED', detail))
      }
      // What it sees may be on no standby yet. A commit that comes after all of it waits for one.
      await this.#touch(connection)
      assertConfirmed(connection)
      await this.#isolate(connection)
    } catch (error) {
      connection.close()
      throw error
    }
    return connection
  }

  /** What writers require of each other's keys holds as if they had written one after the other. */
  async #isolate(connection: Connection): Promise<void> {
    if (!this.#parts.shared) return
    await connection.run('SET default_transaction_isolation = serializable')
  }

  #drop(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  /** Until a new session has the lock, reads could tell what is not so in the end. */
  #decide(): void {
    this.#deciding ??= this.#decideSoon().finally(() => (this.#deciding = undefined))
  }

  async #decideSoon(): Promise<void> {
    while (this.#connection === undefined && !this.#closing.signal.aborted) {
      await this.#reconnect().catch(() => undefined)
      await wait(longestPauseMs, undefined, { signal: this.#closing.signal }).catch(() => undefined)
    }
  }

  /** @throws LorekeepError `LK_STORAGE_LOCKED` where somebody else has a lock, and keeps it */
  async #acquire(connection: Connection, free?: () => Promise<unknown>): Promise<void> {
    const { shared } = this.#parts
    if (shared) await this.#lock(connection, 'pg_try_advisory_lock_shared', this.#common)
    await this.#lock(connection, 'pg_try_advisory_lock', this.#own, free)
    this.#processId = connection.processId
  }

  async #lock(
    connection: Connection,
    how: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
    lock: string,
    free?: () => Promise<unknown>,
  ): Promise<void> {
    const until = performance.now() + ownerGoesMs
    for (;;) {
      const [row] = await connection.run<[boolean]>(`SELECT ${how}($1::int8)`, [lock])
      if (row?.[0] === true) return
      if (performance.now() > until) throw await this.#locked(connection)
      await free?.()
      await wait(firstPauseMs)
    }
  }

  async #endFormer(connection: Connection): Promise<void> {
    const text = `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE ${isLock} AND pid = $2 AND usename = current_user`
    await connection.run(text, [this.#own, this.#processId])
  }

  async #note(connection: Connection): Promise<{ sequence: number; refused: Refused }> {
    const { schema, partition } = this.#parts
    const [row] = await connection.run<Noted>(
      `SELECT sequence, refused, positions FROM ${writersOf(schema)} WHERE writer = $1`,
      [this.#name],
    )
    if (row === undefined) {
      const detail = `${partition} of the schema ${schema} was opened by somebody else while the connection was lost`
      throw (this.#ended = new LorekeepError('LK_STORAGE_UNAVAILABLE', detail))
    }
    const [sequence, refused, positions] = row
    const places = refused.map((n, at) => [n, positions[at] as number] as const)
    return { sequence: Number(sequence), refused: new Map(places) }
  }

  async #locked(connection: Connection): Promise<LorekeepError> {
    const { schema, partition } = this.#parts
    const [row] = await connection.run<[number, string | null]>(
      `SELECT pid, host(client_addr) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE ${isLock}`,
      [this.#common],
    )
    const who = row === undefined ? 'somebody else' : `session ${row[0]} (${row[1] ?? 'local'})`
    const detail = `${who} has ${partition} of the schema ${schema} open`
    return new LorekeepError('LK_STORAGE_LOCKED', detail, { details: { schema, partition } })
  }
}

/** Of a shared partition, who has ended without a word. Who was silent for so long, and is there, has its lock. */
async function removeEnded(
  connection: Connection,
  schema: string,
  partition: string,
): Promise<void> {
  const writers = writersOf(schema)
  const silent = await connection.run<[string]>(
    `SELECT writer FROM ${writers} WHERE partition = $1 AND written < now() - interval '30 days'`,
    [partition],
  )
  for (const [name] of silent) {
    const lock = lockOf(schema, name)
    const [row] = await connection.run<[boolean]>('SELECT pg_try_advisory_lock($1::int8)', [lock])
    if (row?.[0] !== true) continue
    await connection.run(`DELETE FROM ${writers} WHERE writer = $1`, [name])
    await connection.run('SELECT pg_advisory_unlock($1::int8)', [lock])
  }
}

/** @throws where somebody has ended the wait for a standby: the server tells of a commit then, which may be lost yet */
function assertConfirmed(connection: Connection): void {
  if (connection.isDoubted) throw new ConnectionLost('no standby has confirmed the write')
}

function inDoubt(cause: unknown): LorekeepError {
  const told = cause instanceof Error ? cause.message : String(cause)
  const detail = `PostgreSQL: ${told}; the write may have happened`
  return new LorekeepError('LK_STORAGE_FAILED', detail, { cause })
}
