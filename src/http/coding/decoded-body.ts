// Bodies that come encoded, bounded by what comes out of them.

import { LorekeepError } from '../../errors.js'
import { checkAnnouncedLength, tooLarge } from '../body.js'
import type { BodyOptions, Call } from '../call.js'
import { codingNamed, codingsOfBodies } from './codings.js'
import type { Coding } from './codings.js'

/** A stream as it comes in, or what is in it; both are bounded. `pull` is not called before the first pull. */
export function openCoded(
  call: Pick<Call, 'headers'>,
  options: BodyOptions,
  pull: (options: BodyOptions) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const coding = codingOf(call.headers)
  if (coding === undefined) {
    checkAnnouncedLength(call, options)
    return pull(options)
  }
  // What no coding makes smaller may become a little larger in it.
  const encoded = { ...options, maxEncodedBytes: Math.ceil(options.maxBytes * 1.01) + 1024 }
  checkAnnouncedLength(call, encoded)
  return decodedBody(pull(encoded), coding, options)
}

/**
 * What a body is encoded in, undefined where that is nothing. `chunked` is how a body of unknown length travels;
 * no other transfer coding is taken off.
 * @throws LorekeepError `LK_HTTP_ENCODING`
 */
function codingOf(headers: Call['headers']): Coding | undefined {
  const { 'content-encoding': content = '', 'transfer-encoding': transfer = 'chunked' } = headers
  if (transfer.trim().toLowerCase() !== 'chunked') {
    throw new LorekeepError('LK_HTTP_ENCODING', `'${transfer}'; only chunked is taken off`)
  }
  const names = content.split(',').map((name) => name.trim().toLowerCase())
  const [name, ...more] = names.filter((name) => name !== '' && name !== 'identity')
  if (name === undefined) return undefined
  const coding = more.length === 0 ? codingNamed(name) : undefined
  if (coding !== undefined) return coding
  throw new LorekeepError('LK_HTTP_ENCODING', `'${content}'; one of ${codingsOfBodies}, or none`)
}

/**
 * What is in a body, piece by piece: what one chunk holds is asked for before the next one is, so that one of a
 * thousand times its size takes no more memory than another.
 * @throws LorekeepError too large; `LK_HTTP_REQUEST` where it is not in that coding, or ends early
 */
async function* decodedBody(
  body: AsyncIterable<Uint8Array>,
  { name, createDecoder }: Coding,
  options: BodyOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = createDecoder()
  let bytes = 0
  let failure: Error | undefined
  let hasEnded = false
  let wake = () => {}
  const onEvent = () => wake()
  decoder.on('readable', onEvent)
  decoder.on('end', () => {
    hasEnded = true
    wake()
  })
  decoder.on('error', (error) => {
    failure = error
    wake()
  })

  /** What comes out until all that was put in has been taken. */
  async function* until(isTaken: () => boolean): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const piece = decoder.read() as Uint8Array | null
      if (piece !== null) {
        bytes += piece.byteLength
        if (bytes > options.maxBytes) throw tooLarge(options)
        yield piece
        continue
      }
      if (failure !== undefined) throw broken(name, failure.message, failure)
      if (isTaken()) return
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  try {
    let given = 0
    for await (const chunk of body) {
      let isTaken = false
      given += chunk.byteLength
      decoder.write(chunk, () => {
        isTaken = true
        wake()
      })
      yield* until(() => isTaken)
    }
    decoder.end()
    yield* until(() => hasEnded)
    if (decoder.bytesWritten < given) throw broken(name, 'more follows behind its end')
  } finally {
    decoder.destroy()
  }
}

function broken(name: string, found: string, cause?: Error): LorekeepError {
  return new LorekeepError('LK_HTTP_REQUEST', `the body is not in ${name}, as it says: ${found}`, {
    cause,
  })
}
