import { encodeMessage } from '../../../codec/encoder.js'
import type { CoreMessage } from '../../../types.js'

/** A core stream, as a server takes it. */
export async function* encodedMessages(
  messages: AsyncIterable<CoreMessage>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let index = 0
  for await (const message of messages) yield encodeMessage(message, index++)
}
