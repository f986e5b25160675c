// What a message of triples may hold, whoever makes it. Readers hold one message at a time.

import type { Triple } from './types.js'

/** In characters: such a message has a megabyte, more or less. One triple may weigh more. */
export const maxMessageWeight = 512 * 1024

export function weightOf({ s, p, o, g }: Triple): number {
  const annotation = o.dt ?? o.ln
  const texts = s.v.length + p.v.length + o.v.length
  return (
    texts + (annotation === undefined ? 0 : annotation.length) + (g === undefined ? 0 : g.length)
  )
}
