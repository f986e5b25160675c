// What an export cannot leave out, wherever it comes from: the bytes are read from files, a MiB at a time into memory
// that the reader may keep, and each piece of 16 KiB is checked. Nothing else is done here.

import { closeSync, openSync, read } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import xxhash from 'xxhash-wasm'
import { check } from './measure.js'

const pieceBytes = 16 * 1024
/** Values in a file. */
const together = 4
/** Reads that are under way. */
const ahead = 4

export const filesName = 'files of 4 MiB, read a MiB at a time and checked by XXH64'

type Hash = (bytes: Uint8Array, seed: bigint) => bigint

interface Value {
  readonly path: string
  readonly offset: number
  readonly sums: readonly bigint[]
  readonly length: number
}

export class CheckedFiles {
  readonly #values: readonly Value[]
  readonly #hash: Hash

  private constructor(values: readonly Value[], hash: Hash) {
    this.#values = values
    this.#hash = hash
  }

  static async write(directory: string, slices: readonly Buffer[]): Promise<CheckedFiles> {
    const { h64Raw } = await xxhash()
    const values: Value[] = []
    for (let first = 0; first < slices.length; first += together) {
      const path = join(directory, `values-${first}`)
      const file = await open(path, 'wx')
      let offset = 0
      for (const slice of slices.slice(first, first + together)) {
        await file.write(slice, 0, slice.length, offset)
        values.push({ path, offset, sums: sumsOf(slice, h64Raw), length: slice.length })
        offset += slice.length
      }
      await file.datasync()
      await file.close()
    }
    return new CheckedFiles(values, h64Raw)
  }

  async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    const reads: Promise<Uint8Array>[] = []
    for (let n = 0; n < this.#values.length + ahead; n++) {
      const value = this.#values[n]
      if (value !== undefined) reads.push(this.#read(value))
      if (n >= ahead) yield (await reads.shift()) as Uint8Array
    }
  }

  async #read({ path, offset, sums, length }: Value): Promise<Uint8Array> {
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
    const file = openSync(path, 'r')
    try {
      await new Promise<void>((resolve, reject) => {
        read(file, bytes, 0, length, offset, (error) => {
          if (error) reject(error)
          else resolve()
        })
      })
    } finally {
      closeSync(file)
    }
    const found = sumsOf(bytes, this.#hash)
    check(
      found.every((sum, n) => sum === sums[n]),
      'the sums of a value',
    )
    return bytes
  }
}

export function sumsOf(bytes: Uint8Array, hash: Hash): bigint[] {
  const sums: bigint[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    sums.push(hash(bytes.subarray(at, at + pieceBytes), BigInt(at)))
  }
  return sums
}
