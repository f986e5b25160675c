// Where a backup comes from.

import { open } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readSteps } from '../byte-source.js'
import type { BackupSource } from './types.js'

/** The most bytes that are taken in one step, before an abort is looked for. */
const stepBytes = 1024 * 1024

export interface ReadableSource {
  /** Whether it can be read from its beginning again. */
  readonly isFile: boolean
  read(signal: AbortSignal | undefined): AsyncIterable<Uint8Array>
}

export async function openSource(source: BackupSource): Promise<ReadableSource> {
  if (typeof source !== 'string' && !(source instanceof URL)) {
    return { isFile: false, read: (signal) => readSteps(source, stepBytes, [signal]) }
  }
  const path = typeof source === 'string' ? source : fileURLToPath(source)
  // Before anything else: that it is not there has to be known.
  const handle = await open(path, 'r')
  const isFile = await handle
    .stat()
    .then((found) => found.isFile())
    .finally(() => handle.close())
  return { isFile, read: (signal) => readSteps(chunksOf(path), stepBytes, [signal]) }
}

/** Each chunk is good until the next: streams of Node make a buffer for each. */
async function* chunksOf(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafeSlow(stepBytes)
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, stepBytes, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}
