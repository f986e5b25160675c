// Turns at a name: advisory locks, which PostgreSQL gives in the order of asking, and takes back when the session
// that has one ends. One session for each turn that is had or waited for.

import type { Connection } from './connection.js'
import { translate } from './failures.js'
import type { Readers } from './readers.js'
import type { Servers } from './servers.js'
import { lockOf } from './tables.js'

/** Sessions that are kept although nobody has a turn. */
const mostIdle = 4

/** Who waits longer has lost the server without being told; it asks as long as this at most. */
const mostWaitMs = 60_000

export class Turns {
  readonly #servers: Servers
  readonly #readers: Readers
  readonly #schema: string
  #idle: Connection[] = []
  readonly #used = new Set<Connection>()

  constructor(servers: Servers, readers: Readers, schema: string) {
    this.#servers = servers
    this.#readers = readers
    this.#schema = schema
  }

  /** @throws LorekeepError `LK_STORAGE_*`, or the reason of one of the signals */
  async take(subject: string, signals: readonly AbortSignal[]): Promise<() => void> {
    const check = () => {
      for (const signal of signals) signal.throwIfAborted()
    }
    check()
    const lock = lockOf(this.#schema, `turn/${subject}`)
    const connection = await this.#session()
    this.#used.add(connection)
    const cancel = () => void this.#cancel(connection)
    for (const signal of signals) signal.addEventListener('abort', cancel)
    try {
      check()
      await connection.run('SELECT pg_advisory_lock($1::int8)', [lock], mostWaitMs)
      check()
    } catch (error) {
      // What cancels it may come late, and hit whoever has the session next.
      if (signals.some(({ aborted }) => aborted)) connection.close()
      this.#letGo(connection)
      check()
      throw translate(error)
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', cancel)
    }
    let isHad = true
    return () => {
      if (!isHad) return
      isHad = false
      void this.#unlock(connection).finally(() => this.#letGo(connection))
    }
  }

  /** All turns end. */
  close(): void {
    for (const connection of [...this.#idle, ...this.#used]) connection.close()
    this.#idle = []
  }

  async #session(): Promise<Connection> {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (!connection.isLost && this.#servers.isOfNewest(connection)) return connection
      connection.close()
    }
    try {
      const connection = await this.#servers.connect()
      await connection.run('SET statement_timeout = 0')
      return connection
    } catch (error) {
      throw translate(error)
    }
  }

  async #unlock(connection: Connection): Promise<void> {
    await connection.run('SELECT pg_advisory_unlock_all()').catch(() => connection.close())
  }

  #letGo(connection: Connection): void {
    if (!this.#used.delete(connection)) return
    if (connection.isLost || this.#idle.length >= mostIdle) connection.close()
    else this.#idle.push(connection)
  }

  /** A session that is only closed would wait on in the server, which does not look before it has an answer. */
  async #cancel(connection: Connection): Promise<void> {
    await this.#readers
      .with(
        (reader) => reader.run('SELECT pg_cancel_backend($1)', [connection.processId]),
        () => undefined,
      )
      .catch(() => connection.close())
  }
}
