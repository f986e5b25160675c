// A stored core in the dialect of the newest reference system.

import { noLimits } from '../limits.js'
import { ByteWriter } from './byte-writer.js'
import { MessageFramer } from './message-framer.js'
import { TrustgraphConverter } from './to-trustgraph.js'

/** A step that a slow reader has to take in one go: see stepsOf() of the HTTP export. */
const chunkBytes = 512 * 1024

/**
 * A stream of the specification's messages in the dialect `trustgraph-2`, in chunks of at most 512 KiB.
 * Holds one message at a time, as it is and converted.
 */
export async function* asTrustgraph(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const framer = new MessageFramer({ limits: noLimits, kept: ['t', 'ge'], skipped: [] })
  const converter = new TrustgraphConverter()
  const out = new ByteWriter()
  for await (const chunk of stream) {
    for (const frame of framer.push(chunk)) {
      for (const piece of converter.convert(frame)) {
        for (let at = 0; at < piece.length;) {
          const to = Math.min(piece.length, at + chunkBytes - out.length)
          out.copy(piece, at, to)
          at = to
          if (out.length < chunkBytes) continue
          yield Buffer.from(out.bytes)
          out.clear()
        }
      }
    }
  }
  framer.finish()
  if (out.length > 0) yield Buffer.from(out.bytes)
}
