// Memory for blocks. None of it is ever handed over to a thread: once a buffer was detached, V8 looks at
// every access to a typed array whether that one is, and indexing takes a sixth longer.

/** In a thread whose blocks others write for it: what lies in such memory can be told without a copy. */
let isShared = false

/**
 * Buffers that no writer needs any more, for the next that does: those left to the garbage collector
 * add up to hundreds of MiB, among many small imports, before it looks for them, and memory that is new
 * costs more than what is written to it.
 */
const free: Buffer[] = []
const maxFreeBytes = 16 * 1024 * 1024
let freeBytes = 0

/** From here on blocks are made in memory that other threads may read. */
export function shareBlocks(): void {
  isShared = true
}

/** A buffer that has its memory for itself. What was in it may still be there. */
export function takeBlock(length: number): Buffer {
  const at = free.findLastIndex((block) => block.length === length)
  if (at >= 0) {
    freeBytes -= length
    return free.splice(at, 1)[0] as Buffer
  }
  return isShared ? Buffer.from(new SharedArrayBuffer(length)) : Buffer.allocUnsafeSlow(length)
}

export function giveBackBlock({ buffer }: Buffer): void {
  free.push(Buffer.from(buffer))
  freeBytes += buffer.byteLength
  // The oldest go: nobody may want their size any more.
  while (freeBytes > maxFreeBytes) freeBytes -= (free.shift() as Buffer).length
}
