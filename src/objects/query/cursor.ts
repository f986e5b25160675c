// Where a page ended: the order, what the last object has there, and its reference.

import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { parseJson } from '../../json-text.js'
import type { SortKey } from '../filter/sort-values.js'
import type { JsonValue } from '../../types.js'

export interface Cursor {
  readonly order: readonly SortKey[]
  readonly values: readonly JsonValue[]
  readonly ref: number
}

/** `secret` is that of the store: the reference counts everybody's objects, and is nobody's to read. */
export function encodeCursor({ order, values, ref }: Cursor, secret: string): string {
  const keys = order.map(({ path, direction }) => [path.join('.'), direction])
  return Buffer.from(JSON.stringify([keys, values, sealed(ref, secret)])).toString('base64url')
}

/** `undefined` where it is none. */
export function decodeCursor(text: string, secret: string): Cursor | undefined {
  let parts: unknown
  try {
    parts = parseJson(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined
  const [keys, values, seal] = parts as unknown[]
  if (!Array.isArray(keys) || !Array.isArray(values) || keys.length !== values.length) {
    return undefined
  }
  const ref = typeof seal === 'string' ? opened(seal, secret) : undefined
  if (ref === undefined) return undefined
  const order: SortKey[] = []
  for (const key of keys as unknown[]) {
    if (!Array.isArray(key)) return undefined
    const [path, direction] = key as unknown[]
    if (typeof path !== 'string' || (direction !== 'asc' && direction !== 'desc')) return undefined
    order.push({ path: path.split('.'), direction })
  }
  return { order, values: values as JsonValue[], ref }
}

/** One block of AES: the reference and eight bytes of nothing, by which one is known that is ours. */
function sealed(ref: number, secret: string): string {
  const block = Buffer.alloc(blockBytes)
  block.writeBigUInt64BE(BigInt(ref))
  return createCipheriv(cipher, keyOf(secret), null)
    .setAutoPadding(false)
    .update(block)
    .toString('base64url')
}

function opened(seal: string, secret: string): number | undefined {
  const bytes = Buffer.from(seal, 'base64url')
  if (bytes.length !== blockBytes) return undefined
  const block = createDecipheriv(cipher, keyOf(secret), null).setAutoPadding(false).update(bytes)
  const ref = Number(block.readBigUInt64BE())
  return block.readBigUInt64BE(8) === 0n && Number.isSafeInteger(ref) ? ref : undefined
}

const cipher = 'aes-128-ecb'
const blockBytes = 16

let known = { secret: '', key: Buffer.alloc(0) }

/** A process has one store, mostly. */
function keyOf(secret: string): Buffer {
  if (known.secret !== secret) {
    const digest = createHash('sha256').update(`cursor ${secret}`).digest()
    known = { secret, key: digest.subarray(0, blockBytes) }
  }
  return known.key
}
