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

/** What became of connecting to all hosts. */
interface Look {
  readonly opened: readonly PromiseSettledResult<Connection>[]
  /** The one of the newest timeline of those that take writes; connections to others are closed. */
  readonly primary: { readonly at: number; readonly connection: Connection } | undefined
}

export class Servers {
  readonly #driver: Driver
  readonly #configs: readonly ClientConfig[]
  readonly #timeoutMs: number
  /** Where the primary was last. */
  #current = 0
  /** The newest timeline that was seen: who is behind it was a primary once. */
  #timeline = 0
  /** One at a time, for all who wait. */
  #looking: Promise<Look> | undefined

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
    const { opened, primary } = await this.#look()
    if (primary !== undefined) return primary.connection
    // A refusal (of a password) says more than that a host is gone.
    const errors = opened.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    const refusal = errors.find((error) => !isLost(error))
    if (refusal !== undefined) throw refusal
    throw new ConnectionLost(`none of ${opened.length} servers is a primary`, {
      cause: errors[0],
    })
  }

  async #look(): Promise<Look> {
    const opened = await Promise.allSettled(this.#configs.map((_, at) => this.#open(at)))
    let primary: Look['primary']
    for (const [at, outcome] of opened.entries()) {
      if (outcome.status === 'rejected') continue
      const connection = outcome.value
      if (this.#isPrimary(connection)) {
        primary?.connection.close()
        primary = { at, connection }
      } else connection.close()
    }
    if (primary !== undefined) this.#current = primary.at
    return { opened, primary }
  }

  /**
   * Of a session of the host that has not answered for a while: why it is not going to, where another server is the
   * primary by now. That the host takes no connection does not say so: it may be busy, and the only one.
   */
  async #lossOf(at: number, timeline: number): Promise<ConnectionLost | undefined> {
    if (timeline === this.#timeline) {
      this.#looking ??= this.#lookOnly().finally(() => (this.#looking = undefined))
      const { opened, primary } = await this.#looking
      const outcome = opened[at]!
      // Not where it refuses, which is an answer.
      const isSilent = outcome.status === 'rejected' && outcome.reason instanceof ConnectionLost
      const isElsewhere = primary !== undefined && primary.at !== at
      if (timeline === this.#timeline && !(isSilent && isElsewhere)) return undefined
    }
    return new ConnectionLost('the server has not answered, and another one is the primary')
  }

  async #lookOnly(): Promise<Look> {
    const look = await this.#look()
    look.primary?.connection.close()
    return look
  }

  #isPrimary({ timeline }: Connection): boolean {
    if (timeline === undefined || timeline < this.#timeline) return false
    this.#timeline = timeline
    return true
  }

  #open(at: number): Promise<Connection> {
    const loss = (timeline: number) => this.#lossOf(at, timeline)
    return Connection.open(this.#driver, this.#configs[at]!, this.#timeoutMs, loss)
  }
}
