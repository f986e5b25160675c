// Sessions that read: a few, shared by all partitions. What fails because its session is lost is asked again.

import { setTimeout as wait } from 'node:timers/promises'
import { LorekeepError } from '../../src/errors.js'
import type { Connection } from './connection.js'
import { isLost, translate } from './failures.js'
import type { Servers } from './servers.js'

const pauseMs = 50

export class Readers {
  readonly #servers: Servers
  readonly #most: number
  readonly #retryMs: number
  #idle: Connection[] = []
  #count = 0
  #waiting: (() => void)[] = []
  #isClosed = false
  /** Why the last read failed, where it was for a lost connection, and when the first one did since one did not. */
  #away: { readonly error: unknown; readonly since: number } | undefined

  constructor(
    servers: Servers,
    options: { readonly connections: number; readonly retryMs: number },
  ) {
    this.#servers = servers
    this.#most = options.connections
    this.#retryMs = options.retryMs
  }

  /** What `read` makes of a session that no one else has meanwhile. `check` throws where it may not be asked any more. */
  async with<Result>(
    read: (connection: Connection) => Promise<Result>,
    check: () => void,
  ): Promise<Result> {
    const called = performance.now()
    // From when a loss is noticed: a server that says nothing takes its time.
    let until: number | undefined
    for (;;) {
      if (this.#isClosed) throw new LorekeepError('LK_CLOSED')
      try {
        const result = await this.#once(read, check, called)
        this.#away = undefined
        return result
      } catch (error) {
        if (!isLost(error)) throw translate(error)
        const now = performance.now()
        this.#away = { error, since: this.#away?.since ?? now }
        until ??= now + this.#retryMs
        if (now >= until) throw translate(error)
        await wait(pauseMs)
      }
    }
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#idle) connection.close()
    this.#idle = []
  }

  async #once<Result>(
    read: (connection: Connection) => Promise<Result>,
    check: () => void,
    called: number,
  ): Promise<Result> {
    const isFull = this.#count === this.#most
    // In the order of the calls.
    if (isFull) await new Promise<void>((go) => this.#waiting.push(go))
    else this.#count++
    let connection: Connection | undefined
    try {
      // Who has waited for others that failed has had his time.
      if (isFull && this.#away !== undefined) {
        const { error, since } = this.#away
        if (performance.now() > Math.max(called, since) + this.#retryMs) throw error
      }
      check()
      connection = this.#takeIdle() ?? (await this.#servers.connect())
      check()
      return await read(connection)
    } finally {
      if (this.#isClosed) connection?.close()
      else if (connection?.isLost === false) this.#idle.push(connection)
      const next = this.#waiting.shift()
      if (next === undefined) this.#count--
      else next()
    }
  }

  #takeIdle(): Connection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (!connection.isLost && this.#servers.isOfNewest(connection)) return connection
      connection.close()
    }
    return undefined
  }
}
