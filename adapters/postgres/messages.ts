// Messages between those who share a store: NOTIFY from a session of its own. In the transactions that write it would
// make all of them commit one after the other: 4,805 commits a second of 16 clients became 397.

import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { longestMessage, type PartitionName } from '../../src/storage.js'
import type { Connection } from './connection.js'
import type { Servers } from './servers.js'
import { channelOf } from './tables.js'

/** How often a session that hears nothing is asked whether it is there. */
const lookMs = 5000
const pauseMs = 200
/** Waiting to be sent while there is no server; the oldest are forgotten. */
const mostWaiting = 10_000
const mostAtOnce = 100

type Listener = (message: Uint8Array) => void

export class Messages {
  readonly #servers: Servers
  readonly #channel: string
  /** Of this backend: it does not hear itself. */
  readonly #sender = randomBytes(9).toString('base64')
  readonly #listeners = new Map<PartitionName, Set<Listener>>()
  #waiting: string[] = []
  /** Equal ones of a transaction are told once, so each has a number. */
  #number = 0
  #connection: Connection | undefined
  #opening: Promise<void> | undefined
  #sending: Promise<void> | undefined
  #looks: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(servers: Servers, schema: string) {
    this.#servers = servers
    this.#channel = channelOf(schema)
  }

  /** Resolves when what others publish from now on is heard. */
  async open(): Promise<void> {
    this.#looks ??= setInterval(() => void this.#look(), lookMs).unref()
    await this.#session()
  }

  publish(partition: PartitionName, message: Uint8Array): void {
    if (message.length > longestMessage) {
      throw new TypeError(
        `a message has at most ${longestMessage} bytes, this one ${message.length}`,
      )
    }
    if (this.#isClosed) return
    const { buffer, byteOffset, length } = message
    const text = Buffer.from(buffer, byteOffset, length).toString('base64')
    this.#waiting.push(`${this.#sender} ${this.#number++} ${partition} ${text}`)
    if (this.#waiting.length > mostWaiting) this.#waiting.shift()
    this.#sending ??= this.#send()
  }

  subscribe(partition: PartitionName, listener: Listener): () => void {
    const listeners = this.#listeners.get(partition) ?? new Set()
    this.#listeners.set(partition, listeners)
    // Each time another one: the same function may be given twice.
    const own: Listener = (message) => listener(message)
    listeners.add(own)
    return () => void listeners.delete(own)
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#looks)
    this.#waiting = []
    this.#listeners.clear()
    this.#connection?.close()
    this.#connection = undefined
  }

  async #send(): Promise<void> {
    await undefined
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostAtOnce)
      try {
        const connection = await this.#session()
        const text = 'SELECT pg_notify($1, message) FROM unnest($2::text[]) AS given(message)'
        await connection.run(text, [this.#channel, batch])
      } catch {
        // It may have been sent, and twice is worse than never: whoever listens looks by itself now and then.
        if (!this.#isClosed) await wait(pauseMs, undefined, { ref: false })
      }
    }
    this.#sending = undefined
  }

  async #session(): Promise<Connection> {
    const known = this.#connection
    // Who was the primary once may go on, and whoever is at the new one is not heard there.
    if (known !== undefined && (known.isLost || !this.#servers.isOfNewest(known))) {
      known.close()
      this.#connection = undefined
    }
    this.#opening ??= this.#connect().finally(() => (this.#opening = undefined))
    if (this.#connection === undefined) await this.#opening
    if (this.#connection === undefined) throw new Error('closed')
    return this.#connection
  }

  async #connect(): Promise<void> {
    if (this.#connection !== undefined || this.#isClosed) return
    const connection = await this.#servers.connect()
    connection.onMessage((payload) => this.#hear(payload))
    try {
      // Nothing of a message is to be found again after a crash.
      await connection.run('SET synchronous_commit = off')
      await connection.run(`LISTEN "${this.#channel}"`)
    } catch (error) {
      connection.close()
      throw error
    }
    if (this.#isClosed) connection.close()
    else this.#connection = connection
  }

  #hear(payload: string): void {
    const [sender, , partition, text = ''] = payload.split(' ')
    if (sender === this.#sender) return
    const listeners = this.#listeners.get(partition as PartitionName)
    if (listeners === undefined || listeners.size === 0) return
    for (const listener of listeners) listener(Uint8Array.from(Buffer.from(text, 'base64')))
  }

  async #look(): Promise<void> {
    try {
      const connection = await this.#session()
      await connection.run('SELECT 1', [], lookMs)
    } catch {
      // The next look, or message, connects anew.
    }
  }
}
