// What parts say of passages, to be compared: a number for each, of all that is known of it.

import { hash } from 'node:crypto'
import type { Part } from '../../graph/index/part.js'
import { withBlocks } from '../../graph/miss.js'
import { columnOf, passageColumns } from '../../graph/words/columns.js'
import { keyOf } from '../../terms.js'

/** How many passages there are, and a sum of their digests: in any order the same. */
interface PassageSum {
  count: number
  sum: bigint
}

/** By generation and collection. */
export type PassageDigests = Map<string, PassageSum>

/** Passages, and words, that are looked at before others get their turn. */
const atOnce = 1000

/** Reads all passages of a part, and the lists of its words, once. */
export async function addPassages(part: Part, digests: PassageDigests): Promise<void> {
  const { passages, record } = part
  if (passages === undefined) return
  const words = await sumsOfWords(part)
  const ofPlaces: PassageSum[] = []
  for (let place = 0; place < record.places; place++) {
    const key = await withBlocks(() => {
      const collection = part.terms.term(part.collectionOf(place)).v
      return keyOfPassages(part.generationOf(part.sourceOf(place)), collection)
    })
    const known = digests.get(key) ?? { count: 0, sum: 0n }
    digests.set(key, known)
    ofPlaces.push(known)
  }
  await inSteps(passages.count, (n) => {
    const cells = passageColumns.map((name): number | string => {
      const value = passages.at(columnOf[name], n)
      if (name === 'place') return 0
      if (name === 'passage') return keyOf(part.terms.term(value))
      const isTerm = name === 'document' || name === 'title' || name === 'heading'
      return isTerm && value > 0 ? keyOf(part.terms.term(value - 1)) : value
    })
    const text = JSON.stringify([cells, words[n]])
    const sum = ofPlaces[passages.at(columnOf.place, n)]
    if (sum === undefined) return
    sum.count++
    sum.sum += hash('sha1', text, 'buffer').readBigUInt64LE()
  })
}

/** What differs between a core's passages and those of its segments; `undefined` where nothing does. */
export function collectionThatDiffers(
  generation: string,
  collections: Iterable<string>,
  expected: PassageDigests,
  stored: PassageDigests,
): string | undefined {
  for (const collection of collections) {
    const key = keyOfPassages(generation, collection)
    const [a, b] = [expected.get(key) ?? none, stored.get(key) ?? none]
    if (a.count !== b.count || a.sum !== b.sum) return collection
  }
  return undefined
}

const none: PassageSum = { count: 0, sum: 0n }

function keyOfPassages(generation: string, collection: string): string {
  return `${generation} ${collection}`
}

/** By passage: a sum over its words and where they stand. */
async function sumsOfWords({ passages }: Part): Promise<Uint32Array> {
  const sums = new Uint32Array(passages?.count ?? 0)
  await inSteps(passages?.record.words ?? 0, (word) => {
    const ofWord = hashOf(passages?.word(word) ?? '')
    const list = passages?.list(word)
    // From here on no block is missing.
    while (list?.next() === true) {
      let digest = mix(mix(mix(ofWord, list.title), list.heading), list.text)
      list.positions()
      for (let left = list.title + list.heading + list.text; left > 0; left--) {
        digest = mix(digest, list.gap())
      }
      sums[list.passage] = (sums[list.passage] as number) + digest
    }
  })
  return sums
}

function hashOf(text: string): number {
  return hash('sha1', text, 'buffer').readUInt32LE()
}

function mix(digest: number, number: number): number {
  const mixed = Math.imul(digest ^ number, 0x85ebca6b)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

/** Calls `work`, which may throw a Miss before it has done anything, with all numbers below `count`. */
async function inSteps(count: number, work: (n: number) => void): Promise<void> {
  for (let n = 0; n < count;) {
    const to = Math.min(count, n + atOnce)
    await withBlocks(() => {
      for (; n < to; n++) work(n)
    })
  }
}
