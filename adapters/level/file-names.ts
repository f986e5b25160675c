// That the files of one directory keep their names through a power loss: its sync, which begins when a file was made and
// goes on beside the writing of its bytes. Behind them it made a load of 200 documents wait a tenth longer.

import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { syncsDirectories } from './directories.js'
import { translate } from './failures.js'

export class FileNames {
  readonly #directory: string
  /** Undefined on Windows, which cannot sync a directory. */
  readonly #handle: FileHandle | undefined
  /** That was asked for and has not begun. */
  #next: Promise<void> | undefined
  #running: Promise<void> | undefined
  #failures = 0
  /** Of the last one. */
  #error: unknown

  private constructor(directory: string, handle: FileHandle | undefined) {
    this.#directory = directory
    this.#handle = handle
  }

  /** The directory is there. */
  static async open(directory: string): Promise<FileNames> {
    return new FileNames(directory, syncsDirectories ? await open(directory, 'r') : undefined)
  }

  /** Syncs that have failed. */
  get failures(): number {
    return this.#failures
  }

  /**
   * Settles, never rejects, when the names of files that were made before this call are durable, or there is a failure
   * more. Whoever asks while one sync is under way shares the next.
   */
  sync(): Promise<void> {
    if (this.#handle === undefined) return Promise.resolve()
    this.#next ??= this.#sync(this.#handle)
    return this.#next
  }

  async #sync(handle: FileHandle): Promise<void> {
    await this.#running
    this.#running = this.#next
    this.#next = undefined
    try {
      await handle.sync()
    } catch (error) {
      this.#failures++
      this.#error = error
    } finally {
      this.#running = undefined
    }
  }

  /**
   * Throws where a sync has failed since there were so many failures. Then any name may be lost that was made before
   * it, also one whose own sync has not failed, as the kernel tells of it only once.
   */
  assertDurable(failures: number): void {
    if (this.#failures > failures) throw translate(this.#error, this.#directory)
  }

  async close(): Promise<void> {
    await this.#next
    await this.#running
    await this.#handle?.close()
  }
}
