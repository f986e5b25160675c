// Our store with the products in it.

import { LevelBackend } from '../adapters/level/index.js'
import { createLorekeep, type Lorekeep } from '../src/index.js'
import { check, inDirectory } from './measure.js'
import { checkProduct, importOf, inBatches, schema, type Product } from './objects-data.js'

export function openOurs(directory: string): Promise<Lorekeep> {
  return createLorekeep({ backend: new LevelBackend(directory) })
}

/** A new store with the schema defined, closed and deleted afterwards. */
export function withOurs<T>(work: (keep: Lorekeep) => Promise<T>): Promise<T> {
  return inDirectory(async (directory) => {
    await using keep = await openOurs(directory)
    await keep.objects.defineSchema(schema)
    return await work(keep)
  })
}

export async function fillOurs(directory: string, products: readonly Product[]): Promise<void> {
  await using keep = await openOurs(directory)
  await keep.objects.defineSchema(schema)
  for (const [n, values] of inBatches(products).entries()) {
    await keep.objects.import(importOf(values, n))
  }
  await checkOurs(keep, products.length)
}

/** Reads everything back: every product once, with its fields. */
export async function checkOurs(keep: Lorekeep, count: number): Promise<void> {
  const { total } = await keep.objects.query({ schema_name: schema.name, limit: 0 })
  check(total === count, `the total: ${total} of ${count}`)
  const ids = new Set<unknown>()
  for await (const object of keep.objects.find({ schema_name: schema.name })) {
    checkProduct(object, object._id)
    ids.add(object._id)
  }
  check(ids.size === count, `the products read back: ${ids.size} of ${count}`)
}
