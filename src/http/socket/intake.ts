// What comes over a socket of a message that is not whole yet: the library holds it, and tells nothing
// before its last byte. So the bytes are counted on their way, for what they take of the memory and
// for how long they take.

import type { Duplex } from 'node:stream'
import type { HeldBody } from '../body-memory.js'

/** What somebody may send before it is known who that is, in all: a token, and some. */
const maxUnknownBytes = 64 * 1024
/** As of bodies, over twice `idleTimeoutMs`. */
const minBytesPerSecond = 1024
/** Of a control frame from a client, beside its data. */
const controlBytes = 6
/** Such a frame takes no memory: that there is none is no reason to leave whoever answers a ping. */
const mostControlBytes = controlBytes + 125

export interface IntakeParts {
  readonly idleTimeoutMs: number
  /** Memory for the next message. */
  readonly open: () => HeldBody
  readonly isKnown: () => boolean
  /** Ends the connection. `error` is what the memory refused with, undefined a wrong pace or size. */
  readonly refuse: (code: number, reason: string) => void
}

export class Intake {
  readonly #parts: IntakeParts
  #memory: HeldBody
  #bytes = 0
  /** Of all messages until it is known who sends them. */
  #unknownBytes = 0
  #startedAt = 0
  #timer: NodeJS.Timeout | undefined
  #hasEnded = false

  /** Before the library listens: a message that a chunk completes comes after the chunk then. */
  constructor(raw: Duplex, parts: IntakeParts) {
    this.#parts = parts
    this.#memory = parts.open()
    raw.on('data', (chunk: Buffer) => this.#count(chunk.byteLength))
  }

  #count(bytes: number): void {
    if (this.#hasEnded) return
    const { idleTimeoutMs, isKnown, refuse } = this.#parts
    if (this.#bytes === 0) this.#startedAt = performance.now()
    this.#bytes += bytes
    if (!isKnown() && (this.#unknownBytes += bytes) > maxUnknownBytes) {
      return refuse(1008, 'a token has to come first')
    }
    try {
      if (this.#bytes > mostControlBytes) this.#memory.take(bytes)
    } catch {
      return refuse(1013, 'messages take all the memory there is for them')
    }
    const ms = performance.now() - this.#startedAt
    const least = ((ms - 2 * idleTimeoutMs) / 1000) * minBytesPerSecond
    if (this.#bytes < least) return refuse(1008, 'the message comes too slowly')
    this.resume()
  }

  /** A message is whole: what it took goes over to whoever works on it. */
  take(): HeldBody {
    const memory = this.#memory
    this.#begin()
    return memory
  }

  /** A control frame has come; they may stand inside of a message. */
  control(data: Buffer): void {
    this.#bytes -= controlBytes + data.byteLength
    if (this.#bytes > 0) return
    this.#memory.release()
    this.#begin()
  }

  #begin(): void {
    this.pause()
    this.#memory = this.#parts.open()
    this.#bytes = 0
  }

  /** Nothing is read for now: that is not the client's time. */
  pause(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  resume(): void {
    this.pause()
    if (this.#bytes === 0) return
    const { idleTimeoutMs, refuse } = this.#parts
    this.#timer = setTimeout(
      () => refuse(1008, `nothing of the message came for ${idleTimeoutMs} ms`),
      idleTimeoutMs,
    )
  }

  /** Nothing that comes later is counted: nobody would let go of it. */
  end(): void {
    this.#hasEnded = true
    this.pause()
    this.#memory.release()
  }
}
