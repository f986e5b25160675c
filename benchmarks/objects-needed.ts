// What imports of products and the first questions of a store cannot leave out, whatever it is written in. Each product is
// checked and made a text, what came together is written with an entry of each index as one synced batch, and all of it has
// checksums. Whoever asks for a page and its total finds the ends of the range among sorted prices, reads the pages and blocks
// that are not in memory yet, sums them, and parses the rows.

import { crc32 } from 'node:zlib'
import { Ajv } from 'ajv'
import * as bench from './measure.js'
import { inBatches, type Product } from './objects-data.js'
import { openRaw, rawKey, rawOptions, type RawLevel } from './peers.js'

export const importName = 'the same checked by ajv, and written by classic-level in synced batches'
export const rangesName = 'the same found, read, summed and parsed, out of classic-level'

const rowsPerBlock = 128
const entriesPerPage = 1024

const isProduct = new Ajv().compile({
  type: 'object',
  required: ['id', 'name', 'category', 'price', 'stock', 'active'],
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    category: { type: 'string' },
    price: { type: 'number', minimum: 0 },
    description: { type: 'string' },
    stock: { type: 'integer', minimum: 0 },
    active: { type: 'boolean' },
  },
})

/** The seconds for all batches, one after the other. */
export function importNeeded(batches: readonly (readonly Product[])[]): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const level = await openRaw(directory, rawOptions.default)
    const time = await bench.seconds(async () => {
      let next = 0
      let keys = 0
      const ids = new Set<string>()
      for (const batch of batches) {
        for (const product of batch) {
          bench.check(isProduct(product) && !ids.has(product.id), product.id)
          ids.add(product.id)
        }
        const prices = pageOf(sorted(batch), next)
        const values = [...blocksOf(batch), prices, categoriesOf(batch, next)]
        next += batch.length
        await level.batch(
          values.map((value) => ({ type: 'put', key: rawKey(keys++), value })),
          { sync: true },
        )
      }
    })
    await level.close()
    return time
  })
}

export interface PriceRange {
  readonly low: number
  /** The first price behind it. */
  readonly high: number
  /** How many products are in it. */
  readonly total: number
}

// Keys: blocks of rows from 0 on, pages of prices from `firstPage` on, and what the pages begin with.
const firstPage = 1e6
const pagesKey = rawKey(2e6)

export async function fillNeeded(directory: string, products: readonly Product[]): Promise<void> {
  const level = await openRaw(directory, rawOptions.default)
  const { prices, rows } = sorted(products)
  const begins: number[] = []
  for (let at = 0; at < rows.length; at += entriesPerPage) {
    const page = pageOf({
      prices: prices.subarray(at, at + entriesPerPage),
      rows: rows.subarray(at, at + entriesPerPage),
    })
    await level.put(rawKey(firstPage + begins.length), page)
    begins.push(prices[at] as number)
  }
  await level.put(pagesKey, sealed([bytesOf(Float64Array.from(begins))]))
  let block = 0
  for (const batch of inBatches(products)) {
    for (const value of blocksOf(batch)) await level.put(rawKey(block++), value)
  }
  await level.close()
}

/** The seconds of the questions, each a page of `limit` and its total, once it is open. */
export async function rangesNeeded(
  directory: string,
  ranges: readonly PriceRange[],
  limit: number,
  check: (page: readonly Product[], total: number, range: PriceRange) => void,
): Promise<number> {
  const level = await openRaw(directory, rawOptions.default)
  const time = await bench.seconds(async () => {
    const begins = doublesOf(opened((await level.get(pagesKey)) as Uint8Array))
    const pages = new Kept(level, firstPage, (bytes) => {
      const prices = doublesOf(bytes.subarray(0, (bytes.length / 12) * 8))
      return { prices, rows: wordsOf(bytes.subarray(prices.byteLength)) }
    })
    const blocks = new Kept(level, 0, (bytes) => {
      const rows = bytes.readUInt32LE(0)
      return { ends: wordsOf(bytes.subarray(4, 4 + 4 * rows)), texts: bytes.subarray(4 + 4 * rows) }
    })
    for (const range of ranges) {
      const places = [range.low, range.high].map((price) => Math.max(0, below(begins, price) - 1))
      const [from, to] = places as [number, number]
      const asked = Math.ceil(limit / entriesPerPage)
      await pages.read([from, to, ...Array.from({ length: asked }, (_, n) => from + n + 1)])
      const rankOf = (page: number, price: number) =>
        page * entriesPerPage + below(pages.of(page).prices, price)
      const first = rankOf(from, range.low)
      const total = rankOf(to, range.high) - first
      const rows = Array.from({ length: Math.min(limit, total) }, (_, n) => {
        const rank = first + n
        return pages.of(Math.floor(rank / entriesPerPage)).rows[rank % entriesPerPage] as number
      })
      const blockOf = (row: number) =>
        Math.floor(row / batchRows) * blocksPerBatch + Math.floor((row % batchRows) / rowsPerBlock)
      await blocks.read(rows.map(blockOf))
      const page = rows.map((row) => {
        const { ends, texts } = blocks.of(blockOf(row))
        const n = (row % batchRows) % rowsPerBlock
        return JSON.parse(texts.toString('latin1', n === 0 ? 0 : ends[n - 1], ends[n])) as Product
      })
      check(page, total, range)
    }
  })
  await level.close()
  return time
}

