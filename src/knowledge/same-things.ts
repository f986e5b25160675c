// The core of a user that has what was merged and what was split.

import { LorekeepError } from '../errors.js'
import type { Pair, Plan } from '../graph/same/plan.js'
import type { GraphQuery } from '../graph/types.js'
import { OneByOne } from '../one-by-one.js'
import { keyOfTriple } from '../terms.js'
import type { CoreMessage, Triple } from '../types.js'
import { sameThingsCore } from '../vocabulary.js'
import { CoreChanged, emptyDigest } from './core-import.js'
import type { CoreRef, CoreStat } from './types.js'

interface SameThingsParts {
  readonly stat: (ref: CoreRef) => Promise<CoreStat | undefined>
  readonly messages: (
    ref: CoreRef,
    options: { readonly signal?: AbortSignal },
  ) => AsyncIterable<CoreMessage>
  /** Replaces a core that still has this digest. @throws CoreChanged */
  readonly replace: (
    ref: CoreRef,
    messages: Iterable<CoreMessage>,
    expected: string,
    asked: Asked,
  ) => Promise<unknown>
}

interface Asked {
  /** Who was asked for it, where others share the storage. */
  readonly member: string | undefined
  readonly signal: AbortSignal | undefined
}

interface Said {
  readonly triple: Triple
  readonly collection: string
  readonly message: Message
}

/** Where a triple is written: with others of its collection, or in the message that had metadata, which stays one. */
interface Message {
  readonly name: string
  readonly metadata: readonly Triple[]
}

/** What the core has: what is decided is written anew, and all else stays as it was imported. */
interface Content {
  readonly said: readonly Said[]
  readonly others: readonly CoreMessage[]
  readonly digest: string
}

const usualCollection = 'default'

/** So many triples of one message. */
const mostOfMessage = 500

/** Of the core, which is read whole: a million decisions have some 100 MB. */
const mostBytes = 256 * 1024 ** 2

export class SameThings {
  readonly #parts: SameThingsParts
  readonly #lanes = new OneByOne()

  constructor(parts: SameThingsParts) {
    this.#parts = parts
  }

  /** Makes a plan of the newest version, and carries it out, before any other of the user. */
  async decide(
    { user, collection }: GraphQuery,
    planned: () => Promise<Plan | undefined>,
    asked: Asked,
  ): Promise<void> {
    const { signal } = asked
    const ref = { user, id: sameThingsCore }
    await this.#lanes.run(user, async () => {
      for (;;) {
        signal?.throwIfAborted()
        const { said, others, digest } = await this.#read(ref, signal)
        const plan = await planned()
        if (plan === undefined) return
        const next = changed(said, plan, collection)
        try {
          await this.#parts.replace(ref, messagesOf(ref, next, others), digest, asked)
          return
        } catch (error) {
          // Another process was faster: what it says counts in the plan.
          if (!(error instanceof CoreChanged)) throw error
        }
      }
    })
  }

  /** @throws LorekeepError `LK_GRAPH_QUERY` where it is too large */
  async #read(ref: CoreRef, signal: AbortSignal | undefined): Promise<Content> {
    const core = await this.#parts.stat(ref)
    const said: Said[] = []
    const others: CoreMessage[] = []
    let described = 0
    if (core === undefined) return { said, others, digest: emptyDigest }
    if (core.bytes > mostBytes) {
      const message = `the core '${ref.id}' has ${core.bytes} bytes; there may be ${mostBytes}, as it is read whole: what is no merge or split belongs into another`
      throw new LorekeepError('LK_GRAPH_QUERY', message)
    }
    for await (const message of this.#parts.messages(ref, signal === undefined ? {} : { signal })) {
      if (message[0] !== 't' || message[1].t.length === 0) {
        others.push(message)
        continue
      }
      const [, { m, t }] = message
      const own =
        m.m.length === 0
          ? plain(m.c)
          : { name: `${JSON.stringify(m.c)} ${described++}`, metadata: m.m }
      for (const triple of t) said.push({ triple, collection: m.c, message: own })
    }
    return { said, others, digest: core.digest }
  }
}

const plain = (collection: string): Message => ({ name: JSON.stringify(collection), metadata: [] })

function changed(
  said: readonly Said[],
  { add, remove, checkKept }: Plan,
  collection: string | undefined,
): Said[] {
  const key = ([a, b]: Pair) => (a < b ? `${a} ${b}` : `${b} ${a}`)
  const pairs = new Map(remove.pairs.map((pair) => [key(pair), pair]))
  const removed = new Set<string>()
  const kept = said.filter(({ triple: { s, p, o }, collection: c }) => {
    const pair = key([s.v, o.v])
    const isRemoved =
      p.v === remove.predicate && pairs.has(pair) && (collection === undefined || c === collection)
    if (isRemoved) removed.add(pair)
    return !isRemoved
  })
  checkKept([...pairs].filter(([pair]) => !removed.has(pair)).map(([, pair]) => pair))
  const added = add.map((triple) => {
    const c = collection ?? usualCollection
    return { triple, collection: c, message: plain(c) }
  })
  return [...kept, ...added]
}

/** In an order that does not depend on what came first, so that the same is the same bytes. */
function* messagesOf(
  { user, id }: CoreRef,
  said: readonly Said[],
  others: readonly CoreMessage[],
): Generator<CoreMessage> {
  const byMessage = new Map<string, { c: string; m: readonly Triple[]; t: Map<string, Triple> }>()
  for (const { triple, collection: c, message } of said) {
    const { name, metadata: m } = message
    const written = byMessage.get(name) ?? { c, m, t: new Map<string, Triple>() }
    byMessage.set(name, written)
    written.t.set(keyOfTriple(triple), triple)
  }
  for (const [, { c, m, t: triples }] of [...byMessage].sort(byName)) {
    const t = [...triples].sort(byName).map(([, triple]) => triple)
    const most = m.length === 0 ? mostOfMessage : t.length
    for (let n = 0; n < t.length; n += most) {
      yield ['t', { m: { i: id, u: user, m, c }, t: t.slice(n, n + most) }]
    }
  }
  yield* others
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
