// Bytes for tests, and comparisons that do not care whether an adapter returns Buffers.

import assert from 'node:assert/strict'
import type { Entry, Range, Storage } from '../../src/storage.js'

export const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

export const text = (string: string): Uint8Array => new TextEncoder().encode(string)

/** A fixed-width key, so that byte order is number order. */
export function numbered(number: number): Uint8Array {
  const key = new Uint8Array(4)
  new DataView(key.buffer).setUint32(0, number)
  return key
}

export const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex')

export function assertBytes(
  actual: Uint8Array | undefined,
  expected: Uint8Array | undefined,
): void {
  assert(actual === undefined || actual instanceof Uint8Array, 'bytes are a Uint8Array')
  assert.equal(actual && hex(actual), expected && hex(expected))
}

export async function collect(scan: AsyncIterable<readonly Entry[]>): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const page of scan) {
    assert(page.length > 0, 'a page is never empty')
    entries.push(...page)
  }
  return entries
}

export async function keysOf(storage: Storage, range: Range = {}): Promise<string[]> {
  return (await collect(storage.scan(range))).map(({ key }) => hex(key))
}

export async function put(storage: Storage, key: Uint8Array, value: Uint8Array): Promise<void> {
  await storage.write([{ type: 'put', key, value }])
}

/** Writes `0000…` upwards, each value the key's own bytes. */
export async function fill(storage: Storage, count: number): Promise<void> {
  await storage.write(
    Array.from({ length: count }, (_, index) => {
      const key = numbered(index)
      return { type: 'put', key, value: key } as const
    }),
  )
}
