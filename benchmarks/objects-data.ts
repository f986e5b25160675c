// The products that all stores hold: about 200 bytes of JSON each, always the same for the same
// number, so that whatever comes back can be checked without keeping it.

import { isDeepStrictEqual } from 'node:util'
import { check } from './measure.js'

export interface Product {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly price: number
  readonly description: string
  readonly stock: number
  readonly active: boolean
}

export const collection = 'products'
export const batchSize = 1000
export const indexes = ['category', 'price'] as const

/** Every field declared: what is imported is validated in full. */
export const schema = {
  name: 'product',
  fields: {
    id: { type: 'string', required: true },
    name: { type: 'string', required: true },
    category: { type: 'string', required: true },
    price: { type: 'number', required: true, min: 0 },
    description: { type: 'text' },
    stock: { type: 'integer', required: true, min: 0 },
    active: { type: 'boolean', required: true },
  },
  indexes,
}

export const categories = [
  'electronics',
  'books',
  'garden',
  'kitchen',
  'clothing',
  'toys',
  'sports',
  'music',
  'office',
  'food',
]
const materials = ['Steel', 'Oak', 'Glass', 'Cotton', 'Marble', 'Paper', 'Bamboo', 'Leather']
const things = ['Lamp', 'Table', 'Kettle', 'Shelf', 'Clock', 'Basket', 'Mirror', 'Bench', 'Bowl']
const words =
  'sturdy light made to last for daily use with a soft finish in several sizes from one family workshop near the coast'.split(
    ' ',
  )

/** Prices go round after so many products: each of 0.00 to 999.99 once in that many. */
export const priceCount = 100_000

export function createProduct(n: number): Product {
  const description = Array.from({ length: 13 }, (_, k) => pick(words, mix(n, 10 + k)))
  return {
    id: idOf(n),
    name: `${pick(materials, mix(n, 1))} ${pick(things, mix(n, 2))} ${n}`,
    category: pick(categories, mix(n, 3)),
    price: ((n * 104_729) % priceCount) / 100,
    description: description.join(' '),
    stock: mix(n, 4) % 500,
    active: mix(n, 5) % 2 === 0,
  }
}

export function idOf(n: number): string {
  return `prod-${String(n).padStart(6, '0')}`
}

export function createProducts(count: number): Product[] {
  return parsed(Array.from({ length: count }, (_, n) => createProduct(n)))
}

/** Products `from` up to, not including, `to`. */
export function createBatch(from: number, to: number): Product[] {
  return parsed(Array.from({ length: to - from }, (_, k) => createProduct(from + k)))
}

export function inBatches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / batchSize) }, (_, n) =>
    all.slice(n * batchSize, (n + 1) * batchSize),
  )
}

export function importOf(values: readonly Product[], name: string | number) {
  return {
    metadata: { id: `batch-${name}`, user: 'bench', collection },
    schema_name: schema.name,
    values: values as readonly (Product & Record<string, string | number | boolean>)[],
  }
}

/** Whether it holds all fields of the product that its id names, whatever else it has. */
export function checkProduct(found: unknown, id: unknown): void {
  check(typeof id === 'string' && typeof found === 'object' && found !== null, 'that there is one')
  const product = createProduct(Number(String(id).slice('prod-'.length)))
  for (const [name, value] of Object.entries(product)) {
    const same = isDeepStrictEqual((found as Record<string, unknown>)[name], value)
    check(same, `${name} of ${String(id)}`)
  }
}

/** As they come out of a request: strings that are flat, objects of one shape. */
function parsed(products: readonly Product[]): Product[] {
  return products.map((product) => JSON.parse(JSON.stringify(product)) as Product)
}

function pick<T>(values: readonly T[], bits: number): T {
  return values[bits % values.length] as T
}

/** 32 bits that look random, of a number and a purpose. */
function mix(n: number, purpose: number): number {
  let z = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(purpose, 0x85ebca6b)
  z = Math.imul(z ^ (z >>> 16), 0x7feb352d)
  z = Math.imul(z ^ (z >>> 15), 0x846ca68b)
  return (z ^ (z >>> 16)) >>> 0
}
