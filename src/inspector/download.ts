// What is read from the server onto the disk of whoever looks. Where the browser lets a page write files, nothing is
// held in memory.

import { copiedMs, createKeptFile } from './kept-files.js'
import { texts } from './texts.js'
import type { TransferOptions } from './transfer-list.js'

/** Where it is to go. Nothing is written, and no file made, before it is opened. */
export type Target = () => Promise<OpenTarget>

interface OpenTarget {
  readonly write: (chunk: Uint8Array) => Promise<unknown>
  readonly close: () => Promise<unknown>
  readonly abort: () => Promise<unknown>
}

interface FileTarget {
  createWritable(): Promise<WritableStream<Uint8Array>>
}

interface Picking {
  showSaveFilePicker?: (options: { readonly suggestedName: string }) => Promise<FileTarget>
}

/**
 * Asks for a place, as browsers allow while somebody clicks; those that allow it nowhere, or not here, have their folder
 * of downloads. `undefined` where nobody chose one.
 */
export async function chooseTarget(wanted: string): Promise<Target | undefined> {
  const name = fileName(wanted)
  const { showSaveFilePicker: pick } = globalThis as Picking
  if (pick === undefined) return () => asDownload(name)
  try {
    const file = await pick.call(globalThis, { suggestedName: name })
    return () => writing(file)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    return () => asDownload(name)
  }
}

/** All or nothing: what breaks off leaves no file. */
export async function save(
  target: Target,
  chunks: AsyncIterable<Uint8Array>,
  { onProgress }: Pick<TransferOptions, 'onProgress'>,
): Promise<string> {
  const opened = await target()
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      await opened.write(chunk)
      bytes += chunk.byteLength
      onProgress({ bytes })
    }
  } catch (error) {
    await opened.abort()
    throw error
  }
  await opened.close()
  return texts.saved
}

async function writing(file: FileTarget): Promise<OpenTarget> {
  const writer = (await file.createWritable()).getWriter()
  return {
    write: (chunk) => writer.write(chunk),
    close: () => writer.close(),
    abort: () => writer.abort(),
  }
}

/** By way of a file that is the page's own, on the disk too, where there are such: not for every page, nor everywhere. */
async function asDownload(name: string): Promise<OpenTarget> {
  try {
    const { handle, remove } = await createKeptFile(name)
    const file = await writing(handle)
    return {
      write: file.write,
      close: async () => {
        await file.close()
        hand(name, await handle.getFile())
      },
      abort: async () => {
        await file.abort()
        await remove()
      },
    }
  } catch {
    return inMemory(name)
  }
}

async function inMemory(name: string): Promise<OpenTarget> {
  const chunks: Uint8Array[] = []
  return {
    write: async (chunk) => chunks.push(chunk),
    close: async () => hand(name, new Blob(chunks as BlobPart[])),
    abort: async () => chunks.splice(0),
  }
}

/** What a file is called: in any script, without what systems do not take. */
export function fileName(wanted: string): string {
  return wanted.toWellFormed().replace(/[\\/:*?"<>|\p{Cc}]+/gu, '_')
}

/** Gives what is here already to the browser, for its folder of downloads. */
export function hand(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), copiedMs)
}
