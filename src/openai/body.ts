import { LorekeepError } from '../errors.js'

/**
 * The body of an answer as text. Where it is longer than `maxBytes`, it is cut or an error; the
 * rest is not read in either case.
 */
export async function readBody(
  response: Response,
  maxBytes: number,
  longer: 'cut' | 'fail' = 'fail',
): Promise<string> {
  return textOf(bounded(response, maxBytes, longer), maxBytes)
}

export async function textOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes?: number,
): Promise<string> {
  const list: Uint8Array[] = []
  for await (const chunk of chunks) list.push(chunk)
  return Buffer.concat(list).toString('utf8', 0, maxBytes)
}

/** Its chunks; the first that goes beyond `maxBytes` is the last one, or an error. */
export async function* bounded(
  response: Response,
  maxBytes: number,
  longer: 'cut' | 'fail' = 'fail',
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes && longer === 'fail') {
      const detail = `${response.url} answered more than ${maxBytes} bytes`
      throw new LorekeepError('LK_MODEL_ANSWER', detail)
    }
    yield chunk
    if (bytes > maxBytes) return
  }
}

interface BegunBody {
  /** The first character that is no white space, where it is ASCII; some servers send that meanwhile. */
  readonly first: string
  /** All of the body. */
  readonly chunks: AsyncIterable<Uint8Array>
}

export async function begunBody(body: AsyncIterable<Uint8Array>): Promise<BegunBody> {
  const iterator = body[Symbol.asyncIterator]()
  const held: Uint8Array[] = []
  let first = ''
  while (first === '') {
    const { done, value } = await iterator.next()
    if (done === true) break
    held.push(value)
    first = String.fromCharCode(value.find((byte) => byte > 0x20) ?? 0x20).trim()
  }
  return { first, chunks: rest() }

  async function* rest(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* held.splice(0)
      yield* { [Symbol.asyncIterator]: () => iterator }
    } finally {
      await iterator.return?.()
    }
  }
}
