// The messages that come in on a stream, one a line, each in one piece.

import { Transform, type TransformCallback } from 'node:stream'

const lineFeed = 10

/**
 * A chunk for each line, with its line feed. Of one of more than `most` bytes nothing is held: it is told, and left
 * out. The last one counts only with its line feed.
 */
export function wholeLines(most: number, onTooLong: () => void): Transform {
  let parts: Buffer[] = []
  let length = 0

  function take(part: Buffer): void {
    const isTold = length > most
    length += part.length
    if (length <= most) parts.push(part)
    else if (!isTold) {
      parts = []
      onTooLong()
    }
  }

  function transform(
    this: Transform,
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: TransformCallback,
  ): void {
    let begin = 0
    for (let end; (end = chunk.indexOf(lineFeed, begin) + 1) > 0; begin = end) {
      take(chunk.subarray(begin, end))
      // A line that came in one chunk is not copied.
      if (length <= most) this.push(parts.length === 1 ? parts[0] : Buffer.concat(parts))
      parts = []
      length = 0
    }
    if (begin < chunk.length) take(chunk.subarray(begin))
    done()
  }

  return new Transform({ readableObjectMode: true, transform })
}
