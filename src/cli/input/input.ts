// What a command reads: a file, or stdin.

import { closeSync, createReadStream, fstatSync, open } from 'node:fs'
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

/** `-` is stdin; `what` is what one should pipe into it. */
export async function openInput(file: string, what: string): Promise<Input> {
  if (file === '-') {
    if (process.stdin.isTTY) {
      throw new UsageError(`stdin is a terminal: name a file, or pipe ${what} into this command`)
    }
    return { stream: process.stdin, bytes: undefined }
  }
  // Opened before anything else: a file that is not there leaves no empty data directory.
  const fd = await promisify(open)(file, 'r')
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
