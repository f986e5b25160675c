// The worker thread of index-thread.ts: makes indexes over a storage that lies in the main thread.

import { parentPort } from 'node:worker_threads'
import type { BlockStorage } from '../../block-writer.js'
import { giveBackBlock, shareBlocks, takeBlock } from '../../blocks.js'
import type { Operation } from '../../storage.js'
import type { FromWorker, ToWorker } from './index-thread.js'
import { blockBytes } from './layout.js'
import { writeLinks, type LinkOptions } from './links-writer.js'
import { Ordering, OrdersThread, type ToOrders } from './orders-thread.js'
import type { Many } from './part-builder.js'
import { mergeHere } from './part-merger.js'
import { PartsBuilder } from './parts-builder.js'
import { TermsKernel } from './terms-kernel.js'

if (parentPort === null) throw new Error('this is the module of a worker thread')
const port = parentPort
shareBlocks()
const post = (message: FromWorker) => port.postMessage(message)

type Answer = Extract<ToWorker, { readonly type: 'answer' }>['value']

const waiting = new Map<number, (value: Answer) => void>()
let requests = 0

function request(make: (id: number) => FromWorker): Promise<Answer> {
  const id = requests++
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    post(make(id))
  })
}

/** Failures end the thread from outside: whoever asked for the index gets them as they are. */
const storage: BlockStorage = {
  get: async (key) => (await request((id) => ({ type: 'get', id, key }))) as Uint8Array | undefined,
  write: async (operations) => {
    await request((id) => ({ type: 'write', id, operations: operations as Operation[] }))
  },
  // Copies that are left to the collector are 50 MiB before it looks for them: it sees a heap that is small.
  lender: {
    async get(key) {
      const into = takeBlock(blockBytes)
      const value = await request((id) => ({ type: 'get', id, key, into }))
      if (typeof value === 'number') return into.subarray(0, value)
      giveBackBlock(into)
      return value
    },
    giveBack(value) {
      if (value.buffer instanceof SharedArrayBuffer) giveBackBlock(Buffer.from(value.buffer))
    },
  },
}

let builder: PartsBuilder | undefined
/** One of each for all indexes: what they need is memory that is there already. */
let many: Many | undefined
const ordering = new Ordering()
/** Slices are indexed one after another. */
let last: Promise<unknown> = Promise.resolve()

port.on('message', (message: ToWorker | ToOrders) => {
  if (message.type === 'answer') {
    waiting.get(message.id)?.(message.value)
    waiting.delete(message.id)
    return
  }
  last = last.then(() => perform(message))
  // The error ends the thread, and is told to whoever started it.
  last.catch((error: unknown) => {
    throw error
  })
})

post({ type: 'ready' })

async function perform(message: Exclude<ToWorker, { type: 'answer' }> | ToOrders): Promise<void> {
  if (message.type === 'order') await ordering.order(message, (order) => port.postMessage(order))
  else if (message.type === 'source') {
    builder ??= new PartsBuilder(storage, message.id, message.source, { many: forMany() })
    builder.source(message.source)
  } else if (message.type === 'slice') {
    if (builder === undefined) throw new Error('a slice came before it was told whose it is')
    builder.push(forMany().kernel.slice(message.place, message.length))
    await builder.writeFull()
    post({ type: 'taken', place: message.place })
  } else if (message.type === 'memory') post({ type: 'memory', memory: forMany().kernel.buffer })
  else if (message.type === 'finish') {
    const parts = (await builder?.finish()) ?? []
    builder = undefined
    post({ type: 'done', parts })
  } else if (message.type === 'link') {
    const parts = await writeLinks(storage, message.parts, linking(message.minLinked))
    post({ type: 'done', parts })
  } else {
    const { id, inputs, minLinked } = message
    const part = await mergeHere(storage, id, inputs, linking(minLinked))
    post({ type: 'done', parts: part === undefined ? [] : [part] })
  }
}

function forMany(): Many {
  return (many ??= { kernel: new TermsKernel(), orders: new OrdersThread() })
}

function linking(minLinked: number): LinkOptions {
  const onProgress = (done: number, total: number) => post({ type: 'progress', done, total })
  return { minLinked, signal: undefined, onProgress }
}
