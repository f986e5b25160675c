// A core onto the disk of whoever looks. Where a browser can write files piece by piece nothing is held in memory.

import type { RemoteLorekeep } from '../client/index.js'
import type { CoreRef } from '../knowledge/types.js'
import { texts } from './texts.js'
import type { TransferOptions } from './transfers.js'

interface FileTarget {
  createWritable(): Promise<WritableStream<Uint8Array>>
}

interface Picking {
  showSaveFilePicker?: (options: { readonly suggestedName: string }) => Promise<FileTarget>
}

/** @throws DOMException `AbortError` where nobody chose a file */
export async function download(
  keep: RemoteLorekeep,
  ref: CoreRef,
  { signal, onProgress }: TransferOptions,
): Promise<string> {
  const name = `${ref.id.replace(/[^\w.-]+/g, '_')}.core`
  const { showSaveFilePicker: pick } = globalThis as Picking
  const target = await (pick === undefined ? inMemory(name) : onDisk(pick, name))
  let bytes = 0
  try {
    for await (const chunk of await keep.knowledge.export(ref, { signal })) {
      await target.write(chunk)
      bytes += chunk.byteLength
      onProgress({ bytes })
    }
  } catch (error) {
    await target.abort()
    throw error
  }
  await target.close()
  return texts.saved
}

interface Target {
  readonly write: (chunk: Uint8Array) => Promise<unknown>
  readonly close: () => Promise<unknown>
  readonly abort: () => Promise<unknown>
}

async function onDisk(
  pick: NonNullable<Picking['showSaveFilePicker']>,
  name: string,
): Promise<Target> {
  const file = await pick.call(globalThis, { suggestedName: name })
  const writer = (await file.createWritable()).getWriter()
  return {
    write: (chunk) => writer.write(chunk),
    close: () => writer.close(),
    abort: () => writer.abort(),
  }
}

async function inMemory(name: string): Promise<Target> {
  const chunks: Uint8Array[] = []
  return {
    write: async (chunk) => chunks.push(chunk),
    close: async () => {
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob(chunks as BlobPart[]))
      link.download = name
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    },
    abort: async () => chunks.splice(0),
  }
}
