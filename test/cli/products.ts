// Objects to try the command with.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { run, succeed } from './command.js'

export const productSchema = {
  name: 'product',
  fields: {
    id: { type: 'string', required: true },
    name: { type: 'string' },
    price: { type: 'number', required: true },
    tags: { type: 'array', items: { type: 'string' } },
  },
  indexes: ['price'],
}

export interface Product {
  readonly id: string
  readonly name: string
  readonly price: number
}

export function product(n: number): Product {
  return { id: `p${n}`, name: `Product ${n}`, price: n % 1000 }
}

export function products(count: number): Product[] {
  return Array.from({ length: count }, (_, n) => product(n))
}

export function ndjson(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}

/** A directory with an empty store in `data` that has the schema. */
export async function shop(t: Test): Promise<{ readonly dir: string; readonly data: string }> {
  const dir = t.testdir({ 'product.json': JSON.stringify(productSchema) })
  const data = join(dir, 'data')
  await succeed(t, ['schema', 'define', join(dir, 'product.json'), '--data', data])
  return { dir, data }
}

/** The same, with so many products in the collection `shop`. */
export async function stockedShop(t: Test, count: number) {
  const { dir, data } = await shop(t)
  const file = join(dir, 'products.ndjson')
  writeFileSync(file, ndjson(products(count)))
  await succeed(t, ['objects', 'import', file, ...toShop, '--data', data])
  return { dir, data }
}

export const toShop = ['--schema', 'product', '--collection', 'shop']

/** Everything of the schema, as it is stored. */
export async function stored(
  t: Test,
  where: readonly string[],
): Promise<Record<string, unknown>[]> {
  const args = ['objects', 'query', '--schema', 'product', '--all', '--ndjson', ...where]
  const lines = String(await succeed(t, args)).split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

export const importing = ['objects', 'import']

/** `objects import` with --json, whatever it ends with. */
export async function summarized(t: Test, args: readonly string[], input?: string) {
  const bytes = input === undefined ? {} : { input: Buffer.from(input) }
  const { code, stdout, stderr } = await run(t, [...importing, ...args, '--json'], bytes)
  const text = String(stdout)
  const summary = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>)
  // A failure is JSON as well; the tests are about its words.
  const failure = /^\{.*\}\n$/.test(stderr)
    ? (JSON.parse(stderr) as { error: { message: string } }).error
    : undefined
  return { code, stderr: failure ? `lorekeep: ${failure.message}\n` : stderr, summary }
}

export async function idsIn(t: Test, where: readonly string[]): Promise<unknown[]> {
  return (await stored(t, where)).map(({ _id }) => _id).sort()
}

/** What is said of the refused objects. */
export function reportIn(
  file: string,
): { index: number; id: unknown; errors: { path: string }[] }[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}
