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
  #failure: { readonly error: unknown } | undefined

  private constructor(directory: string, handle: FileHandle | undefined) {
    this.#directory = directory
    this.#handle = handle
  }

  /** The directory is there. */
  static async open(directory: string): Promise<FileNames> {
    return new FileNames(directory, syncsDirectories ? await open(directory, 'r') : undefined)
  }

  /**
   * Settles, never rejects, when the names of files that were made before this call are durable, or `assertDurable()`
   * throws. Whoever asks while one sync is under way shares the next.
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
      this.#failure ??= { error }
    } finally {
      this.#running = undefined
    }
  }

  /**
   * Throws, once, where a sync has failed: then any name may be lost that was made before, also one whose own sync has
   * not, as the kernel tells of it only once.
   */
  assertDurable(): void {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw translate(failure.error, this.#directory)
  }

  async close(): Promise<void> {
    await this.#next
    await this.#running
    await this.#handle?.close()
  }
}
