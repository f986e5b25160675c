// The thread that chunks are read in (`lorekeep/reading-worker`): one after the other.

import { parentPort } from 'node:worker_threads'
import type { Ready } from '../../../thread.js'
import { findingsIn } from './findings.js'
import type { ReadingAnswer, ReadingRequest } from './reading-thread.js'
import { loadTagger } from './tagger.js'

if (parentPort === null) throw new Error('this is the module of a worker thread')
const port = parentPort
const post = (message: Ready | ReadingAnswer) => port.postMessage(message)

port.on('message', (request: ReadingRequest) => {
  void answer(request).then(post)
})
post({ type: 'ready' })

async function answer({ id, passage }: ReadingRequest): Promise<ReadingAnswer> {
  try {
    return { type: 'found', id, found: findingsIn(passage, await loadTagger()) }
  } catch (error) {
    return { type: 'failed', id, error }
  }
}
