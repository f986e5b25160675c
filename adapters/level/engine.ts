// One LevelDB directory that takes itself out of service after a failed write. After a write
// failed (disk full) LevelDB goes on acknowledging and drops blocks of its log at the next open:
// 462 of 500 writes acknowledged later were lost. So the first failure closes the database, and
// it is used again only when a fresh open has replayed the log.

import { Level as UniversalLevel } from 'level'
import type { ClassicLevel } from 'classic-level'
import { LorekeepError } from '../../src/errors.js'
import { closingName, removeClosing, writeClosing } from './closing.js'
import type { TableSums } from './closing.js'
import { CurrentLog } from './current-log.js'
import { assertWhole } from './damage.js'
import type { Look, Usage } from './damage.js'
import { translate } from './failures.js'
import { removeNewerManifests, settleManifest } from './newest-manifest.js'
import type { Claim } from './open-directories.js'
import type { Profile } from './profiles.js'
import { inBackground, inPlace } from './reading.js'
import type { Reading } from './reading.js'

/** In Node `level` is classic-level; its own types leave out what a browser lacks. */
export type Level = ClassicLevel<Uint8Array, Uint8Array>

const firstDelayMs = 100
const maxDelayMs = 5000

export class Engine {
  readonly path: string
  readonly #claim: Claim
  readonly #profile: Profile
  /** Of the tables that were there when it was opened. */
  readonly #tableSums: TableSums
  readonly bytesAtOpening: Usage
  #level: Level | undefined
  #log: CurrentLog
  /** Why the database is out of service. */
  #cause: unknown
  #reopening: Promise<void> | undefined
  #wake: (() => void) | undefined
  #closing = false

  private constructor(
    claim: Claim,
    profile: Profile,
    tableSums: TableSums,
    bytesAtOpening: Usage,
    { level, log }: Opened,
  ) {
    this.bytesAtOpening = bytesAtOpening
    this.path = claim.path
    this.#claim = claim
    this.#profile = profile
    this.#tableSums = tableSums
    this.#level = level
    this.#log = log
  }

  /** All names in the directory are durable by then: LevelDB syncs it with its new MANIFEST. */
  static async open(claim: Claim, profile: Profile): Promise<Engine> {
    const sums = new Map<string, number>()
    let look: Look
    try {
      // Each look may take longer than a stopped process is taken to live.
      claim.assertHeld()
      await settleManifest(claim.path, true, inPlace)
      look = await assertWhole(claim.path, { sums, reading: inPlace })
      claim.assertHeld()
      await makeReady(claim.path, look)
      claim.assertHeld()
    } catch (error) {
      throw translate(error, claim.path)
    }
    const opened = await openLevel(claim.path, profile, inPlace)
    return new Engine(claim, profile, sums, look.usage, opened)
  }

  /** The open database, or `LK_STORAGE_UNAVAILABLE`. Not to be kept over an await. */
  get level(): Level {
    if (this.#level === undefined) throw this.unavailable()
    return this.#level
  }

  /** Whether `level` can be had. */
  get works(): boolean {
    return this.#level !== undefined
  }

  unavailable(): LorekeepError {
    const reason = this.#cause instanceof Error ? `: ${this.#cause.message}` : ''
    const message = `${this.path} is out of service until it can be reopened${reason}`
    return new LorekeepError('LK_STORAGE_UNAVAILABLE', message, { cause: this.#cause })
  }

  /** Throws where the directory was moved, removed or replaced: what is written goes nowhere. */
  assertHeld(): void {
    this.#claim.assertHeld()
  }

  /** The log of the batch that was written last: nobody is told of it before its name is durable. */
  get log(): CurrentLog {
    return this.#log
  }

  /** Takes the database out of service and starts to reopen it. */
  poison(cause: unknown): void {
    if (this.#level === undefined) return
    const failed = this.#level
    this.#level = undefined
    this.#cause = cause
    this.#reopening = this.#reopen(failed)
  }

  /** Waits for reads under way. Writes are the caller's to wait for. */
  async close(): Promise<void> {
    this.#closing = true
    this.#wake?.()
    await this.#reopening
    if (this.#level === undefined) return
    await this.#level.close()
    try {
      this.#claim.assertHeld()
      // The next open would refuse what a full disk cut short in the background, where nobody was
      // told of it.
      await assertWhole(this.path, { tables: false, closing: true })
      await writeClosing(this.path, this.#tableSums)
    } catch {
      // A full disk: all is stored, and the next open looks at the logs as it does after a crash.
    }
  }

  async #reopen(failed: Level): Promise<void> {
    // LevelDB's close waits for reads under way. Should it ever fail, the directory stays locked
    // and the attempts below keep saying so.
    await failed.close().catch((error: unknown) => (this.#cause = error))
    for (let delayMs = firstDelayMs; !this.#closing; delayMs = Math.min(2 * delayMs, maxDelayMs)) {
      try {
        // An empty database in the place of the one that failed would be taken for its data.
        this.#claim.assertHeld()
        await settleManifest(this.path, false, inBackground)
        // The write that failed may be cut short at the end of a log. Tables were looked at when
        // they were opened, or are of this process.
        const look = await assertWhole(this.path, { tables: false })
        this.#claim.assertHeld()
        await makeReady(this.path, look)
        const { level, log } = await openLevel(this.path, this.#profile, inBackground)
        this.#log = log
        this.#level = level
        return
      } catch (error) {
        this.#cause = error
      }
      if (!this.#closing) await this.#pause(delayMs)
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs).unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

interface Opened {
  readonly level: Level
  readonly log: CurrentLog
}

/** What LevelDB must not meet. */
async function makeReady(path: string, { names, manifest }: Look): Promise<void> {
  if (manifest !== undefined) await removeNewerManifests(path, names, manifest)
  if (names.has(closingName)) removeClosing(path)
}

async function openLevel(path: string, profile: Profile, reading: Reading): Promise<Opened> {
  const level = new UniversalLevel<Uint8Array, Uint8Array>(path, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    // settleManifest did.
    createIfMissing: false,
    compression: profile.compression,
    writeBufferSize: profile.writeBufferBytes,
    maxFileSize: profile.maxFileBytes,
    maxOpenFiles: profile.maxOpenFiles,
    cacheSize: profile.cacheBytes,
  }) as unknown as Level
  try {
    await level.open()
    return { level, log: await CurrentLog.open(path, reading) }
  } catch (error) {
    await level.close()
    throw translate(error, path)
  }
}
