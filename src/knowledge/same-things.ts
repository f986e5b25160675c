// The core of a user that has what was merged and what was split.

import { hasCode, LorekeepError } from '../errors.js'
import type { Pair, Plan } from '../graph/same/plan.js'
import type { GraphQuery } from '../graph/types.js'
import { OneByOne } from '../one-by-one.js'
import { keyOfTriple } from '../terms.js'
import { Turns } from '../turns.js'
import type { CoreMessage, Term, Triple } from '../types.js'
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
    messages: AsyncIterable<CoreMessage>,
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

/** Of the core, which is read whole: a million decisions have some 100 MB. In tests less. */
export const mostRead = { bytes: 256 * 1024 ** 2, items: 1_000_000 }

/** So many keys are sorted at once. */
const sortedAtOnce = 4096

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
        const content = await this.#read(ref, signal)
        // Deleted meanwhile.
        if (content === undefined) continue
        const { said, others, digest } = content
        const plan = await planned()
        if (plan === undefined) return
        const turns = new Turns(signal)
        const next = await changed(said, plan, collection, turns)
        try {
          await this.#parts.replace(ref, messagesOf(ref, next, others, turns), digest, asked)
          return
        } catch (error) {
          // Another process was faster: what it says counts in the plan.
          if (!(error instanceof CoreChanged)) throw error
        }
      }
    })
  }

  /** @throws LorekeepError `LK_GRAPH_QUERY` where it is too large */
  async #read(ref: CoreRef, signal: AbortSignal | undefined): Promise<Content | undefined> {
    const core = await this.#parts.stat(ref)
    const said: Said[] = []
    const others: CoreMessage[] = []
    let described = 0
    if (core === undefined) return { said, others, digest: emptyDigest }
    const items = core.triples + core.entities + core.vectors
    if (core.bytes > mostRead.bytes || items > mostRead.items) {
      const has = `${core.bytes} bytes and ${items} triples, entities and vectors`
      const most = `${mostRead.bytes} and ${mostRead.items}`
      const message = `the core '${ref.id}' has ${has}; there may be ${most}, as it is read whole: what is no merge or split belongs into another`
      throw new LorekeepError('LK_GRAPH_QUERY', message)
    }
    const turns = new Turns(signal)
    try {
      for await (const message of this.#parts.messages(ref, signal ? { signal } : {})) {
        if (turns.isLong) await turns.pass()
        const [, { m }] = message
        if (message[0] === 'ge') {
          const { e } = message[1]
          others.push(['ge', { m: ownMetadata(m), e: e.map(({ e, v }) => ({ e: ownTerm(e), v })) }])
          continue
        }
        const { t } = message[1]
        if (t.length === 0) {
          others.push(['t', { m: ownMetadata(m), t: [] }])
          continue
        }
        const own =
          m.m.length === 0
            ? plain(m.c)
            : { name: `${JSON.stringify(m.c)} ${described++}`, metadata: m.m.map(ownTriple) }
        for (const triple of t) {
          said.push({ triple: ownTriple(triple), collection: m.c, message: own })
          if (turns.isLong) await turns.pass()
        }
      }
    } catch (error) {
      if (hasCode(error, 'LK_CORE_NOT_FOUND')) return undefined
      throw error
    }
    return { said, others, digest: core.digest }
  }
}

// Without the fields of other makers, which are read and not written.

function ownMetadata({ i, m, u, c }: CoreMessage[1]['m']): CoreMessage[1]['m'] {
  return { i, m: m.map(ownTriple), u, c }
}

function ownTriple({ s, p, o, g }: Triple): Triple {
  return { s: ownTerm(s), p: ownTerm(p), o: ownTerm(o), ...(g !== undefined && { g }) }
}

function ownTerm({ v, e, dt, ln }: Term): Term {
  return { v, e, ...(dt !== undefined && { dt }), ...(ln !== undefined && { ln }) }
}

const plain = (collection: string): Message => ({ name: JSON.stringify(collection), metadata: [] })

async function changed(
  said: readonly Said[],
  { add, remove, checkKept }: Plan,
  collection: string | undefined,
  turns: Turns,
): Promise<Said[]> {
  const key = ([a, b]: Pair) => (a < b ? `${a} ${b}` : `${b} ${a}`)
  const pairs = new Map(remove.pairs.map((pair) => [key(pair), pair]))
  const removed = new Set<string>()
  const next: Said[] = []
  for (const each of said) {
    if (turns.isLong) await turns.pass()
    const { triple, collection: c } = each
    const pair = key([triple.s.v, triple.o.v])
    const isRemoved =
      triple.p.v === remove.predicate &&
      pairs.has(pair) &&
      (collection === undefined || c === collection)
    if (isRemoved) removed.add(pair)
    else next.push(each)
  }
  checkKept([...pairs].filter(([pair]) => !removed.has(pair)).map(([, pair]) => pair))
  const c = collection ?? usualCollection
  for (const triple of add) next.push({ triple, collection: c, message: plain(c) })
  return next
}

/** In an order that does not depend on what came first, so that the same is the same bytes. */
async function* messagesOf(
  { user, id }: CoreRef,
  said: readonly Said[],
  others: readonly CoreMessage[],
  turns: Turns,
): AsyncGenerator<CoreMessage, void, undefined> {
  const byMessage = new Map<string, { c: string; m: readonly Triple[]; t: Map<string, Triple> }>()
  for (const { triple, collection: c, message } of said) {
    if (turns.isLong) await turns.pass()
    const { name, metadata: m } = message
    const written = byMessage.get(name) ?? { c, m, t: new Map<string, Triple>() }
    byMessage.set(name, written)
    written.t.set(keyOfTriple(triple), triple)
  }
  for (const [, { c, m, t: triples }] of [...byMessage].sort(byName)) {
    const t = await sorted(triples, turns)
    const most = m.length === 0 ? mostOfMessage : t.length
    for (let n = 0; n < t.length; n += most) {
      yield ['t', { m: { i: id, u: user, m, c }, t: t.slice(n, n + most) }]
    }
  }
  yield* others
}

async function sorted(
  triples: ReadonlyMap<string, Triple>,
  turns: Turns,
): Promise<readonly Triple[]> {
  let runs: (readonly [string, Triple])[][] = []
  const all = [...triples]
  for (let n = 0; n < all.length; n += sortedAtOnce) {
    runs.push(all.slice(n, n + sortedAtOnce).sort(byName))
    if (turns.isLong) await turns.pass()
  }
  while (runs.length > 1) {
    const merged: typeof runs = []
    for (let n = 0; n < runs.length; n += 2) {
      merged.push(await mergedOf(runs[n] ?? [], runs[n + 1] ?? [], turns))
    }
    runs = merged
  }
  return (runs[0] ?? []).map(([, triple]) => triple)
}

async function mergedOf<T extends readonly [string, unknown]>(
  some: readonly T[],
  others: readonly T[],
  turns: Turns,
): Promise<T[]> {
  const merged: T[] = []
  let [n, o] = [0, 0]
  while (n < some.length && o < others.length) {
    const isFirst = byName(some[n] as T, others[o] as T) < 0
    merged.push((isFirst ? some[n++] : others[o++]) as T)
    if (turns.isLong) await turns.pass()
  }
  for (; n < some.length; n++) merged.push(some[n] as T)
  for (; o < others.length; o++) merged.push(others[o] as T)
  return merged
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
