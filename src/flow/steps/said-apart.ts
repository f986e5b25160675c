// What a user has said not to be one thing: no flow makes it one again.

import { sameThingsCore, vocabulary } from '../../vocabulary.js'
import type { StepContext } from '../types.js'

interface Known {
  readonly digest: string
  readonly pairs: ReadonlySet<string>
}

/** The newest that was read, by user: a digest says what it is, whatever store it is of. */
const known = new Map<string, Known>()
const mostUsers = 100

type IsApart = (a: string, b: string) => boolean

export async function saidApart({ document, knowledge, signal }: StepContext): Promise<IsApart> {
  const { user } = document
  const ref = { user, id: sameThingsCore }
  const core = await knowledge.stat(ref)
  if (core === undefined) return () => false
  let read = known.get(user)
  if (read?.digest !== core.digest) {
    const pairs = new Set<string>()
    for await (const message of knowledge.messages(ref, { signal })) {
      if (message[0] !== 't') continue
      for (const { s, p, o } of message[1].t) {
        if (p.v === vocabulary.differentFrom) pairs.add(keyOf(s.v, o.v))
      }
    }
    read = { digest: core.digest, pairs }
    if (known.size >= mostUsers) known.clear()
    known.set(user, read)
  }
  const { pairs } = read
  return (a, b) => pairs.has(keyOf(a, b))
}

function keyOf(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}
