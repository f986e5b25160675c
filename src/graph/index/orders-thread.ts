// Another thread of the same module as the one that indexes: it puts the triples of a part in order while that writes
// the part's terms. That one collects them by their subjects before: of 1,000,000 triples that takes 45 ms, the terms 50,
// and their orders 60.

import type { Worker } from 'node:worker_threads'
import { startThread } from '../../thread.js'
import { Turns } from '../../turns.js'
import { OrdersHere, rowsOf, type Orders, type Unsorted } from './orders.js'
import { RowTable } from './permutations.js'
import type { Allocate, CollectedRows, Permutation, SortedRows } from './permutations.js'

/** All arrays lie in memory that both threads have. */
export interface ToOrders {
  readonly type: 'order'
  readonly rows: CollectedRows
}

/** In this order, each once. What was sent is not changed before the next part. */
export type FromOrders =
  | { readonly type: 'rows'; readonly rows: SortedRows }
  | { readonly type: 'osp'; readonly order: Permutation }
  | { readonly type: 'pos'; readonly order: Permutation }

/** Numbers that another thread reads, too. Their memory is kept for the next part: for the collector it would be one more heap. */
class SharedNumbers {
  readonly #kept: Uint32Array[] = []
  #taken = 0

  /** All that was allocated before is free again. */
  begin(): Allocate {
    this.#taken = 0
    return (length) => {
      const place = this.#taken++
      if ((this.#kept[place]?.length ?? 0) < length) {
        this.#kept[place] = new Uint32Array(new SharedArrayBuffer(4 * length))
      }
      return (this.#kept[place] as Uint32Array).subarray(0, length).fill(0)
    }
  }
}

/** For one part after another. */
export class OrdersThread {
  #worker: Worker | undefined
  #isStarted = false
  #failure: { readonly error: unknown } | undefined
  readonly #came: FromOrders[] = []
  #wake: (() => void) | undefined
  readonly #numbers = new SharedNumbers()

  /** Where it is not there: some milliseconds before it is wanted. Where it cannot be started it is never ready. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    startThread(new URL('./index-worker.js', import.meta.url)).then(
      (worker) => {
        worker.on('message', (message: FromOrders | { readonly type: 'loaded' }) => {
          if (message.type === 'loaded') return
          this.#came.push(message)
          this.#wake?.()
        })
        worker.on('error', (error) => this.#fail(error))
        worker.on('exit', () => this.#fail(new Error('the thread that orders triples has ended')))
        worker.unref()
        this.#worker = worker
      },
      // The parts are made without it.
      () => undefined,
    )
  }

  get isReady(): boolean {
    return this.#worker !== undefined && this.#failure === undefined
  }

  /** Call where it is ready. */
  order(unsorted: Unsorted): Orders {
    this.#came.length = 0
    const rows = rowsOf(unsorted, this.#numbers.begin())
    this.#worker?.postMessage({ type: 'order', rows } satisfies ToOrders)
    return {
      rows: async () => (await this.#next('rows')).rows,
      osp: async () => (await this.#next('osp')).order,
      pos: async () => (await this.#next('pos')).order,
    }
  }

  async #next<Type extends FromOrders['type']>(
    type: Type,
  ): Promise<Extract<FromOrders, { readonly type: Type }>> {
    for (;;) {
      if (this.#failure) throw this.#failure.error
      const message = this.#came.shift()
      if (message?.type === type) return message as Extract<FromOrders, { readonly type: Type }>
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#wake?.()
  }
}

/** What the other thread does. */
export class Ordering {
  readonly #numbers = new SharedNumbers()

  async order({ rows }: ToOrders, post: (message: FromOrders) => void): Promise<void> {
    const table = () => new RowTable(rows)
    const orders = new OrdersHere(table, new Turns(undefined), this.#numbers.begin())
    post({ type: 'rows', rows: await orders.rows() })
    post({ type: 'osp', order: await orders.osp() })
    post({ type: 'pos', order: await orders.pos() })
  }
}
