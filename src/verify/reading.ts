import { hasCode } from '../errors.js'
import { decodeKey, type KeyElement } from '../keys.js'
import { decodeRecord } from '../record.js'
import type { Entry, PartitionName, Range } from '../storage.js'
import type { Source } from './finding.js'
import { keyText, type Report } from './report.js'

/** Keys that are looked at one by one where a page of them cannot be read. */
const keysAtOnce = 256

/** Keys are told apart up to here where a stretch of them cannot be read. */
const boundBytes = 64

/**
 * Reads a partition past what is damaged: each entry that cannot be read is told, and the others
 * are given out.
 */
export class Reading {
  readonly partition: PartitionName
  readonly report: Report
  readonly #source: Source

  constructor(partition: PartitionName, source: Source, report: Report) {
    this.partition = partition
    this.report = report
    this.#source = source
  }

  /** `undefined` also for what cannot be read, which is told. */
  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const [value] = await this.getMany([key])
    return value
  }

  /** Some bytes of a value. All of it is read, as it may be damaged elsewhere. */
  async getBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array | undefined> {
    return (await this.get(key))?.subarray(from, to)
  }

  /** Whether there is such a key; its value is not read. */
  async has(key: Uint8Array): Promise<boolean> {
    const range = { gte: key, lte: key, keysOnly: true, limit: 1 }
    for await (const _ of this.entries(range)) return true
    return false
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    if (keys.length === 0) return []
    const values = await this.#readMany(keys)
    const bytes = values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
    this.report.read(this.partition, values.length, bytes)
    return values
  }

  async #readMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    try {
      return await this.#source.getMany(keys)
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
    }
    const values: (Uint8Array | undefined)[] = []
    for (const key of keys) values.push(await this.#readOne(key))
    return values
  }

  async #readOne(key: Uint8Array): Promise<Uint8Array | undefined> {
    try {
      return await this.#source.get(key)
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
      this.damaged(key, error.message)
      return undefined
    }
  }

  /** The record of an entry; `undefined` where it is none, which is told where `tells`. */
  record<R extends object>({ key, value }: Entry, tells = true): R | undefined {
    let problem = 'the record is no object'
    try {
      const record = decodeRecord<unknown>(value)
      if (typeof record === 'object' && record !== null) return record as R
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
      problem = error.message
    }
    if (tells) this.damaged(key, problem)
    return undefined
  }

  damaged(key: Uint8Array, message: string): void {
    this.report.error(this.partition, 'damaged', keyText(key), message)
  }

  async *entries(range: Range): AsyncGenerator<Entry, void, undefined> {
    for await (const page of this.pages(range)) yield* page
  }

  /** The entries of a range in pages, but for those that cannot be read. */
  async *pages(range: Range): AsyncGenerator<readonly Entry[], void, undefined> {
    let rest: Range | undefined = range
    while (rest !== undefined) {
      let last: Uint8Array | undefined
      try {
        for await (const page of this.#source.scan(rest)) {
          let bytes = 0
          for (const { key, value } of page) bytes += key.length + value.length
          this.report.read(this.partition, page.length, bytes)
          // The caller may change what it gets.
          last = new Uint8Array(page.at(-1)?.key ?? [])
          yield page
        }
        return
      } catch (error) {
        if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
      }
      if (last !== undefined) rest = behind(rest, last)
      rest = yield* this.#oneByOne(rest)
    }
  }

  /** Goes on key by key, until the first that cannot be read was told. Gives what is behind. */
  async *#oneByOne(range: Range): AsyncGenerator<readonly Entry[], Range | undefined, undefined> {
    const keys: Uint8Array[] = []
    for (let limit = keysAtOnce; keys.length === 0; limit >>>= 1) {
      try {
        for await (const page of this.#source.scan({ ...range, keysOnly: true, limit })) {
          for (const { key } of page) keys.push(key)
        }
        break
      } catch (error) {
        if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
        // What comes before the damage may be in one page with it.
        if (keys.length === 0 && limit === 1) return this.#behindStretch(range, error.message)
      }
    }
    for (const key of keys) {
      let value: Uint8Array | undefined
      try {
        value = range.keysOnly === true ? new Uint8Array(0) : await this.#source.get(key)
      } catch (error) {
        if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
        this.damaged(key, error.message)
        // Where much is damaged, what is told of it must not pile up here.
        yield []
        return behind(range, key)
      }
      this.report.read(this.partition, 1, value?.length ?? 0)
      if (value !== undefined) yield [{ key: new Uint8Array(key), value }]
    }
    const last = keys.at(-1)
    return last && behind(range, last)
  }

  /** Where even keys cannot be read: looks for the end of that. */
  async #behindStretch(range: Range, message: string): Promise<Range | undefined> {
    const from = range.gte ?? range.gt ?? new Uint8Array(0)
    const end = range.lt ?? range.lte ?? new Uint8Array(boundBytes).fill(0xff)
    let low = toNumber(from)
    let high = toNumber(end)
    while (high - low > 1n) {
      const middle = (low + high) / 2n
      if (await this.#canRead({ ...range, gte: toBytes(middle) })) high = middle
      else low = middle
    }
    const next = toBytes(high)
    const what = `${keyText(from)} to ${keyText(next)}`
    this.report.error(this.partition, 'damaged', what, `a stretch of keys: ${message}`)
    const { gt: _, ...rest } = range
    // Bounds that agree in their first bytes have nothing between them here.
    const isBehind = Buffer.compare(next, from) <= 0
    return isBehind || Buffer.compare(next, end) >= 0 ? undefined : { ...rest, gte: next }
  }

  async #canRead({ gt: _, ...range }: Range): Promise<boolean> {
    this.report.signal?.throwIfAborted()
    try {
      for await (const page of this.#source.scan({ ...range, keysOnly: true, limit: 1 })) {
        if (page.length > 0) return true
      }
      return true
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
      return false
    }
  }
}

/**
 * The elements of a key behind the first, which names its kind; `undefined` where they are not of
 * that shape: an `n` for each number, an `s` for each string.
 */
export function tupleOf<T extends readonly KeyElement[]>(
  key: Uint8Array,
  shape: string,
): T | undefined {
  try {
    const elements = decodeKey(key).slice(1)
    const isAsIt = elements.length === shape.length && elements.every(isOf(shape))
    return isAsIt ? (elements as unknown as T) : undefined
  } catch {
    return undefined
  }
}

function isOf(shape: string) {
  return (element: KeyElement, n: number) =>
    typeof element === (shape[n] === 'n' ? 'number' : 'string')
}

/** What kind of thing a key is of: its first element; empty where that is no string. */
export function kindOf(key: Uint8Array): string {
  const end = key.indexOf(0, 1)
  return key[0] === 2 && end > 0 ? Buffer.from(key.subarray(1, end)).toString('utf8') : ''
}

function behind({ gte: _, ...range }: Range, key: Uint8Array): Range {
  return { ...range, gt: key }
}

/** Keys as numbers of `boundBytes` bytes, in the same order. */
function toNumber(key: Uint8Array): bigint {
  const bytes = Buffer.alloc(boundBytes)
  bytes.set(key.subarray(0, boundBytes))
  return BigInt(`0x${bytes.toString('hex')}`)
}

function toBytes(number: bigint): Uint8Array {
  const hex = number.toString(16).padStart(2 * boundBytes, '0')
  return new Uint8Array(Buffer.from(hex.slice(-2 * boundBytes), 'hex'))
}
