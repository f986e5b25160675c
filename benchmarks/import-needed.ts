// What the import of a core cannot leave out, whatever it is written in: every byte is checked, hashed, and summed by
// pieces of 16 KiB, and lies in files of 4 MiB, each synced, four in flight.

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import xxhash from 'xxhash-wasm'
import { CoreScanner } from '../src/codec/scanner.js'
import type { CoreRef } from '../src/knowledge/types.js'
import { sumsOf } from './checked-files.js'
import * as bench from './measure.js'

const inFlight = 4
/** Slices in a file. */
const together = 4

export const importName =
  'the same checked, hashed and summed, in files of 4 MiB, each synced, 4 in flight'

const { h64Raw } = await xxhash()

/** The seconds of it. */
export function importNeeded(
  chunks: Iterable<Uint8Array>,
  core: CoreRef,
  digest: string,
): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const files = new Files(directory)
    const slices = new Slices(files)
    return bench.seconds(async () => {
      const scanner = new CoreScanner(slices, core)
      for (const chunk of chunks) {
        scanner.push(chunk)
        if (slices.takeTurn()) await turn()
        while (files.areMany) await files.written()
      }
      scanner.finish()
      slices.end()
      await files.end()
      bench.check(slices.digest() === digest, 'the digest of the files')
    })
  })
}

/** A MiB each, of what the scanner has checked. */
class Slices {
  readonly #files: Files
  readonly #hash = createHash('sha256')
  #block: Buffer = Buffer.allocUnsafeSlow(bench.MiB)
  #filled = 0
  #isTurn = false

  constructor(files: Files) {
    this.#files = files
  }

  copy(chunk: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to;) {
      const fits = Math.min(to - at, bench.MiB - this.#filled)
      this.#block.set(chunk.subarray(at, at + fits), this.#filled)
      this.#filled += fits
      at += fits
      if (this.#filled === bench.MiB) this.end()
    }
  }

  end(): void {
    const slice = this.#block.subarray(0, this.#filled)
    this.#hash.update(slice)
    sumsOf(slice, h64Raw)
    this.#files.push(slice)
    this.#block = this.#files.block()
    this.#filled = 0
    this.#isTurn = true
  }

  /** Once for each slice: files that are being written go on in turns of the event loop. */
  takeTurn(): boolean {
    const is = this.#isTurn
    this.#isTurn = false
    return is
  }

  digest(): string {
    return this.#hash.digest('hex')
  }
}

class Files {
  readonly #directory: string
  readonly #free: Buffer[] = []
  #full: Buffer[] = []
  readonly #writing = new Set<Promise<void>>()
  #count = 0

  constructor(directory: string) {
    this.#directory = directory
  }

  block(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(bench.MiB)
  }

  push(slice: Buffer): void {
    this.#full.push(slice)
    if (this.#full.length === together) this.#begin()
  }

  get areMany(): boolean {
    return this.#writing.size >= inFlight
  }

  written(): Promise<void> {
    return Promise.race(this.#writing)
  }

  async end(): Promise<void> {
    if (this.#full.length > 0) this.#begin()
    await Promise.all(this.#writing)
  }

  #begin(): void {
    const written = this.#write(this.#full).finally(() => this.#writing.delete(written))
    this.#writing.add(written)
    this.#full = []
  }

  async #write(slices: readonly Buffer[]): Promise<void> {
    const file = await open(join(this.#directory, `${this.#count++}`), 'wx')
    let at = 0
    for (const slice of slices) {
      await file.write(slice, 0, slice.length, at)
      at += slice.length
    }
    await file.datasync()
    await file.close()
    for (const { buffer } of slices) this.#free.push(Buffer.from(buffer))
  }
}
