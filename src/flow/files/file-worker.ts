// The thread that files are read in (`lorekeep/file-worker`): one file after the other.

import { parentPort } from 'node:worker_threads'
import { boundBuffers, checkBuffers } from './buffers.js'
import { readFile } from './read.js'
import type { ReadAnswer, ReadRequest } from './types.js'
import { faultOf } from './unreadable.js'

const port = parentPort
if (port !== null) {
  const answer = (message: ReadAnswer) => port.postMessage(message)
  port.on('message', (request: ReadRequest) => {
    boundBuffers(request.limits.maxFileMemoryMb * 1024 ** 2)
    void read(request).then(answer)
  })
  answer({ type: 'ready' })
}

async function read(request: ReadRequest): Promise<ReadAnswer> {
  try {
    const text = await readFile(request)
    checkBuffers()
    return { type: 'text', text }
  } catch (error) {
    try {
      // Before what came of it.
      checkBuffers()
    } catch (exceeded) {
      return { type: 'fault', fault: faultOf(exceeded) }
    }
    return { type: 'fault', fault: faultOf(error) }
  }
}
