// Run by the lock tests in a worker thread: opens a partition of `workerData.directory`, posts the
// outcome, 'ok' or a code, and keeps it open until it is told to close or is terminated.

import { parentPort, workerData } from 'node:worker_threads'
import { LevelBackend } from '../../adapters/level/index.js'
import { LorekeepError } from '../../src/errors.js'

const { directory } = workerData as { directory: string }
const backend = new LevelBackend(directory)
const codeOf = (error: unknown) => (error instanceof LorekeepError ? error.code : String(error))

parentPort!.on('message', async () => {
  await backend.close()
  parentPort!.close()
})
parentPort!.postMessage(await backend.open('objects').then(() => 'ok', codeOf))