const batchRows = 1000
const blocksPerBatch = Math.ceil(batchRows / rowsPerBlock)

/** Values that were read before. */
class Kept<T> {
  readonly #level: RawLevel
  readonly #first: number
  readonly #decode: (bytes: Buffer) => T
  readonly #known = new Map<number, T>()

  constructor(level: RawLevel, first: number, decode: (bytes: Buffer) => T) {
    this.#level = level
    this.#first = first
    this.#decode = decode
  }

  of(place: number): T {
    return this.#known.get(place) as T
  }

  async read(places: readonly number[]): Promise<void> {
    const missing = [...new Set(places)].filter((place) => !this.#known.has(place))
    if (missing.length === 0) return
    const values = await this.#level.getMany(missing.map((place) => rawKey(this.#first + place)))
    for (const [n, value] of values.entries()) {
      // Behind the last page there is none.
      if (value !== undefined) this.#known.set(missing[n] as number, this.#decode(opened(value)))
    }
  }
}

interface Prices {
  readonly prices: Float64Array
  /** Whose they are. */
  readonly rows: Uint32Array
}

/** In ascending order. */
function sorted(products: readonly Product[]): Prices {
  const prices = Float64Array.from(products, ({ price }) => price)
  const rows = Uint32Array.from(products, (_, n) => n)
  rows.sort((a, b) => (prices[a] as number) - (prices[b] as number))
  return { prices: prices.sort(), rows }
}

/** Of rows that are counted from `first` on. */
function pageOf({ prices, rows }: Prices, first = 0): Uint8Array {
  return sealed([bytesOf(prices), bytesOf(first === 0 ? rows : rows.map((row) => first + row))])
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function categoriesOf(batch: readonly Product[], first: number): Uint8Array {
  const rows: Record<string, number[]> = {}
  for (const [n, { category }] of batch.entries()) (rows[category] ??= []).push(first + n)
  return sealed([Buffer.from(JSON.stringify(rows))])
}

/** How many rows, where each ends, and their texts, which are ASCII. */
function* blocksOf(batch: readonly Product[]): Generator<Uint8Array> {
  for (let at = 0; at < batch.length; at += rowsPerBlock) {
    const texts = batch.slice(at, at + rowsPerBlock).map((product) => JSON.stringify(product))
    let end = 0
    const ends = Uint32Array.from([texts.length, ...texts.map(({ length }) => (end += length))])
    yield sealed([bytesOf(ends), Buffer.from(texts.join(''))])
  }
}

/** With a checksum behind it. */
function sealed(parts: readonly Uint8Array[]): Uint8Array {
  const whole = Buffer.concat([...parts, Buffer.alloc(4)])
  whole.writeUInt32LE(crc32(whole.subarray(0, -4)), whole.length - 4)
  return whole
}

function opened({ buffer, byteOffset, length }: Uint8Array): Buffer {
  const whole = Buffer.from(buffer, byteOffset, length)
  bench.check(crc32(whole.subarray(0, -4)) === whole.readUInt32LE(length - 4), 'a value')
  return whole.subarray(0, -4)
}

function doublesOf(bytes: Uint8Array): Float64Array {
  return new Float64Array(new Uint8Array(bytes).buffer)
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(new Uint8Array(bytes).buffer)
}

/** How many are less. */
function below(values: Float64Array, value: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((values[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}
