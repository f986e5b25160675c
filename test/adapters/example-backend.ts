import { LorekeepError } from '../../src/errors.js'
import type { Backend, Entry, Operation, Precondition } from '../../src/storage.js'
import type { PartitionName, Range, Storage, WriteOptions } from '../../src/storage.js'

// Hexadecimal strings sort as their bytes do, so plain strings can be the keys.
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (hex = '') => new Uint8Array(Buffer.from(hex, 'hex'))

export class ExampleBackend implements Backend {
  readonly shared = false
  #partitions = new Map<PartitionName, ExampleStorage>()
  #closed = false

  async open(name: PartitionName): Promise<Storage> {
    if (this.#closed) throw new LorekeepError('LK_CLOSED')
    const storage = this.#partitions.get(name)
    if (storage && !storage.closed) return storage
    return this.#partitions.set(name, new ExampleStorage()).get(name)!
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const storage of this.#partitions.values()) await storage.close()
  }

  [Symbol.asyncDispose] = () => this.close()
}

class ExampleStorage implements Storage {
  #map = new Map<string, string>()
  closed = false

  async get(key: Uint8Array) {
    const value = this.#map.get(this.#check(key))
    return value === undefined ? undefined : bytes(value)
  }

  async getBytes(key: Uint8Array, from: number, to: number) {
    const isRange =
      Number.isSafeInteger(from) && Number.isSafeInteger(to) && 0 <= from && from <= to
    if (!isRange) throw new TypeError('not a range of bytes')
    return (await this.get(key))?.subarray(from, to)
  }

  async getMany(keys: readonly Uint8Array[]) {
    this.#assertOpen()
    return Promise.all(keys.map((key) => this.get(key)))
  }

  scan({ gte, gt, lte, lt, reverse, keysOnly, limit = Infinity }: Range) {
    if (!(limit >= 0) || limit % 1) throw new TypeError('limit must be a whole number')
    const bound = (bytes?: Uint8Array) => (bytes === undefined ? bytes : hex(checked(bytes)))
    const at = { gte: bound(gte), gt: bound(gt), lte: bound(lte), lt: bound(lt) }
    const readPage = (): Entry[] => {
      this.#assertOpen()
      const inside = ([key]: [string, string]) =>
        !(key < at.gte! || key <= at.gt! || key > at.lte! || key >= at.lt!)
      const sorted = [...this.#map].filter(inside).sort(([a], [b]) => (a < b ? -1 : 1))
      const page = (reverse ? sorted.reverse() : sorted).slice(0, Math.min(limit, 1000))
      return page.map(([key, value]) => ({ key: bytes(key), value: bytes(keysOnly ? '' : value) }))
    }
    // The first page is read here, at the call; the generator's body runs later.
    const first = this.closed ? undefined : readPage()
    async function* pages(): AsyncGenerator<readonly Entry[]> {
      for (let page = first ?? readPage(); page.length > 0; page = readPage()) {
        at[reverse ? 'lt' : 'gt'] = hex(page.at(-1)!.key)
        limit -= page.length
        yield page
      }
    }
    return pages()
  }

  async write(operations: readonly Operation[], { require = [] }: WriteOptions = {}) {
    this.#assertOpen()
    const holds = (one: Precondition) => {
      const value = this.#map.get(this.#check(one.key))
      if (one.type === 'equals') return value === hex(checked(one.value))
      if (one.type === 'absent') return value === undefined
      throw new TypeError('not a precondition')
    }
    const index = require.findIndex((one) => !holds(one))
    if (index >= 0) throw new LorekeepError('LK_STORAGE_CONFLICT', '', { details: { index } })
    const next = new Map(this.#map)
    for (const one of operations) {
      if (one.type === 'put') next.set(this.#check(one.key), hex(checked(one.value)))
      else if (one.type === 'del') next.delete(this.#check(one.key))
      else throw new TypeError('not an operation')
    }
    // Built aside and swapped in at once: nobody sees half of it.
    this.#map = next
  }

  async close() {
    this.closed = true
  }

  [Symbol.asyncDispose] = () => this.close()

  #assertOpen() {
    if (this.closed) throw new LorekeepError('LK_CLOSED')
  }

  #check(key: Uint8Array) {
    this.#assertOpen()
    if (checked(key).length === 0) throw new TypeError('a key is one byte or longer')
    return hex(key)
  }
}

function checked(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new TypeError('not bytes')
}
