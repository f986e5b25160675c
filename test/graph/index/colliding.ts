import type { Term } from '../../../src/types.js'
import type { Random } from '../../fixtures/random.js'

/**
 * Terms of one hash, found by running it backwards: each of its steps can be undone, so of a text of
 * eight bytes the first four may be anything, and the last four are what makes up for them.
 */
export function collidingTerms(random: Random, count: number): Term[] {
  const header = 8 * 4
  const start = step(0x9e3779b1 | 0, header)
  const texts = new Set<string>()
  const target = step(start, 0x61626364) ^ 0x65666768
  const bytes = Buffer.alloc(8)
  while (texts.size < count) {
    const first = random.below(2 ** 31)
    const last = step(start, first) ^ target
    bytes.writeInt32LE(first, 0)
    bytes.writeInt32LE(last, 4)
    // Of one byte each: then it is UTF-8.
    if (bytes.every((byte) => byte < 0x80)) texts.add(bytes.toString('latin1'))
  }
  return Array.from(texts, (v) => ({ v, e: false }))
}

function step(hash: number, word: number): number {
  const next = Math.imul(hash ^ word, 0x85ebca6b)
  return next ^ (next >>> 15)
}
