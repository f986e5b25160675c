// The protocol over the standard streams of this process, for the assistant that has started it.

import { once } from 'node:events'
import { pipeline, Transform } from 'node:stream'
import { parseJson } from '../json-text.js'
import { flaw, idOf, overfull, type Flaw } from './flaws.js'
import { wholeLines } from './lines.js'
import { loadSdk, loadStdio, type Sdk } from './peer.js'
import { createServer, type ServerOptions } from './server.js'

/** No text that a store takes is as long, as JSON. */
const maxMessageBytes = 64 * 1024 ** 2

/**
 * Resolves when the assistant has closed its end, or at the signal. Nothing else may be written to stdout. What is no
 * message is answered by an error, and the connection goes on.
 * @throws LorekeepError `LK_PEER_MISSING`
 */
export async function serveStdio(options: ServerOptions, signal: AbortSignal): Promise<void> {
  const [sdk, stdio] = await Promise.all([loadSdk(), loadStdio()])
  const { stdin, stdout } = process
  const { onError } = options
  // One for each answer that waits until there is room.
  stdout.setMaxListeners(0)
  const tooLong = flaw(sdk.INVALID_REQUEST, `a message has at most ${maxMessageBytes} bytes`)
  // The SDK copies all that it has of a line for each chunk of it: of 60 MB that took half a minute.
  const lines = wholeLines(maxMessageBytes, () => refuse(tooLong))
  const messages = new Transform({
    objectMode: true,
    transform(line: Buffer, _encoding, done) {
      const found = flawOf(sdk, line)
      if (found === undefined) done(null, line)
      else {
        refuse(found)
        done()
      }
    },
  })
  const transport = new stdio.StdioServerTransport(messages, stdout, {
    maxBufferSize: 2 * maxMessageBytes,
  })
  const served = stdio.serveStdio(() => createServer(sdk, options), { transport, onerror: onError })
  const left = once(messages, 'close', { signal }).catch(() => {})
  pipeline(stdin, lines, messages, () => {})
  await left
  await served.close()
  messages.destroy()

  function refuse(answer: Flaw): void {
    // The SDK knows no answers to nobody, which are what JSON-RPC has for this.
    transport.send({ jsonrpc: '2.0', ...answer } as never).catch(onError)
  }
}

function flawOf(sdk: Sdk, line: Buffer): Flaw | undefined {
  let message: unknown
  try {
    message = parseJson(line.toString())
  } catch {
    const isBlank = line.toString().trim() === ''
    return isBlank ? undefined : flaw(sdk.PARSE_ERROR, 'a line is no JSON')
  }
  if (Array.isArray(message)) {
    return flaw(sdk.INVALID_REQUEST, 'a line is an array: messages come one a line')
  }
  const tooMuch = overfull(sdk, message)
  if (tooMuch !== undefined) return tooMuch
  const isMessage =
    sdk.isJSONRPCRequest(message) || sdk.isJSONRPCNotification(message) || isResponse(sdk, message)
  return isMessage
    ? undefined
    : flaw(sdk.INVALID_REQUEST, 'a line is no message of JSON-RPC 2.0', idOf(message))
}

function isResponse(sdk: Sdk, message: unknown): boolean {
  return sdk.isJSONRPCResultResponse(message) || sdk.isJSONRPCErrorResponse(message)
}
