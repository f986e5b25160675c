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
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes <= maxBytes) continue
    if (longer === 'cut') break
    const detail = `${response.url} answered more than ${maxBytes} bytes`
    throw new LorekeepError('LK_MODEL_ANSWER', detail)
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBytes)
}
