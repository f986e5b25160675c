// The worker thread of thread.ts: answers one query after another. The graph lies in the main thread,
// and is asked for triples by messages.

import { parentPort } from 'node:worker_threads'
import { LorekeepError } from '../errors.js'
import type { TriplePattern } from '../graph/types.js'
import type { Term, Triple } from '../types.js'
import { execute } from './answer.js'
import { loadPeer } from './peer.js'
import { chunksAhead, isGraphOpen, isToldTerm, termOf } from './thread-messages.js'
import type { Failure, FromThread, TermKind, ToThread } from './thread-messages.js'

if (parentPort === null) throw new Error('this is the module of a worker thread')
const port = parentPort
const post = (message: FromThread, transfer: ArrayBuffer[] = []) =>
  port.postMessage(message, transfer)

type Reply = Extract<ToThread, { readonly id: number }>

const waiting = new Map<number, (reply: Reply) => void>()
let requests = 0
let mayBeSent = 0
let wake = () => {}
let question: AbortController | undefined

port.on('message', (message: ToThread) => {
  if (message.type === 'ask') void answer(message)
  else if (message.type === 'leave') question?.abort(new Error('nobody waits for the answer'))
  else if (message.type === 'more') mayBeSent++
  else waiting.get(message.id)?.(message)
  wake()
})

await loadPeer().then(
  () => post({ type: 'ready' }),
  (error: unknown) => post({ type: 'failed', failure: failureOf(error) }),
)

/** It lies in the main thread, which holds one version of it for each query. */
const snapshot = { match, count, graphs, close: () => undefined }
const graph = { snapshot: async () => snapshot }

async function answer({ type: _, text, ...request }: Extract<ToThread, { type: 'ask' }>) {
  question = new AbortController()
  const { signal } = question
  mayBeSent = chunksAhead
  try {
    const answer = await execute(graph, text, { ...request, signal })
    if (answer.type === 'not-acceptable') {
      post({ type: 'not-acceptable', offered: answer.offered })
    } else {
      post({ type: 'answer', contentType: answer.contentType })
      for await (const bytes of answer.body) {
        while (mayBeSent === 0) {
          signal.throwIfAborted()
          await new Promise<void>((resolve) => (wake = resolve))
        }
        mayBeSent--
        post({ type: 'chunk', bytes })
      }
    }
  } catch (error) {
    post({ type: 'failed', failure: failureOf(error) })
  }
  // What the engine still waits for will not come.
  waiting.clear()
  post({ type: 'free' })
}

/** Nothing is asked before the first triple is wanted; a few are sent ahead of what is read. */
async function* match(pattern: TriplePattern = {}): AsyncGenerator<Triple, void> {
  const id = requests++
  let isLast = false
  try {
    let reply = ask(id, { type: 'match', id, pattern })
    while (!isLast) {
      const triples = (await reply) as Extract<Reply, { type: 'triples' }>
      isLast = triples.isLast
      // A step ahead of what is read.
      if (!isLast) reply = ask(id, { type: 'next', id })
      const { values, kinds } = triples
      let at = 0
      const take = (): Term => termOf(values[at] as string, kinds[at++] as TermKind)
      const told = (asked: Term | undefined) => (isToldTerm(asked) ? take() : (asked as Term))
      for (let n = 0; n < triples.count; n++) {
        const triple = { s: told(pattern.s), p: told(pattern.p), o: told(pattern.o) }
        if (isGraphOpen(pattern)) yield { ...triple, g: take().v }
        else yield typeof pattern.g === 'string' ? { ...triple, g: pattern.g } : triple
      }
    }
  } finally {
    waiting.delete(id)
    if (!isLast) post({ type: 'close', id })
  }
}

async function count(pattern: TriplePattern = {}): Promise<number> {
  const id = requests++
  const reply = (await ask(id, { type: 'count', id, pattern })) as Extract<Reply, { type: 'count' }>
  return reply.count
}

async function* graphs(): AsyncGenerator<string, void> {
  const id = requests++
  const reply = (await ask(id, { type: 'graphs', id })) as Extract<Reply, { type: 'graphs' }>
  yield* reply.names
}

/** A failure of the graph ends the whole question from outside, and is no reply. */
function ask(id: number, message: FromThread): Promise<Reply> {
  return new Promise((resolve) => {
    waiting.set(id, (reply) => {
      waiting.delete(id)
      resolve(reply)
    })
    post(message)
  })
}

function failureOf(error: unknown): Failure {
  if (error instanceof LorekeepError) {
    const { code, message, details } = error
    return { code, message, details }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { code: undefined, message, details: {} }
}
