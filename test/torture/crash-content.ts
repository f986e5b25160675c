// What the process that is killed imports, and what its parent expects to find.

import { createHash } from 'node:crypto'
import { encodeMessage } from '../../src/codec/encoder.js'
import { slicedMessage, triplesMessage } from '../fixtures/stores.js'
import type { CoreMessage } from '../../src/types.js'

export const user = 'alice'
export const cores = ['one', 'two', 'three', 'four'] as const

export type Step =
  | {
      readonly type: 'append' | 'replace' | 'bad'
      readonly core: string
      readonly name: string
      readonly size: number
    }
  | { readonly type: 'delete'; readonly core: string; readonly name: string; readonly size: 0 }

/**
 * How many triples an import has. What repeats lies inline up to a MiB; every third deflates little, and
 * lies in slices soon.
 */
export function triplesOf({ size }: Pick<Step, 'size'>): number {
  return size % 3 === 0 ? 1 : 300
}

/** The stream of an import, made of its name and size alone. */
export function* contentOf({ core, name, size }: Step): Generator<Uint8Array> {
  const triples = triplesOf({ size })
  const made = triples === 1 ? slicedMessage(name, 25_000) : triplesMessage(name, triples)
  const [type, data] = made as Extract<CoreMessage, readonly ['t', unknown]>
  const message = encodeMessage([type, { ...data, m: { ...data.m, i: core, u: user } }])
  for (let left = size; left > 0; left--) yield message
}

/** The digest that a core has after these imports, in their order. */
export function digestOf(steps: readonly Step[]): string {
  const sha256 = () => createHash('sha256')
  return steps.reduce((digest, step, index) => {
    const hash = sha256()
    for (const chunk of contentOf(step)) hash.update(chunk)
    const own = hash.digest('hex')
    return index === 0
      ? own
      : sha256()
          .update(Buffer.from(digest + own, 'hex'))
          .digest('hex')
  }, sha256().digest('hex'))
}
