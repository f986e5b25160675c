// One session: prepared statements, rows in bulk, and whether it is still there.

import type { Client, ClientConfig } from 'pg'
import { CopyRows, type CopiedRow } from './copy-rows.js'
import { asLost, connectFailure, ConnectionLost, isTold } from './failures.js'
import type { Driver } from './peer.js'

/** A statement that the server prepares once for each session, by its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** What every statement of ours relies on, whatever the server's defaults are. */
const settings = `
  set_config('jit', 'off', false),
  set_config('enable_hashjoin', 'off', false),
  set_config('enable_mergejoin', 'off', false),
  set_config('enable_seqscan', 'off', false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('bytea_output', 'hex', false),
  set_config('client_min_messages', 'warning', false),
  set_config('tcp_keepalives_idle', '5', false),
  set_config('tcp_keepalives_interval', '2', false),
  set_config('tcp_keepalives_count', '3', false),
  CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN set_config('synchronous_commit', 'on', false) END`

// pg_walfile_name() begins with the timeline: it is one more after each promotion.
const asked = `SELECT pg_is_in_recovery(),
  CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END,
  pg_backend_pid(), ${settings}`

/** Who waits for an answer so long looks, as often, whether there is going to be one. */
const lookMs = 2000

/** Why a session of the timeline is not going to answer, where that can be told. */
type FindLoss = (timeline: number) => Promise<Error | undefined>

export class Connection {
  /** Of the server's session. */
  readonly processId: number
  /** Of the server's history, `undefined` of a standby. */
  readonly timeline: number | undefined
  /** A commit was told although no standby has it yet: somebody has ended the wait for one. */
  #isDoubted = false
  readonly #driver: Driver
  readonly #client: Client
  readonly #timeoutMs: number
  readonly #findLoss: FindLoss
  #lost: Error | undefined
  /** Resolves when the statement under way has ended. */
  #running: Promise<void> | undefined

  private constructor(
    driver: Driver,
    client: Client,
    timeoutMs: number,
    findLoss: FindLoss,
    session: { readonly processId: number; readonly timeline: number | undefined },
  ) {
    this.#driver = driver
    this.#client = client
    this.#timeoutMs = timeoutMs
    this.#findLoss = findLoss
    this.processId = session.processId
    this.timeline = session.timeline
    // Otherwise the loss of a session that does nothing would end the process.
    client.on('error', (error) => (this.#lost ??= error))
    client.on(
      'end',
      () => (this.#lost ??= new ConnectionLost('the server has closed the connection')),
    )
    client.on('notice', ({ routine }) => {
      if (routine === 'SyncRepWaitForLSN') this.#isDoubted = true
    })
  }

  static async open(
    driver: Driver,
    config: ClientConfig,
    timeoutMs: number,
    findLoss: FindLoss,
  ): Promise<Connection> {
    const client = new driver.Client(config)
    let failed: Error | undefined
    const onError = (error: Error) => (failed ??= error)
    client.on('error', onError)
    const { connectionTimeoutMillis } = config
    let timer: NodeJS.Timeout | undefined
    try {
      await client.connect()
      // The driver's own limit ends with the log-in.
      const silent = new ConnectionLost('the server does not answer')
      timer = setTimeout(() => client.connection.stream.destroy(silent), connectionTimeoutMillis)
      const { rows } = await client.query<[boolean, string | null, number]>({
        text: asked,
        rowMode: 'array',
      })
      const [isStandby, timeline, processId] = rows[0] as [boolean, string | null, number]
      const session = { processId, timeline: isStandby ? undefined : parseInt(timeline ?? '', 16) }
      return new Connection(driver, client, timeoutMs, findLoss, session)
    } catch (error) {
      destroy(client)
      throw connectFailure(failed ?? error)
    } finally {
      clearTimeout(timer)
      client.off('error', onError)
    }
  }

  get isDoubted(): boolean {
    return this.#isDoubted
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  /** Calls `listener` with what comes on the channels that the session listens to. */
  onMessage(listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload = '' }) => listener(payload))
  }

  /**
   * The rows, each an array; values of type bytea are Buffers. The session is given up where the answer takes
   * longer than `timeoutMs`, by default a little longer than the server allows a statement, and before that where
   * another server is the primary by now.
   */
  async run<Row extends unknown[]>(
    statement: Statement | string,
    values: readonly unknown[] = [],
    timeoutMs = this.#timeoutMs,
  ): Promise<Row[]> {
    const config = typeof statement === 'string' ? { text: statement } : statement
    return this.#guarded(async () => {
      const result = await this.#client.query<Row>({
        ...config,
        values: values as unknown[],
        rowMode: 'array',
      })
      return result.rows
    }, timeoutMs)
  }

  /** The rows of a query that has no parameters: those of large values come several times as fast as by run(). */
  async copy(query: string): Promise<readonly CopiedRow[]> {
    return this.#guarded(async () => {
      const rows = new CopyRows()
      const stream = this.#client.query(
        this.#driver.copyTo(`COPY (${query}) TO STDOUT (FORMAT binary)`),
      )
      for await (const piece of stream) rows.push(piece as Buffer)
      return rows.finish()
    }, this.#timeoutMs)
  }

  /** Without a word to whoever waits for an answer; they are told that it is lost. */
  close(): void {
    this.#end(new ConnectionLost('the connection was closed'))
  }

  /** One after the other: version 9 of the driver is to refuse a statement while there is another. */
  async #guarded<Result>(work: () => Promise<Result>, timeoutMs: number): Promise<Result> {
    while (this.#running !== undefined) await this.#running
    if (this.#lost !== undefined) throw asLost(this.#lost)
    let end: () => void = () => undefined
    this.#running = new Promise((resolve) => (end = resolve))
    const stopWatching = this.#watch(timeoutMs)
    try {
      return await work()
    } catch (error) {
      if (isTold(error) && (await this.#goesOn(error))) throw error
      const lost = asLost(isTold(error) ? error : (this.#lost ?? error))
      this.#end(lost)
      throw lost
    } finally {
      stopWatching()
      this.#running = undefined
      end()
    }
  }

  /**
   * Ends the session where an answer is not going to come, until what is returned is called. The driver's own limit
   * (query_timeout) goes on counting after a COPY has ended.
   */
  #watch(timeoutMs: number): () => void {
    const until = performance.now() + timeoutMs
    let isWaiting = true
    let timer: NodeJS.Timeout
    const look = () => {
      if (performance.now() >= until) {
        this.#end(new ConnectionLost(`the server has not answered for ${timeoutMs} ms`))
        return
      }
      wait()
      void this.#findLoss(this.timeline ?? 0).then((loss) => {
        if (isWaiting && loss !== undefined) this.#end(loss)
      })
    }
    const wait = () => {
      timer = setTimeout(look, Math.min(lookMs, Math.ceil(until - performance.now())))
    }
    wait()
    return () => {
      isWaiting = false
      clearTimeout(timer)
    }
  }

  /** A session goes on after an error, not after what is fatal. */
  async #goesOn(error: unknown): Promise<boolean> {
    const { severity } = error as { severity: string }
    if (['ERROR', 'FATAL', 'PANIC'].includes(severity)) return severity === 'ERROR'
    // In the language of the server, which only an administrator may change.
    return this.#client.query('SELECT').then(
      () => true,
      () => false,
    )
  }

  #end(error: Error): void {
    this.#lost ??= error
    destroy(this.#client)
  }
}

/** At once. end() waits for the server, which may be gone. */
function destroy(client: Client): void {
  client.on('error', () => undefined)
  client.connection.stream.destroy()
}
