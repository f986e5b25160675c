// Where in a message a fault lies. Found by walking the message once more, so that those who read
// messages keep nothing for errors that rarely come.

import { LorekeepError, type ErrorCode } from '../../errors.js'
import * as msgpack from '../messagepack.js'

const { classOf, headerSizeOf, readLength } = msgpack

/** As the scanner takes them. */
const maxKeyBytes = 256

export interface Fault {
  readonly messageIndex: number
  /** In the stream. */
  readonly byteOffset: number
  /** The message, or as much of it as is here. */
  readonly message: Uint8Array
  /** The byte of it whose place is told. */
  readonly at: number
  readonly reason: string
  readonly code?: ErrorCode | undefined
}

/** An error as CoreScanner throws it. */
export function faultError(fault: Fault): LorekeepError {
  const { messageIndex, byteOffset, reason, code = 'LK_CORE_FORMAT' } = fault
  const path = pathTo(fault.message, fault.at)
  const place = `message ${messageIndex}, byte ${byteOffset}${path && ` (${path})`}`
  return new LorekeepError(code, `${place}: ${reason}`, {
    details: { messageIndex, byteOffset, errors: [{ path, message: reason }] },
  })
}

interface Open {
  readonly isMap: boolean
  left: number
  index: number
  /** `undefined` while a key is what comes next. */
  key: string | undefined
}

/** The place of the value that the byte at `target` belongs to, such as `t[5].s.v`. */
function pathTo(message: Uint8Array, target: number): string {
  const open: Open[] = []
  let at = 0
  while (at < message.length) {
    const first = message[at] as number
    const kind = classOf[first] as number
    const header = at + (headerSizeOf[first] as number)
    if (header > message.length) break
    const hasContent = kind === msgpack.STRING_CLASS || kind === msgpack.BINARY_CLASS
    const end = hasContent ? header + readLength(message, at) : header
    if (target < end || kind === msgpack.EXTENSION_CLASS) break
    const top = open.at(-1)
    const isMap = kind === msgpack.MAP_CLASS
    if (top?.isMap && top.key === undefined) {
      top.key = keyIn(message, header, end)
    } else if ((isMap || kind === msgpack.ARRAY_CLASS) && readLength(message, at) > 0) {
      open.push({ isMap, left: readLength(message, at), index: 0, key: undefined })
    } else closeFull(open)
    at = end
  }
  let path = ''
  for (const { isMap, index, key } of open.slice(1)) {
    if (!isMap) path += `[${index}]`
    else if (key !== undefined) path += `${path && '.'}${key}`
  }
  return path
}

/** Not all of one that is longer than a core takes: who stores messages skips it, whatever its length. */
function keyIn(message: Uint8Array, from: number, to: number): string {
  const key = Buffer.from(message.subarray(from, Math.min(to, from + maxKeyBytes))).toString()
  return to - from > maxKeyBytes ? `${key}…` : key
}

/** A value is complete, and with it perhaps what it is in. */
function closeFull(open: Open[]): void {
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    top.key = undefined
    top.index++
    if (--top.left > 0) return
    open.pop()
  }
}
