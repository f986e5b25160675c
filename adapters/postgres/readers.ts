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
    const until = performance.now() + this.#retryMs
    for (;;) {
      if (this.#isClosed) throw new LorekeepError('LK_CLOSED')
      try {
        return await this.#once(read, check)
      } catch (error) {
        if (!isLost(error) || performance.now() > until) throw translate(error)
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
  ): Promise<Result> {
    // In the order of the calls.
    if (this.#count === this.#most) await new Promise<void>((go) => this.#waiting.push(go))
    else this.#count++
    let connection: Connection | undefined
    try {
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
