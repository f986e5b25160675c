import { MessageDecoder } from '../codec/decoder.js'
import { checkRef } from './records.js'
import type { CoreRef } from './types.js'

/** Whose a segment is, by its first message; `undefined` where that cannot be read. */
export async function ownerOf(
  pieces: number,
  read: (piece: number) => Promise<Uint8Array | undefined>,
): Promise<CoreRef | undefined> {
  const decoder = new MessageDecoder()
  for (let piece = 0; piece < pieces; piece++) {
    const slice = await read(piece)
    if (slice === undefined) return undefined
    try {
      for (const [, { m }] of decoder.push(slice)) return checkRef({ user: m.u, id: m.i })
    } catch {
      return undefined
    }
  }
  return undefined
}
