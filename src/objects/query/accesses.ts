// The rows that an access of a plan gives.

import { refsAmong, refsIn } from '../engine/index-scan.js'
import type { Memory } from '../engine/memory.js'
import type { Access } from './planner.js'
import type { Meter } from './rows.js'

/** The rows that an access gives, growing, each once. */
export async function refsOf(access: Access, memory: Memory, meter: Meter): Promise<Float64Array> {
  if (access.type === 'index') {
    const { index, spans } = access
    const refs = await refsIn(index, spans, memory.entries, () => meter.breathe())
    meter.keysRead += refs.length
    return refs
  }
  const [first, ...others] = access.parts
  // Any of nothing.
  if (first === undefined) return new Float64Array(0)
  let refs = await refsOf(first, memory, meter)
  for (const part of others) {
    if (access.type === 'union') refs = united(refs, await refsOf(part, memory, meter))
    else refs = await refsWithin(refs, part, memory, meter)
  }
  return refs
}

/** Those of some rows that an access gives. Both grow. */
export async function refsWithin(
  some: Float64Array,
  access: Access,
  memory: Memory,
  meter: Meter,
): Promise<Float64Array> {
  if (some.length === 0) return some
  if (access.type === 'union') return crossed(some, await refsOf(access, memory, meter))
  if (access.type === 'index') {
    meter.keysRead += access.keys
    const { index, spans } = access
    return refsAmong(some, index, spans, memory.entries, () => meter.breathe())
  }
  let refs = some
  for (const part of access.parts) refs = await refsWithin(refs, part, memory, meter)
  return refs
}

function united(a: Float64Array, b: Float64Array): Float64Array {
  const refs = new Float64Array(a.length + b.length)
  let count = 0
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const x = a[i] ?? Infinity
    const y = b[j] ?? Infinity
    refs[count++] = Math.min(x, y)
    if (x <= y) i++
    if (y <= x) j++
  }
  return refs.subarray(0, count)
}

// From there on each of the few is looked for by halves.
const fewer = 16

/** What is in both, growing. */
export function crossed(a: Float64Array, b: Float64Array): Float64Array {
  if (a.length > b.length) return crossed(b, a)
  const refs = new Float64Array(a.length)
  let count = 0
  if (a.length * fewer < b.length) {
    for (let i = 0, from = 0; i < a.length; i++) {
      const x = a[i] as number
      for (let to = b.length; from < to;) {
        const middle = (from + to) >>> 1
        if ((b[middle] as number) < x) from = middle + 1
        else to = middle
      }
      if (b[from] === x) refs[count++] = x
    }
    return refs.subarray(0, count)
  }
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [x, y] = [a[i] as number, b[j] as number]
    if (x === y) refs[count++] = x
    if (x <= y) i++
    if (y <= x) j++
  }
  return refs.subarray(0, count)
}
