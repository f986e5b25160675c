// A primary and its standbys: where the one is that takes writes.

import type { ClientConfig } from 'pg'
import { Connection } from './connection.js'
import { ConnectionLost, isLost } from './failures.js'
import { urlsOf, type PostgresOptions } from './options.js'
import type { Driver } from './peer.js'

/** How long connecting may take: a host that is gone does not say so. */
const connectMs = 3000

export type ServerOptions = Required<Pick<PostgresOptions, 'url' | 'statementTimeoutMs'>> &
  Pick<PostgresOptions, 'ssl'>

export class Servers {
  readonly #driver: Driver
  readonly #configs: readonly ClientConfig[]
  readonly #timeoutMs: number
  /** Where the primary was last. */
  #current = 0
  /** The newest timeline that was seen: who is behind it was a primary once. */
  #timeline = 0

  constructor(driver: Driver, { url, statementTimeoutMs, ssl }: ServerOptions) {
    this.#driver = driver
    // The server says first that it took too long; but for the wait of a commit for a standby, which it does not limit.
    this.#timeoutMs = statementTimeoutMs + 1000
    this.#configs = urlsOf(url).map((connectionString) => ({
      connectionString,
      connectionTimeoutMillis: connectMs,
      statement_timeout: statementTimeoutMs,
      // Who is cut off without a word notices as soon as the server does, which gives the lock to somebody else.
      keepAlive: true,
      keepAliveInitialDelayMillis: 1000,
      application_name: 'lorekeep',
      ...(ssl !== undefined && { ssl }),
    }))
  }

  /**
   * Connects to the primary: where it was last, else (and at first) to the one of the newest timeline of all that answer.
   * @throws ConnectionLost where there is none; the server's own error where one refuses who asks, and none is the primary
   */
  async connect(): Promise<Connection> {
    if (this.#timeline === 0 && this.#configs.length > 1) return this.#find()
    // Also one that refuses who asks may have been the primary once.
    const known = await this.#open(this.#current).catch((error: unknown) => {
      if (this.#configs.length === 1) throw error
    })
    if (known !== undefined && this.#isPrimary(known)) return known
    known?.close()
    if (this.#configs.length === 1) throw new ConnectionLost('the server is a standby')
    return this.#find()
  }

  /** Whether it is of the primary that is known to be the last one. */
  isOfNewest({ timeline }: Connection): boolean {
    return timeline === this.#timeline
  }

  async #find(): Promise<Connection> {
    const opened = await Promise.allSettled(this.#configs.map((_, at) => this.#open(at)))
    let best: { readonly at: number; readonly connection: Connection } | undefined
    for (const [at, outcome] of opened.entries()) {
      if (outcome.status === 'rejected') continue
      const connection = outcome.value
      if (this.#isPrimary(connection)) {
        best?.connection.close()
        best = { at, connection }
      } else connection.close()
    }
    if (best !== undefined) {
      this.#current = best.at
      return best.connection
    }
    // A refusal (of a password) says more than that a host is gone.
    const errors = opened.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    const refusal = errors.find((error) => !isLost(error))
    if (refusal !== undefined) throw refusal
    throw new ConnectionLost(`none of ${opened.length} servers is a primary`, {
      cause: errors[0],
    })
  }

  #isPrimary({ timeline }: Connection): boolean {
    if (timeline === undefined || timeline < this.#timeline) return false
    this.#timeline = timeline
    return true
  }

  #open(at: number): Promise<Connection> {
    return Connection.open(this.#driver, this.#configs[at]!, this.#timeoutMs)
  }
}
