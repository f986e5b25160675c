// What a user has said not to be one thing: no flow makes it one again.

import { sameThingsCore, vocabulary } from '../../vocabulary.js'
import type { StepContext } from '../types.js'

/** By digest, which says what is in a core, whatever store it is of. */
const known = new Map<string, ReadonlySet<string>>()
const mostKnown = 100

type IsApart = (a: string, b: string) => boolean

export async function saidApart({ document, knowledge, signal }: StepContext): Promise<IsApart> {
  const { user } = document
  const ref = { user, id: sameThingsCore }
  const core = await knowledge.stat(ref)
  if (core === undefined) return () => false
  const pairs = known.get(core.digest) ?? (await read())
  return (a, b) => pairs.has(keyOf(a, b))

  async function read(): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    for await (const message of knowledge.messages(ref, { signal })) {
      if (message[0] !== 't') continue
      for (const { s, p, o } of message[1].t) {
        if (p.v === vocabulary.differentFrom) found.add(keyOf(s.v, o.v))
      }
    }
    // It may have changed before it was read.
    const after = await knowledge.stat(ref)
    if (core === undefined || after?.digest !== core.digest) return found
    if (known.size >= mostKnown) known.clear()
    known.set(core.digest, found)
    return found
  }
}

function keyOf(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}
