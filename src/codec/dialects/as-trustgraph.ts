// A stored core in the dialect of the newest reference system.

import { Turns } from '../../turns.js'
import { noLimits } from '../limits.js'
import { ByteWriter } from './byte-writer.js'
import { MessageFramer } from './message-framer.js'
import { TrustgraphConverter } from './to-trustgraph.js'

/** A step that a slow reader has to take in one go: see stepsOf() of the HTTP export. */
const chunkBytes = 512 * 1024
/** What is cut into messages between two looks at whether others should have a turn. */
const stepBytes = 64 * 1024

/**
 * A stream of the specification's messages in the dialect `trustgraph-2`, in chunks of at most 512 KiB.
 * Holds one message at a time, as it is and converted. Others have turns of the event loop on the way.
 */
export async function* asTrustgraph(
  stream: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const framer = new MessageFramer({ limits: noLimits, kept: ['t', 'ge'], skipped: [] })
  const converter = new TrustgraphConverter()
  const out = new ByteWriter()
  const turns = new Turns(signal)
  for await (const step of stepsOf(stream)) {
    for (const frame of framer.push(step)) {
      for (const piece of converter.convert(frame)) {
        if (turns.isLong) await turns.pass()
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
    await turns.pass()
  }
  framer.finish()
  if (out.length > 0) yield Buffer.from(out.bytes)
}

async function* stepsOf(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length; at += stepBytes) yield chunk.subarray(at, at + stepBytes)
  }
}
