// Turns at a name: advisory locks, which PostgreSQL gives in the order of asking, and takes back when the session
// that has one ends. One session for each turn that is had or waited for. Whoever has a turn says now and then that he
// is there: the server ends the session of one who stands still, which no end of a connection tells of.

import type { Connection } from './connection.js'
import { translate } from './failures.js'
import type { Readers } from './readers.js'
import type { Servers } from './servers.js'
import { lockOf } from './tables.js'

/** Sessions that are kept although nobody has a turn. */
const mostIdle = 4

/** After so long without a word a turn ends; and how often whoever has it says one. */
const silentMs = 1000
const beatMs = 250

// PostgreSQL 14 and later.
const asked = `SELECT set_config('statement_timeout', '0', false),
  current_setting('idle_session_timeout', true) IS NOT NULL`
const expires = `set_config('idle_session_timeout', '${silentMs}', false)`
const stays = "set_config('idle_session_timeout', '0', false)"

/** Who waits longer has lost the server without being told; it asks as long as this at most. */
const mostWaitMs = 60_000

interface Session {
  readonly connection: Connection
  /** The server can end it where nothing comes of it. */
  readonly canExpire: boolean
}

export class Turns {
  readonly #servers: Servers
  readonly #readers: Readers
  readonly #schema: string
  #idle: Session[] = []
  readonly #used = new Set<Session>()

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
    const session = await this.#session()
    const { connection, canExpire } = session
    this.#used.add(session)
    const cancel = () => void this.#cancel(connection)
    for (const signal of signals) signal.addEventListener('abort', cancel)
    try {
      check()
      const text = `SELECT pg_advisory_lock($1::int8)${canExpire ? `, ${expires}` : ''}`
      await connection.run(text, [lock], mostWaitMs)
      check()
    } catch (error) {
      // What cancels it may come late, and hit whoever has the session next.
      if (signals.some(({ aborted }) => aborted)) connection.close()
      this.#letGo(session)
      check()
      throw translate(error)
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', cancel)
    }
    const endBeats = canExpire ? beats(connection) : () => undefined
    let isHad = true
    return () => {
      if (!isHad) return
      isHad = false
      endBeats()
      void this.#unlock(session).finally(() => this.#letGo(session))
    }
  }

  /** All turns end. */
  close(): void {
    for (const { connection } of [...this.#idle, ...this.#used]) connection.close()
    this.#idle = []
  }

  async #session(): Promise<Session> {
    for (let session = this.#idle.pop(); session; session = this.#idle.pop()) {
      const { connection } = session
      if (!connection.isLost && this.#servers.isOfNewest(connection)) return session
      connection.close()
    }
    try {
      const connection = await this.#servers.connect()
      const [row] = await connection.run<[string, boolean]>(asked)
      return { connection, canExpire: row?.[1] === true }
    } catch (error) {
      throw translate(error)
    }
  }

  async #unlock({ connection, canExpire }: Session): Promise<void> {
    const text = `SELECT pg_advisory_unlock_all()${canExpire ? `, ${stays}` : ''}`
    await connection.run(text).catch(() => connection.close())
  }

  #letGo(session: Session): void {
    if (!this.#used.delete(session)) return
    if (session.connection.isLost || this.#idle.length >= mostIdle) session.connection.close()
    else this.#idle.push(session)
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

/** Says now and then that whoever has the session is there, until what is returned is called. */
function beats(connection: Connection): () => void {
  let timer: NodeJS.Timeout | undefined
  let hasEnded = false
  const wait = () => {
    if (hasEnded) return
    // Who has lost the session finds out when it gives the turn back.
    timer = setTimeout(() => void connection.run('SELECT 1').then(wait, () => undefined), beatMs)
    timer.unref()
  }
  wait()
  return () => {
    hasEnded = true
    clearTimeout(timer)
  }
}
