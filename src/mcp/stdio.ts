// The protocol over the standard streams of this process, for the assistant that has started it.

import { once } from 'node:events'
import { loadSdk, loadStdio } from './peer.js'
import { createServer, type ServerOptions } from './server.js'

/** Longer messages end the connection: no text that a store takes is as long, as JSON. */
const maxMessageBytes = 64 * 1024 ** 2

/**
 * Resolves when the assistant has closed its end, or at the signal. Nothing else may be written to stdout.
 * @throws LorekeepError `LK_PEER_MISSING`
 */
export async function serveStdio(options: ServerOptions, signal: AbortSignal): Promise<void> {
  const [sdk, stdio] = await Promise.all([loadSdk(), loadStdio()])
  const { stdin, stdout } = process
  const transport = new stdio.StdioServerTransport(stdin, stdout, {
    maxBufferSize: maxMessageBytes,
  })
  const left = once(stdin, 'close', { signal }).catch(() => {})
  const served = stdio.serveStdio(() => createServer(sdk, options), {
    transport,
    onerror: options.onError,
  })
  await left
  await served.close()
}
