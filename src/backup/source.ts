// Where a backup comes from.

import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readSteps } from '../byte-source.js'
import type { BackupSource } from './types.js'

/** The most bytes that are taken in one step, before an abort is looked for. */
const stepBytes = 1024 * 1024

export interface ReadableSource {
  /** Whether it can be read from its beginning again. */
  readonly isFile: boolean
  read(signal: AbortSignal | undefined): AsyncIterable<Uint8Array>
  /** To be called also where it was never read: whoever writes into a pipe waits for a reader. */
  close(): Promise<void>
}

export async function openSource(source: BackupSource): Promise<ReadableSource> {
  if (typeof source !== 'string' && !(source instanceof URL)) {
    const read = (signal?: AbortSignal) => readSteps(source, stepBytes, [signal])
    return { isFile: false, read, async close() {} }
  }
  // Before anything else: that it is not there has to be known.
  const handle = await open(typeof source === 'string' ? source : fileURLToPath(source), 'r')
  let isFile: boolean
  try {
    isFile = (await handle.stat()).isFile()
  } catch (error) {
    await handle.close()
    throw error
  }
  return {
    isFile,
    read: (signal) => readSteps(chunksOf(handle, isFile ? 0 : null), stepBytes, [signal]),
    async close() {
      const closed = handle.close()
      if (isFile) return closed
      // Behind a read that is under way: after an abort nobody waits for a pipe that is silent.
      closed.catch(() => {})
    },
  }
}

/**
 * By positions it is the same file twice, whatever has its name by then. A pipe has none. Each chunk
 * is good until the next: streams of Node make a buffer for each.
 */
async function* chunksOf(
  handle: FileHandle,
  from: 0 | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  const buffer = Buffer.allocUnsafeSlow(stepBytes)
  for (let position: number | null = from; ;) {
    const { bytesRead } = await handle.read(buffer, 0, stepBytes, position)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    if (position !== null) position += bytesRead
  }
}
