// The bytes that are read, and a name for all of them before all of them were.

import { createHash } from 'node:crypto'
import { readSteps, type ByteSource } from '../byte-source.js'
import { TemporaryFile } from '../temporary-file.js'

/** Statements of a step are all there at once, and may be far longer than what says them. */
const stepBytes = 64 * 1024
const maxBytesInMemory = 4 * 1024 * 1024

/**
 * A source in steps of 64 KiB at most. Whoever asks for the digest makes it read to its end at once:
 * what was not taken yet waits in memory, or from 4 MiB on in a temporary file.
 */
export class Content {
  readonly #steps: AsyncIterator<Uint8Array, void>
  readonly #hash = createHash('sha256')
  #digest: string | undefined
  #waiting: AsyncIterator<Uint8Array, void> | undefined
  #file: TemporaryFile | undefined

  constructor(source: ByteSource) {
    this.#steps = readSteps(source, stepBytes, [])
  }

  async next(): Promise<Uint8Array | undefined> {
    const { value } = this.#waiting ? await this.#waiting.next() : await this.#read()
    return value ?? undefined
  }

  /** SHA-256 of the whole, in hexadecimal. */
  async digest(): Promise<string> {
    if (this.#digest !== undefined) return this.#digest
    const chunks: Uint8Array[] = []
    let bytes = 0
    let inFile = 0
    for (;;) {
      const { done, value } = await this.#read()
      if (!done) {
        // A copy, which slice() of a Buffer is not: a source may fill the same bytes again.
        chunks.push(Uint8Array.from(value))
        bytes += value.length
      }
      if (bytes > maxBytesInMemory || (done && this.#file)) {
        this.#file ??= await TemporaryFile.create('rdf')
        await this.#file.write(Buffer.concat(chunks.splice(0)), inFile)
        inFile += bytes
        bytes = 0
      }
      if (done) break
    }
    this.#waiting = this.#file ? stepsOfFile(this.#file, inFile) : readSteps(chunks, stepBytes, [])
    this.#digest = this.#hash.digest('hex')
    return this.#digest
  }

  async close(): Promise<void> {
    await this.#file?.close()
    await this.#steps.return?.()
  }

  async #read(): Promise<IteratorResult<Uint8Array, void>> {
    const step = await this.#steps.next()
    if (!step.done) this.#hash.update(step.value)
    return step
  }
}

async function* stepsOfFile(
  file: TemporaryFile,
  bytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes; at += stepBytes) {
    yield file.read(at, Math.min(stepBytes, bytes - at))
  }
}
