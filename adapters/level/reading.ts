// Two ways to look into a directory. An opening asks for some forty small things, one after the other, and
// another thread has to be woken for each of three or four steps of a file: names take 9 us in place of 27,
// a length 3 in place of 17, a short file 7 in place of 70, on an idle machine; on a busy one each step of
// another thread takes 150 to 250. So what is short is read on the calling thread then. Tables and logs are
// long, and syncs and changes wait for the disk.

import { closeSync, fstatSync, openSync, read, readSync, readdirSync, statSync } from 'node:fs'
import { open, readFile, readdir, stat } from 'node:fs/promises'
import { promisify } from 'node:util'

export interface Reading {
  /** Of what is in a directory. */
  names(directory: string): string[] | Promise<string[]>
  /** Of a file, in bytes. */
  length(path: string): number | Promise<number>
  content(path: string): Uint8Array | Promise<Uint8Array>
  /** Fills a buffer with the first bytes of a file; gives what there was. */
  fill(path: string, buffer: Buffer): Uint8Array | Promise<Uint8Array>
}

/** While others are served. */
export const inBackground: Reading = {
  names: (directory) => readdir(directory),
  length: async (path) => (await stat(path)).size,
  content: (path) => readFile(path),
  async fill(path, buffer) {
    await using file = await open(path, 'r')
    let at = 0
    while (at < buffer.length) {
      const { bytesRead } = await file.read(buffer, at, buffer.length - at, at)
      if (bytesRead === 0) break
      at += bytesRead
    }
    return buffer.subarray(0, at)
  },
}

/** Of a file: a longer one is read in the background. */
const shortBytes = 16 * 1024

/** At an opening. */
export const inPlace: Reading = {
  names: (directory) => readdirSync(directory),
  length: (path) => statSync(path).size,
  content(path) {
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      // A buffer of its own: its bytes are aligned.
      if (size <= shortBytes) return fillInPlace(file, Buffer.allocUnsafeSlow(size))
    } finally {
      closeSync(file)
    }
    return inBackground.content(path)
  },
  fill(path, buffer) {
    const file = openSync(path, 'r')
    if (buffer.length > shortBytes) return fillFrom(file, buffer).finally(() => closeSync(file))
    try {
      return fillInPlace(file, buffer)
    } finally {
      closeSync(file)
    }
  },
}

const readBehind = promisify(read)

/** Of 420 tables handles took 45 ms of the calling thread, and numbers of files 10. */
async function fillFrom(file: number, buffer: Buffer): Promise<Uint8Array> {
  let at = 0
  while (at < buffer.length) {
    const { bytesRead } = await readBehind(file, buffer, at, buffer.length - at, at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return buffer.subarray(0, at)
}

function fillInPlace(file: number, buffer: Buffer): Uint8Array {
  let at = 0
  while (at < buffer.length) {
    const bytesRead = readSync(file, buffer, at, buffer.length - at, at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return buffer.subarray(0, at)
}
