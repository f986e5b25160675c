// Iterators of the engine that waited for what had happened, and were never heard of again.

export interface UnionIterator {
  readonly closed: boolean
  /** Another list as soon as one of them has ended. */
  readonly _sources: readonly unknown[]
  _read(count: number, done: () => void): void
  _fillBufferAsync(): void
}

/**
 * A join by hash may end while it is read. The union that read it had fewer sources then, and was at
 * the end of its round: the next one was not read, and nobody read again.
 */
export function mendUnions(prototype: UnionIterator): void {
  const read = prototype._read
  prototype._read = function (this: UnionIterator, count, done) {
    const sources = this._sources
    read.call(this, count, () => {
      done()
      if (this._sources !== sources && !this.closed) this._fillBufferAsync()
    })
  }
}

type Listener = (...args: unknown[]) => void

export interface EndingIterator {
  readonly done: boolean
  on(event: string | symbol, listener: Listener): this
  rawListeners(event: string): unknown[]
}

/**
 * What the engine counts, joins or takes away it reads to the end, and some iterators without an item
 * end before anybody reads: those of `:a :p? :b`, some of the time. Who listens then hears of it, too.
 */
export function mendEnds(prototype: EndingIterator, schedule: (task: () => void) => void): void {
  const on = prototype.on
  prototype.on = function (this: EndingIterator, event, listener) {
    on.call(this, event, listener)
    if (event === 'end' && this.done) {
      schedule(() => {
        if (this.rawListeners('end').includes(listener)) listener.call(this)
      })
    }
    return this
  }
}
