// A thread's memory has an end by its resourceLimits, but for what lies in ArrayBuffers: a stream of a
// PDF, or a member of an archive, may become gigabytes there.

import { getHeapStatistics } from 'node:v8'
import { Unreadable } from './unreadable.js'

/** To ask what there is takes longer than to make a small one, so it is done once in as much of them. */
const askedBytes = 1024 * 1024

let mostBytes = Infinity
let isBound = false
let isExceeded = false
/** Made since it was asked last. */
let unaskedBytes = 0

/** All that are made from here on in this thread, of the kind that parsers grow. */
export function boundBuffers(bytes: number): void {
  mostBytes = bytes
  isExceeded = false
  if (isBound) return
  isBound = true
  for (const name of ['ArrayBuffer', 'Uint8Array', 'Uint8ClampedArray', 'Uint16Array'] as const) {
    globalThis[name] = new Proxy(globalThis[name], {
      construct: (target, args: unknown[], newTarget) => {
        check(args[0])
        return Reflect.construct(target, args, newTarget) as object
      },
    }) as never
  }
}

function check(length: unknown): void {
  if (typeof length !== 'number' || !(length > 0)) return
  unaskedBytes += length
  if (unaskedBytes < askedBytes) return
  unaskedBytes = 0
  if (length <= mostBytes && getHeapStatistics().external_memory + length <= mostBytes) return
  isExceeded = true
  throw tooMuch()
}

/** Parsers make do with what they get: of a stream that they cannot read, nothing. @throws Unreadable */
export function checkBuffers(): void {
  if (isExceeded) throw tooMuch()
}

function tooMuch(): Unreadable {
  return new Unreadable('memory', memoryMessage(mostBytes / 1024 ** 2))
}

export function memoryMessage(mb: number): string {
  return `reading it takes more than ${mb} MiB of memory (maxFileMemoryMb)`
}
