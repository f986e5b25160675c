// What was on its way when the store was closed is no news.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import type { Backend, PartitionName, Storage } from '../../src/storage.js'
import { altered } from '../fixtures/altered-storage.js'
import type { KeptBackend } from '../objects/kept-backend.js'
import { Notes, running } from './running.js'

/** Writes to the queue wait from when they are held up, until the storage is said to be closed. */
class HeldUp implements Backend {
  readonly shared = false
  waiting = 0
  readonly #real = new MemoryBackend()
  #held: Promise<void> | undefined
  #fail: (error: Error) => void = () => {}

  holdUp(): void {
    this.#held = new Promise((_, reject) => (this.#fail = reject))
  }

  fail(error: Error): void {
    this.#held = undefined
    this.#fail(error)
  }

  async open(partition: PartitionName): Promise<Storage> {
    const storage = await this.#real.open(partition)
    if (partition !== 'flows') return storage
    const write: Storage['write'] = async (operations, options) => {
      if (this.#held !== undefined) {
        this.waiting++
        await this.#held
      }
      return storage.write(operations, options)
    }
    return altered(storage, { write })
  }

  close(): Promise<void> {
    return this.#real.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

for (const [code, isTold] of [
  ['LK_CLOSED', false],
  ['LK_STORAGE_FAILED', true],
] as const) {
  const name = `${code} of a renewal that ends behind close() is ${isTold ? '' : 'not '}told`
  t.test(name, async (t) => {
    const backend = new HeldUp()
    const { keep, flows, clock, errors } = await running(t, {
      backend: backend as Backend as KeptBackend,
    })
    let end = () => {}
    const notes = new Notes().on('a', () => new Promise<void>((resolve) => (end = resolve)))
    await flows.define({ id: 'f', steps: notes.steps('a') })
    await flows.load('f', { id: 'd', user: 'alice', content: 'text' })
    flows.run()
    await clock.advance(1000)
    t.strictSame(notes.runs, ['d a'])
    backend.holdUp()
    // More than a third of a lease.
    await clock.advance(20_000)
    t.ok(backend.waiting > 0, 'the renewal')
    const closing = keep.close()
    await turn()
    backend.fail(new LorekeepError(code))
    await turn()
    end()
    await closing
    t.strictSame(
      errors.map((error) => (error as LorekeepError).code),
      isTold ? [code] : [],
    )
  })
}
