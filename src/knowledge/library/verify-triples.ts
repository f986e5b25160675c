// Whether parts say the triples that a core says. They are compared by the hashes of their terms, of which damageOf()
// finds whether they are those of the terms: the terms of a triple lie far from each other, and to read those of
// 400,000 triples through a cache of 16 MiB took 48.6 GB of a store of 185 MB.

import { choose } from '../../graph/index/chosen.js'
import type { Part } from '../../graph/index/part.js'
import { PartView } from '../../graph/index/part-view.js'
import { withBlocks } from '../../graph/miss.js'
import type { PartOfVersion } from '../../graph/version.js'
import { ANY } from '../../graph/view.js'
import { Numbers, placeOf } from '../../verify/numbers.js'

/** Of the parts that were looked at last: 128 MiB. */
const mostHashes = 32 * 1024 * 1024

/** Terms, and rows, that are looked at before others get their turn. */
const atOnce = 4096

/** By term: the hashes of parts, each read from its beginning to its end. */
export class TermHashes {
  readonly #held = new Map<Part, Uint32Array>()
  #count = 0

  async of(part: Part): Promise<Uint32Array> {
    const held = this.#held.get(part) ?? (await hashesOf(part))
    if (!this.#held.delete(part)) this.#count += held.length
    for (const [other, { length }] of this.#held) {
      if (this.#count <= mostHashes) break
      this.#held.delete(other)
      this.#count -= length
    }
    // The one that was used last is behind all others.
    this.#held.set(part, held)
    return held
  }
}

/** Whether two lists of parts say the same triples in a collection, whichever part says one, and how often. */
export async function areSameTriples(
  a: readonly PartOfVersion[],
  b: readonly PartOfVersion[],
  collection: string,
  hashes: TermHashes,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const numbers = new Numbers()
  for (const part of a) {
    const ofPart = await hashesOf(part.part)
    for await (const digests of rowsOf(part, collection, ofPart, signal)) {
      for (const digest of digests) numbers.add(digest)
    }
  }
  const digests = numbers.sorted()
  const isFound = new Uint8Array(digests.length)
  for (const part of b) {
    const ofPart = await hashes.of(part.part)
    for await (const found of rowsOf(part, collection, ofPart, signal)) {
      for (const digest of found) {
        const place = placeOf(digest, digests)
        if (digests[place] !== digest) return false
        isFound[place] = 1
      }
    }
  }
  // Of equal ones the first is found.
  return isFound.every((is, n) => is === 1 || digests[n] === digests[n - 1])
}

async function hashesOf(part: Part): Promise<Uint32Array> {
  const terms = part.termsInOrder()
  const hashes = new Uint32Array(terms.count)
  for (let id = 0; id < hashes.length;) {
    const to = Math.min(hashes.length, id + atOnce)
    await withBlocks(() => {
      for (; id < to; id++) hashes[id] = terms.hashOf(id)
    })
  }
  return hashes
}

/** A number for each row, of as many as are looked at at once. */
async function* rowsOf(
  { part, ...choice }: PartOfVersion,
  collection: string,
  hashes: Uint32Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly number[]> {
  const chosen = await choose(part, { ...choice, collection })
  if (chosen === undefined) return
  const view = new PartView(part, chosen)
  const rows = await withBlocks(() => view.rows(ANY, ANY, ANY, ANY))
  // The default graph has no name.
  const hashOf = (id: number) => (id < 0 ? 0 : (hashes[id] as number))
  for (;;) {
    signal?.throwIfAborted()
    const digests: number[] = []
    while (digests.length < atOnce && (await withBlocks(() => rows.next()))) {
      const { s, p, o, g } = rows
      digests.push(digestOf(hashOf(s), hashOf(p), hashOf(o), hashOf(g)))
    }
    if (digests.length === 0) return
    yield digests
  }
}

/** A whole number of 53 bits. */
function digestOf(s: number, p: number, o: number, g: number): number {
  const low = mixed(mixed(mixed(mixed(1, s), p), o), g)
  const high = mixed(mixed(mixed(mixed(2, g), o), p), s)
  return low + (high >>> 11) * 2 ** 32
}

function mixed(digest: number, hash: number): number {
  let value = Math.imul(digest ^ hash, 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
