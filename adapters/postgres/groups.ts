// Writes that wait are carried out together: one statement, one round trip, one sync.

import { hasCode, LorekeepError } from '../../src/errors.js'
import type { Operation, Precondition } from '../../src/storage.js'
import type { Group, Writer } from './writer.js'

/** What a statement carries at most; a single write may be larger. */
const mostBytes = 4 * 1024 ** 2
const mostWrites = 256

interface Waiting {
  readonly operations: readonly Operation[]
  readonly require: readonly Precondition[]
  readonly bytes: number
  readonly called: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class WriteGroups {
  readonly #writer: Writer
  /** What has to end before a write is sent. */
  readonly #before: () => Promise<unknown>
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined

  constructor(writer: Writer, before: () => Promise<unknown>) {
    this.#writer = writer
    this.#before = before
  }

  write(operations: readonly Operation[], require: readonly Precondition[]): Promise<void> {
    if (operations.length === 0 && require.length === 0 && this.#running === undefined) {
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const bytes = bytesOf(operations) + bytesOf(require)
      const called = performance.now()
      this.#waiting.push({ operations, require, bytes, called, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  async drained(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // Those of the same turn of the event loop go together.
    await undefined
    while (this.#waiting.length > 0) {
      // Taken first: a write that is called meanwhile may have to wait for more.
      const writes = this.#take()
      await this.#before()
      await this.#carryOut(writes)
    }
    // In the same step as the look at what waits: whoever comes next begins anew.
    this.#running = undefined
  }

  /** Those that wait longest, up to the first that has to do with a key of one before it. */
  #take(): Waiting[] {
    const keys = new Set<string>()
    let bytes = 0
    let count = 0
    for (const write of this.#waiting) {
      if (count === mostWrites || (count > 0 && bytes + write.bytes > mostBytes)) break
      const names = [...write.operations, ...write.require].map(({ key }) => nameOf(key))
      if (count > 0 && names.some((name) => keys.has(name))) break
      for (const name of names) keys.add(name)
      bytes += write.bytes
      count++
    }
    return this.#waiting.splice(0, count)
  }

  async #carryOut(writes: readonly Waiting[]): Promise<void> {
    try {
      const refused = await this.#writer.commit(groupOf(writes), writes.at(-1)!.called)
      for (const [n, { resolve, reject }] of writes.entries()) {
        const index = refused.get(n)
        if (index === undefined) resolve()
        else reject(conflict(index))
      }
    } catch (error) {
      // The server refuses one of them, as it does a key that is too long: the others shall not suffer.
      if (writes.length > 1 && isRefusal(error)) {
        for (const write of writes) await this.#carryOut([write])
      } else for (const { reject } of writes) reject(error)
    }
  }
}

/** Whether the server has said no to what was asked. */
function isRefusal(error: unknown): boolean {
  return hasCode(error, 'LK_STORAGE_FAILED') && typeof error.details?.['code'] === 'string'
}

function conflict(index: number): LorekeepError {
  return new LorekeepError('LK_STORAGE_CONFLICT', `precondition ${index} does not hold`, {
    details: { index },
  })
}

function groupOf(writes: readonly Waiting[]): Group {
  const group: Group = {
    required: { writes: [], places: [], keys: [], values: [] },
    stored: { writes: [], keys: [], values: [] },
    deleted: { writes: [], keys: [] },
  }
  const { required, stored, deleted } = group
  for (const [n, { operations, require }] of writes.entries()) {
    for (const [place, condition] of require.entries()) {
      required.writes.push(n)
      required.places.push(place)
      required.keys.push(condition.key)
      required.values.push(condition.type === 'equals' ? condition.value : undefined)
    }
    // One statement changes a row once.
    for (const operation of lastOnes(operations)) {
      const columns = operation.type === 'put' ? stored : deleted
      columns.writes.push(n)
      columns.keys.push(operation.key)
      if (operation.type === 'put') stored.values.push(operation.value)
    }
  }
  return group
}

/** Of operations on one key the last one, which wins. */
function lastOnes(operations: readonly Operation[]): Iterable<Operation> {
  if (operations.length < 2) return operations
  const byKey = new Map<string, Operation>()
  for (const operation of operations) byKey.set(nameOf(operation.key), operation)
  return byKey.size === operations.length ? operations : byKey.values()
}

function bytesOf(entries: readonly (Operation | Precondition)[]): number {
  let bytes = 0
  for (const entry of entries)
    bytes += entry.key.length + ('value' in entry ? entry.value.length : 0)
  return bytes
}

/** A string that is equal where the bytes are. */
function nameOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}
