// What a command reads: a file, or stdin.

import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  open,
  openSync,
  statSync,
} from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { parseJson } from '../../json-text.js'
import { describe, UsageError } from '../output/failure.js'

export interface Input {
  readonly stream: Readable
  /** Undefined for everything that is no regular file. */
  readonly bytes: number | undefined
}

/**
 * `-` is stdin; `what` is what one should pipe into it. Without a signal it is opened where nothing is in the way of
 * Ctrl-C.
 */
export async function openInput(file: string, what: string, signal?: AbortSignal): Promise<Input> {
  if (file === '-') {
    if (process.stdin.isTTY) {
      throw new UsageError(`stdin is a terminal: name a file, or pipe ${what} into this command`)
    }
    return { stream: process.stdin, bytes: undefined }
  }
  // Opened before anything else: a file that is not there leaves no empty data directory.
  const fd = await opened(file, signal)
  const found = fstatSync(fd)
  if (found.isDirectory()) {
    closeSync(fd)
    throw new Error(`'${file}' is a directory, not ${what}: name a file`)
  }
  // As stdin is: a read of a pipe that is silent, as of a file, would keep the process alive.
  if (found.isFIFO()) {
    return { stream: new Socket({ fd, readable: true, writable: false }), bytes: undefined }
  }
  const stream = createReadStream('', { fd, highWaterMark: 256 * 1024 })
  return { stream, bytes: found.isFile() ? found.size : undefined }
}

/** To open a named pipe waits for somebody who writes, and cannot be given up: whoever is interrupted is that one. */
async function opened(file: string, signal: AbortSignal | undefined): Promise<number> {
  let timer: NodeJS.Timeout | undefined
  const release = () => {
    try {
      if (!statSync(file).isFIFO()) return
      // Refused as long as nobody waits, which may come yet.
      timer = setTimeout(release, releaseMs)
      closeSync(openSync(file, constants.O_WRONLY | constants.O_NONBLOCK))
    } catch {
      // Nor may everybody write.
    }
  }
  signal?.addEventListener('abort', release)
  try {
    return await promisify(open)(file, 'r')
  } finally {
    signal?.removeEventListener('abort', release)
    clearTimeout(timer)
  }
}

const releaseMs = 50

/** All of it, without a byte order mark. */
export async function readTextInput(file: string, what: string): Promise<string> {
  const { stream } = await openInput(file, what)
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
    .toString()
    .replace(/^\ufeff/, '')
}

/** All of it, which is JSON. */
export async function readJsonInput(file: string, what: string): Promise<unknown> {
  const text = await readTextInput(file, what)
  try {
    return parseJson(text)
  } catch (cause) {
    throw new Error(`${inputName(file)} is not JSON: ${describe(cause)}`, { cause })
  }
}

export function inputName(file: string): string {
  return file === '-' ? 'stdin' : file
}
