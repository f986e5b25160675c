// The bytes of an archive, which is read twice: what comes as a stream waits in a temporary file.

import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readSteps } from '../byte-source.js'
import type { ByteSource } from '../byte-source.js'
import { TemporaryFile } from '../temporary-file.js'
import type { WorkspaceSource } from './types.js'

const stepBytes = 256 * 1024

export interface Archive {
  /** All of it, in chunks that stay as they are. The first reading has to come to its end. */
  read(signal: AbortSignal | undefined): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

export async function openArchive(source: WorkspaceSource): Promise<Archive> {
  if (source instanceof Uint8Array) {
    return { read: (signal) => readSteps(source, stepBytes, [signal]), async close() {} }
  }
  if (typeof source !== 'string' && !(source instanceof URL)) return new SpooledArchive(source)
  const handle = await open(typeof source === 'string' ? source : fileURLToPath(source), 'r')
  const close = () => handle.close()
  // Behind a read that is under way: after an abort nobody waits for a pipe that is silent.
  const leave = () => void close().catch(() => {})
  try {
    if (!(await handle.stat()).isFile()) return new SpooledArchive(chunksOf(handle, null), leave)
  } catch (error) {
    await close()
    throw error
  }
  return { read: (signal) => readSteps(chunksOf(handle, 0), stepBytes, [signal]), close }
}

/** By positions it is the same file twice, whatever has its name by then. A pipe has none. */
async function* chunksOf(
  handle: FileHandle,
  from: 0 | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let position: number | null = from; ;) {
    const chunk = Buffer.allocUnsafeSlow(stepBytes)
    const { bytesRead } = await handle.read(chunk, 0, stepBytes, position)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
    if (position !== null) position += bytesRead
  }
}

class SpooledArchive implements Archive {
  readonly #source: ByteSource
  readonly #leaveSource: () => void
  #file: TemporaryFile | undefined
  #bytes = 0
  #isWhole = false

  constructor(source: ByteSource, leaveSource = () => {}) {
    this.#source = source
    this.#leaveSource = leaveSource
  }

  read(signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
    return this.#isWhole ? readSteps(this.#again(), stepBytes, [signal]) : this.#first(signal)
  }

  async *#first(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void, undefined> {
    this.#file = await TemporaryFile.create('workspace')
    for await (const step of readSteps(this.#source, stepBytes, [signal])) {
      // A source may fill the same bytes again.
      const chunk = Uint8Array.from(step)
      await this.#file.write(chunk, this.#bytes)
      this.#bytes += chunk.length
      yield chunk
    }
    this.#isWhole = true
  }

  async *#again(): AsyncGenerator<Uint8Array, void, undefined> {
    const file = this.#file as TemporaryFile
    for (let at = 0; at < this.#bytes; at += stepBytes) {
      yield file.read(at, Math.min(stepBytes, this.#bytes - at))
    }
  }

  async close(): Promise<void> {
    this.#leaveSource()
    await this.#file?.close()
  }
}
